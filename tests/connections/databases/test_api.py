"""The REST API of connections: who reads, who writes, and that no password comes out."""

from __future__ import annotations

import json
import logging
import traceback

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.core import serializers
from django.db import connection
from django_celery_results.models import TaskResult

from connections.databases.connecting import open_connection
from connections.models import Audit, AuditDetail, Database, Role
from connections.secrets import Secret
from fabric_site.celery import app
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_audience, make_member, make_user
from tests.targets import make_database

pytestmark = pytest.mark.django_db
LIST = "/api/v1/connections/databases/"
PASSWORD = "geheim-7c4e1f92"
ADMIN = ("read", "admin")


def body(project="acme/main", **fields):
    return {
        "project": project,
        "name": "sales",
        "engine": "postgres",
        "host": "db.acme.test",
        "port": 5432,
        "database": "sales",
        "user": "reader",
        "password": PASSWORD,
        **fields,
    }


def one(database, verb=""):
    return f"{LIST}{database.pk}/{verb}"


@pytest.fixture
def editor(project):
    return make_member(project, "editor@acme.test", Role.ADMIN)


@pytest.fixture
def client(editor, project):
    return token_client(editor, project, ADMIN)


@pytest.fixture
def database(client):
    answer = client.post(LIST, body())
    assert answer.status_code == 201, answer.content
    return Database.objects.get(pk=answer.json()["id"])


def test_a_connection_is_made_and_its_password_is_not_shown(client, project, editor):
    answer = client.post(LIST, body(title="Sales"))
    shown = answer.json()
    assert answer.status_code == 201
    assert (shown["name"], shown["encryption"], shown["enabled"]) == (
        "sales", "verified", True
    )  # fmt: skip
    assert shown["has_password"] is True
    assert "password" not in shown
    stored = Database.objects.get()
    assert stored.password.reveal() == PASSWORD
    assert (stored.tenant, stored.audience.kind) == (project.tenant, "public")
    assert client.get(one(stored)).json() == shown
    assert client.get(LIST).json()["results"] == [shown]
    audit = Audit.objects.get(verb="database.created")
    assert audit.actor == editor
    assert audit.token_id is not None
    assert "password" in audit.detail.detail["fields"]


class TestWhoSees:
    """A member of its audience, a member outside of it, a stranger."""

    @pytest.fixture
    def closed(self, project, editor, member, postgres_target):
        audience = make_audience(project, "db", [editor, member])
        return make_database(project, postgres_target, audience=audience)

    def test_who_is_in_its_audience_sees_it_without_its_address(
        self, closed, member, project
    ):
        for client in (token_client(member, project), session_client(member)):
            shown = client.get(one(closed)).json()
            assert shown["name"] == "shop"
            assert client.get(LIST).json()["results"] == [shown]
            hidden = ("host", "port", "database", "user", "certificate", "has_password")
            assert {shown[name] for name in hidden} == {None}

    def test_others_do_not_know_that_it_exists(
        self, closed, outsider, stranger, project, other_project
    ):
        for user, of in ((outsider, project), (stranger, other_project)):
            client = token_client(user, of, ("read", "write", "admin"))
            assert client.get(LIST).json()["results"] == []
            assert client.get(one(closed)).status_code == 404
            assert client.patch(one(closed), {"title": "x"}).status_code == 404
            assert client.put(one(closed), body()).status_code == 404
            assert client.delete(one(closed)).status_code == 404
            assert client.post(one(closed, "test/")).status_code == 404
        assert Database.objects.filter(pk=closed.pk).exists()

    def test_an_editor_outside_of_its_audience_does_not_change_it(
        self, closed, project
    ):
        other = make_member(project, "other@acme.test", Role.ADMIN)
        client = token_client(other, project, ADMIN)
        assert client.patch(one(closed), {"title": "x"}).status_code == 404

    def test_lists_are_by_project_and_page(self, client, project, database):
        for n in range(3):
            assert client.post(LIST, body(name=f"n{n}")).status_code == 201
        page = client.get(LIST, {"limit": 3, "project": "acme/main"}).json()
        rest = client.get(LIST, {"limit": 3, "cursor": page["next_cursor"]}).json()
        names = [row["name"] for row in page["results"] + rest["results"]]
        assert sorted(names) == ["n0", "n1", "n2", "sales"]
        assert rest["next_cursor"] is None
        assert client.get(LIST, {"project": "strangers/main"}).status_code == 404

    def test_a_page_costs_the_same_however_many_there_are(
        self, client, database, django_assert_max_num_queries
    ):
        for n in range(5):
            client.post(LIST, body(name=f"n{n}"))
        with django_assert_max_num_queries(8):
            assert len(client.get(LIST).json()["results"]) == 6


