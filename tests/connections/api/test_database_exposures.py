"""Choosing over the API what of a database may be seen."""

from __future__ import annotations

import pytest

from connections.models import Audit, DatabaseColumn, DatabaseTable, Membership, Role
from tests.connections.api.callers import session_client, token_client
from tests.connections.api.test_database_schema import (  # noqa: F401 - a fixture
    address,
    database,
)
from tests.factories import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(database, member):  # noqa: F811 - the fixture
    Membership.objects.filter(user=member).update(role=Role.ADMIN)
    return session_client(member)


def choose(client, database, **body):  # noqa: F811
    return client.post(address(database, "exposures"), body, format="json")


def test_an_admin_hides_a_table_and_it_is_told_to_nobody(admin, database):  # noqa: F811
    answer = choose(admin, database, exposure="hidden", schema="public", table="b")
    assert (answer.status_code, answer.json()) == (200, {"tables": 1, "columns": 0})
    told = admin.get(address(database)).json()["tables"]
    assert [table["name"] for table in told] == ["a", "c"]
    assert Audit.objects.filter(verb="database.exposure").count() == 1


def test_an_admin_masks_columns_and_their_values_go(admin, database):  # noqa: F811
    answer = choose(
        admin,
        database,
        exposure="masked",
        schema="public",
        table="a",
        columns=["plain"],
    )
    assert answer.json() == {"tables": 0, "columns": 1}
    column = DatabaseColumn.objects.get(table__name="a", name="plain")
    assert (column.exposure, column.values) == ("masked", [])
    other = DatabaseColumn.objects.get(table__name="b", name="plain")
    assert (other.exposure, other.values) == ("visible", ["a"])


def test_a_whole_schema_is_hidden_at_once(admin, database):  # noqa: F811
    answer = choose(admin, database, exposure="hidden", schema="public")
    assert answer.json() == {"tables": 3, "columns": 0}
    assert set(DatabaseTable.objects.values_list("exposure", flat=True)) == {"hidden"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"exposure": "masked", "schema": "public", "table": "a"}, "hidden"),
        ({"exposure": "hidden", "schema": "nowhere"}, "nowhere"),
        ({"exposure": "hidden", "schema": "public", "table": "A"}, "public.A"),
        (
            {"exposure": "masked", "schema": "public", "table": "a", "columns": ["x"]},
            "x",
        ),
        ({"exposure": "secret", "schema": "public"}, "secret"),
        ({"exposure": "hidden", "schema": "public", "columns": ["id"]}, "table"),
        ({"exposure": "hidden"}, "schema"),
    ],
)
def test_what_cannot_be_chosen_is_refused_and_changes_nothing(
    body,
    said,
    admin,
    database,  # noqa: F811
):
    answer = choose(admin, database, **body)
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert set(DatabaseTable.objects.values_list("exposure", flat=True)) == {"visible"}


def test_only_admins_choose_and_others_do_not_see_it(
    database,  # noqa: F811
    member,
    outsider,
    stranger,
    project,
):
    body = {"exposure": "hidden", "schema": "public"}
    Membership.objects.filter(user=member).update(role=Role.REVIEWER)
    assert choose(session_client(member), database, **body).status_code == 403
    for other in (outsider, stranger):
        assert choose(session_client(other), database, **body).status_code == 404
    Membership.objects.filter(user=member).update(role=Role.ADMIN)
    reading = token_client(member, project, scopes=("read",))
    assert choose(reading, database, **body).status_code == 403
    beside = make_member(project, "cara@acme.test", role=Role.ADMIN)
    assert choose(session_client(beside), database, **body).status_code == 404
    assert DatabaseTable.objects.filter(exposure="visible").count() == 3
