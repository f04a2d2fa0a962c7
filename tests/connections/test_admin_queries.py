"""The admin's audit of statements: whose runs it shows, and that it only shows."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import DatabaseQuery, Role
from tests.factories import make_member, make_project
from tests.targets import Target, make_database

pytestmark = pytest.mark.django_db

LIST = reverse("admin:connections_databasequery_changelist")


@pytest.fixture
def runs(project, other_project, member, outsider, stranger):
    made = {}
    for where, user, text in (
        (project, member, "SELECT 'of the member'"),
        (project, outsider, "SELECT 'of the outsider'"),
        (other_project, stranger, "SELECT 'of the stranger'"),
    ):
        found = where.databases.first() or make_database(
            where, Target("postgres", "db.test", 1, "d", "u", "p", {})
        )
        made[user] = DatabaseQuery.objects.create(
            tenant=where.tenant, project=where, database=found, user=user,
            database_name=found.name, asked_sql=text, verdict="refused", rule="one_query",
        )  # fmt: skip
    return made


def signed_in(user) -> Client:
    user.is_staff = True
    user.save()
    client = Client()
    client.force_login(user)
    return client


def seen(client: Client, **asked: str) -> list[bool]:
    text = client.get(LIST, asked).content.decode()
    return [f"of the {who}" in text for who in ("member", "outsider", "stranger")]


def test_an_administrator_sees_all_of_the_project_and_others_their_own(
    runs, project, member, stranger
):
    boss = make_member(project, "boss@acme.test", Role.ADMIN)
    assert seen(signed_in(boss)) == [True, True, False]
    assert seen(signed_in(member)) == [True, False, False]
    assert seen(signed_in(stranger)) == [False, False, True]
    far = make_member(make_project("acme/far"), "far@acme.test", Role.ADMIN)
    assert seen(signed_in(far)) == [False, False, False]


def test_runs_are_searched_and_filtered(runs, project):
    boss = signed_in(make_member(project, "boss@acme.test", Role.ADMIN))
    assert seen(boss, q="outsider") == [False, True, False]
    assert seen(boss, verdict__exact="done") == [False, False, False]
    assert seen(boss, verdict__exact="refused") == [True, True, False]
    database = project.databases.get()
    assert seen(boss, database=str(database.pk)) == [True, True, False]
    assert seen(boss, database="x") == [False, False, False]


def test_a_run_is_read_and_never_changed(runs, project, member, stranger):
    boss = signed_in(make_member(project, "boss@acme.test", Role.ADMIN))
    row = runs[member]
    where = reverse("admin:connections_databasequery_change", args=[row.pk])
    text = boss.get(where).content.decode()
    assert "of the member" in text
    assert "Nothing was sent." in text
    assert boss.post(where, {"verdict": "done"}).status_code == 403
    other = reverse("admin:connections_databasequery_change", args=[runs[stranger].pk])
    assert boss.get(other).status_code in (302, 404)
    add = reverse("admin:connections_databasequery_add")
    assert boss.get(add).status_code == 403