class TestWhoWrites:
    @pytest.mark.parametrize(
        "role", [Role.VIEWER, Role.EDITOR, Role.REVIEWER, Role.ADMIN]
    )
    def test_admins_write(self, role, project, database):
        user = make_member(project, "some@acme.test", role)
        client = token_client(user, project, ADMIN)
        expected = 403 if role != Role.ADMIN else 200
        assert client.patch(one(database), {"title": "x"}).status_code == expected
        assert client.post(one(database, "test/")).status_code == expected
        made = client.post(LIST, body(name="other"))
        assert made.status_code == (403 if role != Role.ADMIN else 201)
        gone = client.delete(one(database)).status_code
        assert gone == (403 if role != Role.ADMIN else 204)

    def test_a_token_needs_the_scope(self, editor, project, database):
        client = token_client(editor, project)
        assert client.get(one(database)).status_code == 200
        for answer in (
            client.post(LIST, body(name="x")),
            client.patch(one(database), {}),
            client.put(one(database), body()),
            client.delete(one(database)),
            client.post(one(database, "test/")),
        ):
            assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")

    def test_nothing_is_made_in_a_project_of_others(self, client, other_project):
        assert client.post(LIST, body("strangers/main")).status_code == 404
        assert not Database.objects.exists()

    def test_an_audience_of_others_is_not_given(
        self, client, project, other_project, database
    ):
        foreign = make_audience(other_project)
        closed = make_audience(project, "closed", ["somebody@acme.test"])
        for audience in (foreign, closed):
            answer = client.patch(one(database), {"audience": audience.pk})
            assert answer.status_code == 400
            assert "audience" in answer.json()["errors"]


class TestPasswords:
    def test_it_is_kept_where_none_is_sent(self, client, database):
        assert client.patch(one(database), {"title": "New"}).status_code == 200
        given = body(title="Newer", seconds_most=5)
        del given["password"], given["project"]
        assert client.put(one(database), given).status_code == 200
        stored = Database.objects.get()
        assert (stored.title, stored.seconds_most) == ("Newer", 5)
        assert stored.password.reveal() == PASSWORD

    @pytest.mark.parametrize(
        "change",
        [
            {"host": "evil.test"},
            {"port": 6543},
            {"engine": "mysql"},
            {"database": "other"},
        ],
    )
    def test_it_is_not_sent_to_another_server(self, client, database, change):
        answer = client.patch(one(database), change)
        assert answer.status_code == 400
        assert "Enter the password anew" in answer.json()["errors"]["password"][0]
        stored = Database.objects.get()
        assert (stored.host, stored.port, stored.engine, stored.database) == (
            "db.acme.test", 5432, "postgres", "sales"
        )  # fmt: skip
        answer = client.patch(one(database), {**change, "password": "another-one"})
        assert answer.status_code == 200
        assert Database.objects.get().password.reveal() == "another-one"

    def test_what_was_tested_is_forgotten_with_another_login(self, client, database):
        Database.objects.update(test_report={"is_fine": True}, flavour="postgres")
        client.patch(one(database), {"title": "x"})
        assert Database.objects.get().test_report == {"is_fine": True}
        client.patch(one(database), {"password": "another-one"})
        stored = Database.objects.get()
        assert (stored.test_report, stored.flavour, stored.tested_at) == ({}, "", None)


class TestRefusals:
    @pytest.mark.parametrize(
        ("fields", "named"),
        [
            ({"host": "db.test host=127.0.0.1"}, "host"),
            ({"host": "/var/run/postgresql"}, "host"),
            ({"host": "a,b"}, "host"),
            ({"database": "postgres://u:p@h/d"}, "database"),
            ({"database": "shop options=-c"}, "database"),
            ({"user": "u\nv"}, "user"),
            ({"port": 0}, "port"),
            ({"port": 65536}, "port"),
            ({"engine": "oracle"}, "engine"),
            ({"name": "no spaces"}, "name"),
            ({"certificate": "x"}, "certificate"),
            ({"rows_most": 0}, "rows_most"),
            ({"superuser_allowed": True}, "superuser_allowed"),
            ({"hostaddr": "127.0.0.1"}, "hostaddr"),
            ({"options": "-c x=y"}, "options"),
        ],
    )
    def test_what_is_wrong_is_said_at_its_field(self, client, fields, named):
        answer = client.post(LIST, body(**fields))
        assert answer.status_code == 400
        assert list(answer.json()["errors"]) == [named]
        assert PASSWORD not in answer.content.decode()
        assert not Database.objects.exists()

    def test_a_name_is_given_once_in_a_project(self, client, database):
        answer = client.post(LIST, body())
        assert answer.status_code == 400
        assert "has this name" in answer.json()["errors"]["name"][0]

    def test_a_superusers_connection_is_not_switched_on(
        self, client, database, monkeypatch
    ):
        Database.objects.update(test_report={"is_superuser": True}, enabled=False)
        answer = client.patch(one(database), {"enabled": True})
        assert "may do everything" in answer.json()["errors"]["enabled"][0]
        monkeypatch.setitem(settings.FABRIC, "DATABASE_SUPERUSERS", True)
        assert client.patch(one(database), {"enabled": True}).status_code == 400
        allowed = {"enabled": True, "superuser_allowed": True}
        assert client.patch(one(database), allowed).status_code == 200


