"""The admin of connections: entered, tested, and the password never shown."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.urls import reverse

from connections.models import Audit, Database, Role
from tests.factories import make_audience, make_member, make_user
from tests.targets import make_database

pytestmark = pytest.mark.django_db

PASSWORD = "geheim-7c4e1f92"
LIST = reverse("admin:connections_database_changelist")
ADD = reverse("admin:connections_database_add")
BUTTON = "connections_database_save_and_test"


def staff_of(project, email="clerk@acme.test", role=Role.ADMIN):
    """Staff with every permission, in one project of one tenant."""
    user = make_member(project, email, role)
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.all())
    return user


@pytest.fixture
def clerk(project, client):
    user = staff_of(project)
    client.force_login(user)
    return user


@pytest.fixture
def database(project, postgres_target):
    return make_database(project, postgres_target)


def page_of(database):
    return reverse("admin:connections_database_change", args=[database.pk])


def form(project, /, **fields):
    return {
        "project": project.pk,
        "name": "sales",
        "title": "",
        "audience": "",
        "engine": "postgres",
        "host": "db.acme.test",
        "port": 5432,
        "database": "sales",
        "user": "reader",
        "password": PASSWORD,
        "encryption": "verified",
        "certificate": "",
        "rows_most": 100,
        "seconds_most": 5,
        "enabled": "on",
        **fields,
    }


def form_of(database, /, **fields):
    names = ("name", "title", "engine", "host", "port", "database", "user",
             "encryption", "certificate", "rows_most", "seconds_most")  # fmt: skip
    values = {name: getattr(database, name) for name in names}
    audience = database.audience_id
    return {**values, "audience": audience, "password": "", "enabled": "on", **fields}


def test_a_password_is_entered_and_never_shown(clerk, client, project):
    answer = client.post(ADD, form(project), follow=True)
    database = Database.objects.get()
    assert database.password.reveal() == PASSWORD
    assert (database.tenant, database.audience.kind) == (project.tenant, "public")
    page = client.get(page_of(database)).content.decode()
    history = reverse("admin:connections_database_history", args=[database.pk])
    for said in (answer.content.decode(), page, client.get(history).content.decode()):
        assert PASSWORD not in said
        assert database.password.ciphertext not in said
    assert 'autocomplete="new-password"' in page
    assert "set; leave empty to keep it" in page
    audit = Audit.objects.get(verb="database.created")
    assert (audit.actor, audit.project) == (clerk, project)
    assert "password" in audit.detail.detail["fields"]
    assert PASSWORD not in str(audit.detail.detail)


def test_an_empty_password_keeps_it_and_another_replaces_it(clerk, client, project):
    client.post(ADD, form(project))
    database = Database.objects.get()
    client.post(page_of(database), form_of(database, title="New"))
    again = Database.objects.get()
    assert (again.password.reveal(), again.title) == (PASSWORD, "New")
    client.post(page_of(database), form_of(again, password="another"))
    assert Database.objects.get().password.reveal() == "another"


@pytest.mark.parametrize(
    "change",
    [{"host": "evil.test"}, {"port": 1}, {"engine": "mysql"}, {"database": "x"}],
)
def test_the_stored_password_is_not_sent_elsewhere(clerk, client, database, change):
    answer = client.post(page_of(database), form_of(database, **change))
    assert "Enter the password anew" in answer.content.decode()
    assert Database.objects.get().host == database.host
    changed = form_of(database, **change, password="another")
    assert client.post(page_of(database), changed).status_code == 302


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"host": "a b"}, "no connection text"),
        ({"host": "/run/x"}, "Unix sockets are not connected to"),
        ({"database": "x options=y"}, "Write the plain name"),
        ({"certificate": "x"}, "in PEM"),
        ({"superuser_allowed": "on"}, "FABRIC_DATABASE_SUPERUSERS"),
        ({"port": 70000}, "65535"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(clerk, client, project, fields, said):
    answer = client.post(ADD, form(project, **fields))
    assert said in answer.content.decode()
    assert PASSWORD not in answer.content.decode()
    assert not Database.objects.exists()


class TestWhoSees:
    """Staff in its audience, staff outside of it, staff of another tenant."""

    @pytest.fixture
    def closed(self, project, clerk, postgres_target):
        audience = make_audience(project, "db", [clerk])
        return make_database(project, postgres_target, name="closed", audience=audience)

    def test_who_is_in_its_audience_sees_it(self, closed, client):
        assert "closed" in client.get(LIST).content.decode()
        assert client.get(page_of(closed)).status_code == 200

    @pytest.mark.parametrize("of", ["project", "other_project"])
    def test_others_do_not(self, closed, client, request, of):
        client.force_login(staff_of(request.getfixturevalue(of), "else@acme.test"))
        assert "closed" not in client.get(LIST).content.decode()
        assert client.get(page_of(closed)).status_code == 302
        client.post(page_of(closed), form_of(closed, title="x"))
        assert Database.objects.get().title == ""

    def test_who_only_views_changes_nothing(self, database, project, client):
        client.force_login(staff_of(project, "viewer@acme.test", Role.VIEWER))
        assert client.post(page_of(database), form_of(database)).status_code == 403
        assert client.post(ADD, form(project)).status_code == 403
        assert Database.objects.count() == 1
        address = reverse("admin:connections_database_delete", args=[database.pk])
        assert client.post(address, {"post": "yes"}).status_code == 403

    def test_a_project_or_an_audience_of_others_cannot_be_chosen(
        self, clerk, client, project, other_project
    ):
        answer = client.post(ADD, form(project, project=other_project.pk))
        assert "Select a valid choice" in answer.content.decode()
        theirs = make_audience(project, "closed", ["somebody@acme.test"])
        answer = client.post(ADD, form(project, audience=theirs.pk))
        assert "Select a valid choice" in answer.content.decode()
        assert not Database.objects.exists()


def test_deleting_is_audited_one_by_one(clerk, client, database, project):
    data = {
        "action": "delete_selected",
        "_selected_action": [database.pk],
        "post": "yes",
    }
    client.post(LIST, data)
    assert not Database.objects.exists()
    assert Audit.objects.get(verb="database.deleted").actor == clerk


@pytest.mark.django_db(transaction=True)
class TestTesting:
    """The server is asked once the row is committed."""

    def test_the_page_shows_what_the_login_may(
        self, clerk, client, project, database, postgres_target
    ):
        postgres_target.run(
            "CREATE TABLE pears (id int)", f"GRANT DELETE ON pears TO {database.user}"
        )
        try:
            answer = client.post(
                page_of(database), form_of(database, **{BUTTON: "1"}), follow=True
            )
        finally:
            postgres_target.run("DROP TABLE pears")
        page = answer.content.decode()
        assert answer.redirect_chain[-1][0] == page_of(database)
        assert "its login may do more than read" in page
        assert "public.pears" in page
        assert "CREATE ROLE fabric_reader" in page
        assert Audit.objects.get(verb="database.tested").actor == clerk

    def test_a_new_connection_is_tested_too(self, clerk, client, project):
        place = {"host": "169.254.169.254", BUTTON: "1"}
        page = client.post(ADD, form(project, **place), follow=True).content.decode()
        assert "could not be reached" in page
        assert "169.254.169.254 is denied" in page
        assert PASSWORD not in page

    def test_a_superusers_login_is_switched_off(
        self, clerk, client, project, database, postgres_target, monkeypatch
    ):
        owner = postgres_target.owner
        fields = {"user": owner["user"], "password": owner["password"], BUTTON: "1"}
        answer = client.post(
            page_of(database), form_of(database, **fields), follow=True
        )
        assert "so it is switched off" in answer.content.decode()
        stored = Database.objects.get()
        assert not stored.enabled
        answer = client.post(page_of(stored), form_of(stored))
        assert "may do everything on that server" in answer.content.decode()
        monkeypatch.setitem(settings.FABRIC, "DATABASE_SUPERUSERS", True)
        allowed = form_of(stored, superuser_allowed="on", **{BUTTON: "1"})
        answer = client.post(page_of(stored), allowed, follow=True)
        assert "which was allowed here" in answer.content.decode()
        assert Database.objects.get().enabled


def test_who_may_not_see_connections_gets_none(client, project, database):
    user = make_user("reader@acme.test", is_staff=True)
    project.memberships.create(user=user)
    client.force_login(user)
    assert client.get(LIST).status_code == 403
    assert client.get(page_of(database)).status_code == 403
