"""The schema over the API: to its audience, without what is hidden."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from connections.databases.base import DatabaseError, ForeignKey
from connections.databases.found import Found, FoundColumn, FoundTable
from connections.databases.snapshot import Discovered, store
from connections.models import DatabaseColumn, DatabaseTable, Role
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_audience, make_member
from tests.targets import Target, make_database

pytestmark = pytest.mark.django_db

NOWHERE = Target("postgres", "127.0.0.1", 1, "shop", "reader", "none", {})


def column(name):
    return FoundColumn(
        name=name, position=1, data_type="text", family="text", nullable=True,
        comment="", is_key=False, values=("a",),
    )  # fmt: skip


def table(name, *keys):
    return FoundTable(
        schema="public", name=name, kind="table", comment=f"about {name * 3}", rows=1,
        columns=(column("id"), column("plain")),
        keys=tuple(
            ForeignKey(
                name=f"to_{key}", columns=("id",), target_schema="public",
                target_table=key, target_columns=("id",),
            )
            for key in keys
        ),
    )  # fmt: skip


@pytest.fixture
def database(project, member):
    made = make_database(
        project, NOWHERE, audience=make_audience(project, "finance", [member])
    )
    found = Found(
        flavour="postgres", version="18", default_schema="public",
        tables=(table("a", "b", "c"), table("b"), table("c")),
    )  # fmt: skip
    store(made, found, {}, datetime(2026, 3, 2, tzinfo=UTC))
    return made


def address(database, what="schema"):
    return f"/api/v1/connections/databases/{database.pk}/{what}/"


def test_the_audience_reads_the_schema_and_nobody_else(
    database, member, outsider, stranger
):
    answer = session_client(member).get(address(database))
    assert answer.status_code == 200
    names = [found["name"] for found in answer.json()["tables"]]
    assert names == ["a", "b", "c"]
    for user in (outsider, stranger):
        assert session_client(user).get(address(database)).status_code == 404
        client = session_client(user)
        assert client.post(address(database, "discover")).status_code == 404


def test_what_is_hidden_is_not_told_of(database, member):
    DatabaseTable.objects.filter(name="b").update(exposure="hidden")
    hidden = DatabaseColumn.objects.filter(table__name="c", name="id")
    hidden.update(exposure="hidden", values=[])
    found = session_client(member).get(address(database)).json()["tables"]
    assert [each["name"] for each in found] == ["a", "c"]
    assert found[0]["keys"] == [], "neither the hidden table nor the hidden column"
    assert [each["name"] for each in found[1]["columns"]] == ["plain"]


def test_pages_are_followed_by_their_cursor(database, member):
    client, names, cursor = session_client(member), [], None
    for _ in range(3):
        asked = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        answer = client.get(address(database), asked).json()
        names += [each["name"] for each in answer["tables"]]
        cursor = answer["next"]
    assert (names, cursor) == (["a", "b", "c"], None)


def test_words_find_tables_and_a_wrong_parameter_is_named(database, member):
    client = session_client(member)
    found = client.get(address(database), {"query": "about bbb"}).json()["tables"]
    assert [each["name"] for each in found] == ["b"]
    refused = client.get(address(database), {"queri": "b"})
    assert refused.status_code == 400
    assert "queri" in str(refused.json())
    assert client.get(address(database), {"cursor": 10**9}).status_code == 400


@pytest.fixture
def followed(monkeypatch):
    sent = []
    monkeypatch.setattr(
        "connections.api.database_schema.follow_database.delay", sent.append
    )
    return sent


def test_editors_discover_and_viewers_may_not(
    database, project, member, followed, monkeypatch
):
    found = Discovered(
        added=1, removed=0, changed=2, tables=3, columns=6, seconds=0.1, waiting=0
    )
    monkeypatch.setattr(
        "connections.api.database_schema.discover", lambda *_, **__: found
    )
    assert session_client(member).post(address(database, "discover")).status_code == 403
    editor = make_member(project, "editor@acme.test", Role.EDITOR)
    database.audience.members.create(user=editor)
    answer = session_client(editor).post(address(database, "discover"))
    assert (answer.status_code, answer.json()["tables"]) == (200, 3)
    assert followed == [str(database.pk)]
    only_reads = token_client(editor, project, ("read",))
    assert only_reads.post(address(database, "discover")).status_code == 403


def test_a_database_that_is_not_there_is_a_clear_error(
    database, project, followed, monkeypatch
):
    def unreachable(*_, **__):
        raise DatabaseError("shop could not be reached.")

    monkeypatch.setattr("connections.api.database_schema.discover", unreachable)
    editor = make_member(project, "editor@acme.test", Role.EDITOR)
    database.audience.members.create(user=editor)
    answer = session_client(editor).post(address(database, "discover"))
    assert answer.status_code == 502
    assert answer.json()["detail"] == "shop could not be reached."
    assert followed == []