class TestTesting:
    def test_it_says_what_the_login_may(self, client, project, postgres_target):
        database = make_database(project, postgres_target)
        answer = client.post(one(database, "test/"))
        found = answer.json()
        assert answer.status_code == 200
        assert found["is_reached"] is True
        assert found["flavour"] == "postgres"
        assert client.get(one(database)).json()["is_fine"] is found["is_fine"]

    def test_why_it_was_not_reached_is_told_to_staff_only(
        self, client, project, editor, postgres_target
    ):
        database = make_database(project, postgres_target, host="169.254.169.254")
        found = client.post(one(database, "test/")).json()
        assert found["why"] == ""
        assert "169.254" not in json.dumps(found)
        editor.is_staff = True
        editor.save()
        assert "169.254.169.254" in client.post(one(database, "test/")).json()["why"]


def test_a_deleted_connection_is_gone_and_audited(client, database, editor):
    assert client.delete(one(database)).status_code == 204
    assert not Database.objects.exists()
    audit = Audit.objects.get(verb="database.deleted")
    assert (audit.actor, audit.target) == (editor, "sales")


def test_the_password_is_left_nowhere(project, postgres_target, caplog, monkeypatch):
    """Made, changed, refused, tested, exported and deleted, in the admin and the API."""
    caplog.set_level(logging.DEBUG)
    sent = []
    monkeypatch.setattr(app, "send_task", lambda *args, **all: sent.append((args, all)))
    root = make_user("root@acme.test", is_staff=True, is_superuser=True)
    project.memberships.create(user=root, role=Role.ADMIN)
    client = session_client(root)
    place = {
        "host": postgres_target.host,
        "port": postgres_target.port,
        "database": postgres_target.database,
        "user": postgres_target.user,
        "encryption": "off",
    }
    given = body(**place)
    answers = [client.post(LIST, given)]
    database = Database.objects.get()
    form = {**given, "project": project.pk, "rows_most": 5, "seconds_most": 5}
    change = f"/admin/connections/database/{database.pk}/change/"
    answers += [
        client.post(LIST, body(host="a b")),
        client.get(LIST),
        client.get(one(database)),
        client.patch(one(database), {"title": "x", "password": PASSWORD}),
        client.post(one(database, "test/")),
        client.post(change, form, format="multipart"),
        client.post(change, {**form, "host": "a b"}, format="multipart"),
        client.get(change),
        client.get(change.replace("change", "history")),
        client.get("/api/v1/schema/?format=json"),
    ]
    texts = [answer.content.decode() for answer in answers]
    texts += [str(dict(answer.headers)) for answer in answers]
    try:
        open_connection(Database.objects.get())
    except Exception as error:  # noqa: BLE001 - whatever it is, its text is looked at
        texts += traceback.format_exception(error)
    stored = Database.objects.get()
    texts += [repr(stored), str(stored.password), repr(vars(stored))]
    texts += [serializers.serialize("json", [stored]), json.dumps(stored.test_report)]
    assert client.delete(one(database)).status_code == 204
    texts += [record.getMessage() + str(record.__dict__) for record in caplog.records]
    texts += [
        f"{row.object_repr} {row.change_message}" for row in LogEntry.objects.all()
    ]
    texts += [json.dumps(row.detail) for row in AuditDetail.objects.all()]
    texts += [str(row) + row.target for row in Audit.objects.all()]
    texts += [str(vars(row)) for row in TaskResult.objects.all()]
    texts += [str(each) for each in sent]
    texts += every_row()
    assert Secret(PASSWORD).reveal() == PASSWORD
    assert [text for text in texts if PASSWORD in text] == []
    assert len(texts) > 60
    assert len(caplog.records) >= 5
    assert AuditDetail.objects.count() >= 5
    assert LogEntry.objects.count() >= 1


def every_row() -> list[str]:
    """Return every row of every table of ours as text."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT quote_ident(t.tablename) FROM pg_tables t"
            " WHERE t.schemaname = 'public' ORDER BY 1"
        )
        tables = [row[0] for row in cursor.fetchall()]
        for table in tables:
            cursor.execute(f"SELECT t::text FROM {table} t")  # noqa: S608 - quoted
            found += [row[0] for row in cursor.fetchall()]
    assert len(tables) > 30
    return found
