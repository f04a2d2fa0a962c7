"""The admin's page of a schema: who sees it, who chooses, what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from connections.databases.base import DatabaseError
from connections.databases.found import Found, FoundColumn, FoundTable
from connections.databases.snapshot import store
from connections.models import DatabaseColumn, DatabaseTable, Role
from tests.factories import make_audience, make_member
from tests.targets import Target, make_database

pytestmark = pytest.mark.django_db

NOWHERE = Target("postgres", "127.0.0.1", 1, "shop", "reader", "none", {})
LIST = "admin:connections_databasetable_changelist"


def staff(project, email, role):
    user = make_member(project, email, role)
    user.is_staff = True
    user.save()
    user.user_permissions.set(Permission.objects.all())
    return user


@pytest.fixture
def clerk(project):
    return staff(project, "clerk@acme.test", Role.ADMIN)


@pytest.fixture
def database(project, member):
    closed = make_audience(project, "finance", [member])
    made = make_database(project, NOWHERE, audience=closed, title="The shop")
    keep(made, 60)
    return made


def keep(database, count):
    state = FoundColumn(
        name="state", position=1, data_type="state", family="text", nullable=True,
        comment="Where it is", is_key=False, values=("open", "zanzibar"),
    )  # fmt: skip
    tables = tuple(
        FoundTable(
            schema="a" if n % 2 else "b", name=f"table_{n:04}", kind="table",
            comment="", rows=1, columns=(state,),
        )
        for n in range(count)
    )  # fmt: skip
    found = Found(flavour="postgres", version="18.1", default_schema="a", tables=tables)
    store(database, found, {}, datetime(2026, 3, 2, tzinfo=UTC))


def page(database, what="database_schema"):
    return reverse(f"admin:{what}", args=[database.pk])


def test_the_schema_is_shown_a_page_at_a_time(client, clerk, database):
    client.force_login(clerk)
    first = client.get(page(database)).content.decode()
    assert "60 tables" in first
    assert "Page 1 of 3" in first
    assert first.count("data-table=") == 25
    assert "The shop" in client.get(reverse(LIST)).content.decode()


def test_a_thousand_tables_cost_few_statements(
    client, clerk, database, django_assert_max_num_queries
):
    keep(database, 1000)
    client.force_login(clerk)
    # Two of them count what the sidebar names.
    with django_assert_max_num_queries(42):
        assert client.get(page(database)).status_code == 200
    with django_assert_max_num_queries(12):
        drawn = client.get(page(database, "schema_picture")).json()
    assert len(drawn["nodes"]) == 120


def test_words_find_tables_by_their_columns(client, clerk, database):
    client.force_login(clerk)
    found = client.get(page(database), {"query": "table_0007 where"}).content.decode()
    assert "1 table found" in found
    nothing = client.get(page(database), {"query": "no\x00thing"}).content.decode()
    assert "No table fits that." in nothing


def test_values_are_shown_to_the_audience_only(client, clerk, database, member):
    client.force_login(clerk)
    assert "zanzibar" not in client.get(page(database)).content.decode()
    database.audience.members.create(user=clerk)
    assert "zanzibar" in client.get(page(database)).content.decode()


def test_strangers_and_those_outside_of_the_audience_do_not_find_it(
    client, project, other_project, database
):
    for user in (
        staff(project, "viewer@acme.test", Role.VIEWER),
        staff(other_project, "boss@strangers.test", Role.ADMIN),
    ):
        client.force_login(user)
        for what in ("database_schema", "schema_picture"):
            assert client.get(page(database, what)).status_code == 404
        for what in ("schema_expose", "schema_discover"):
            assert client.post(page(database, what)).status_code == 404
        assert "The shop" not in client.get(reverse(LIST)).content.decode()
    assert DatabaseTable.objects.filter(exposure="hidden").count() == 0


def test_one_of_the_audience_sees_it_and_changes_nothing(client, project, database):
    editor = staff(project, "editor@acme.test", Role.EDITOR)
    database.audience.members.create(user=editor)
    client.force_login(editor)
    assert ">Save<" not in client.get(page(database)).content.decode()
    refused = client.post(
        page(database, "schema_expose"), {"schema": "a", "exposure": "hidden"}
    )
    assert refused.status_code == 403
    assert DatabaseTable.objects.filter(exposure="hidden").count() == 0


def test_a_whole_schema_is_hidden_by_a_click(client, clerk, database):
    client.force_login(clerk)
    client.post(page(database, "schema_expose"), {"schema": "a", "exposure": "hidden"})
    hidden = DatabaseTable.objects.filter(exposure="hidden")
    assert set(hidden.values_list("schema", "is_chosen")) == {("a", True)}
    assert hidden.count() == 30


def test_a_table_and_its_columns_are_chosen_in_one_form(client, clerk, database):
    client.force_login(clerk)
    table = DatabaseTable.objects.get(name="table_0003")
    column = table.columns.get()
    data = {
        "table": table.pk, "table_exposure": "visible",
        f"column-{column.pk}": "masked", "back": "//evil.test/",
    }  # fmt: skip
    answer = client.post(page(database, "schema_expose"), data)
    assert answer.url == page(database), "an address of somebody else's is not taken"
    column.refresh_from_db()
    assert (column.exposure, column.values, column.is_chosen) == ("masked", [], True)
    others = DatabaseColumn.objects.exclude(pk=column.pk)
    assert not others.filter(is_chosen=True).exists()


@pytest.mark.parametrize(
    "data",
    [
        {"schema": "a", "exposure": "everything"},
        {"table": "1", "table_exposure": "visible"},
        {"table": "x"},
        {},
    ],
)
def test_what_makes_no_sense_changes_nothing(client, clerk, database, data):
    client.force_login(clerk)
    answer = client.post(page(database, "schema_expose"), data)
    assert answer.status_code in (302, 404)
    assert not DatabaseTable.objects.filter(is_chosen=True).exists()


def test_a_discovery_that_fails_says_why(client, clerk, database, monkeypatch):
    def fails(*_, **__):
        raise DatabaseError("The shop could not be reached.")

    monkeypatch.setattr("connections.admin_schema.discover", fails)
    client.force_login(clerk)
    answer = client.post(page(database, "schema_discover"), follow=True)
    assert "The shop could not be reached." in answer.content.decode()
