"""Databases asked through the API: statements, questions, runs, what is saved."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from rest_framework.test import APIClient

from connections.databases.base import ResultColumn, Rows
from connections.models import Database, DatabaseQuery, Role
from memory.models import SavedQuery
from tests.connections.api.callers import session_client, token_client
from tests.factories import make_audience, make_member
from tests.memory.sql.answering import answer_with
from tests.memory.sql.shop import make_shop, shop_tables
from tests.targets import Target

pytestmark = pytest.mark.django_db

BASE = "/api/v1/connections"
SQL = "SELECT name FROM customers ORDER BY id"


@pytest.fixture(scope="module")
def shop_server(postgres_target: Target) -> Iterator[Target]:
    with shop_tables(postgres_target):
        yield postgres_target


@pytest.fixture
def shop(project, member, shop_server) -> Database:
    """A database that `member` may ask, and `outsider` of the same project may not."""
    audience = make_audience(project, "database:shop", [member])
    return make_shop(project, shop_server, audience=audience)


@pytest.fixture
def client(member, project) -> APIClient:
    return token_client(member, project)


def query(client: APIClient, shop: Database, sql: str = SQL, **more: object):
    body = {"sql": sql, **more}
    return client.post(f"{BASE}/databases/{shop.pk}/query/", body)


def past(shop: Database, user, **fields: object) -> DatabaseQuery:
    values = {"verdict": "done", "asked_sql": "SELECT 1", **fields}
    return DatabaseQuery.objects.create(
        tenant_id=shop.tenant_id,
        project=shop.project,
        database=shop,
        database_name=shop.name,
        user=user,
        **values,
    )


def test_a_statement_gives_its_rows(shop, client, member):
    answer = query(client, shop)
    body = answer.json()
    assert answer.status_code == 200
    assert (body["connection"], body["row_count"], body["truncated"]) == (
        "shop",
        3,
        False,
    )
    assert body["columns"] == [{"name": "name", "family": "text"}]
    assert body["rows"] == [["Ada Farm"], ["Böhm & Söhne"], ["Cole <b>Ltd</b>"]]
    row = DatabaseQuery.objects.get()
    assert (row.user, row.shown_in, str(row.pk)) == (member, "api", body["query"])


def test_the_limit_cuts_and_says_so_and_never_exceeds_the_databases(shop, client):
    body = query(client, shop, "SELECT n FROM numbers ORDER BY n", limit=2).json()
    assert (body["rows"], body["truncated"]) == ([[1], [2]], True)
    Database.objects.update(rows_most=5)
    body = query(client, shop, "SELECT n FROM numbers ORDER BY n", limit=50).json()
    assert (body["row_count"], body["truncated"]) == (5, True)


def test_numbers_keep_their_digits(shop, client):
    body = query(client, shop, "SELECT total FROM orders WHERE id = 1").json()
    assert body["rows"] == [["10.50"]]


def test_a_refusal_is_a_problem_with_its_rule(shop, client):
    answer = query(client, shop, "DELETE FROM customers")
    body = answer.json()
    assert (answer.status_code, body["code"]) == (422, "statement_refused")
    assert answer["Content-Type"] == "application/problem+json"
    row = DatabaseQuery.objects.get()
    assert (row.verdict, row.rule) == ("refused", body["rule"])
    assert body["rule"]
    assert body["detail"]


def test_what_the_server_says_is_a_problem(shop, client):
    answer = query(client, shop, "SELECT 1 / (n - n) AS x FROM numbers")
    assert answer.status_code in (422, 502)
    assert "zero" in answer.json()["detail"]
    assert "rule" not in answer.json()


@pytest.mark.parametrize(
    "body",
    [{}, {"sql": ""}, {"sql": 7, "limt": 2}, {"sql": "SELECT 1", "limit": 0},
     {"sql": "SELECT 1", "limit": "many"}, {"sql": "x" * 20_001}],
)  # fmt: skip
def test_a_body_that_is_wrong_is_a_400(body, shop, client):
    answer = client.post(f"{BASE}/databases/{shop.pk}/query/", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_nobody_but_its_audience_reaches_it(
    shop, member, outsider, stranger, other_project, project
):
    row = past(shop, member, verdict="running")
    saved = SavedQuery.objects.create(database=shop, user=member, title="t", sql="s",
                                      is_shared=True)  # fmt: skip
    callers = (
        token_client(outsider, project),
        session_client(outsider),
        token_client(stranger, other_project),
        token_client(member, other_project),
    )
    for client in callers:
        assert query(client, shop).status_code == 404
        asked = client.post(f"{BASE}/databases/{shop.pk}/ask/", {"question": "?"})
        assert asked.status_code == 404
        assert client.post(f"{BASE}/queries/{row.pk}/cancel/").status_code == 404
        assert client.get(f"{BASE}/queries/{row.pk}/").status_code == 404
        assert client.get(f"{BASE}/queries/").json()["results"] == []
        assert client.get(f"{BASE}/saved-queries/").json()["results"] == []
        where = f"{BASE}/saved-queries/{saved.pk}/"
        assert client.get(where).status_code == 404
        assert client.patch(where, {"title": "x"}).status_code == 404
        assert client.delete(where).status_code == 404
        body = {"database": str(shop.pk), "title": "x", "sql": "y"}
        assert client.post(f"{BASE}/saved-queries/", body).status_code == 404
    assert APIClient().get(f"{BASE}/queries/").status_code == 401
    assert DatabaseQuery.objects.count() == SavedQuery.objects.count() == 1


def test_a_token_needs_the_scope(shop, member, project):
    reads = token_client(member, project, ("read",))
    row = past(shop, member, verdict="running")
    body = {"database": str(shop.pk), "title": "x", "sql": "y"}
    for answer in (
        query(reads, shop),
        reads.post(f"{BASE}/databases/{shop.pk}/ask/", {"question": "?"}),
        reads.post(f"{BASE}/queries/{row.pk}/cancel/"),
        reads.post(f"{BASE}/saved-queries/", body),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")
    assert reads.get(f"{BASE}/queries/").status_code == 200


def test_a_question_is_answered_with_its_reading(shop, client, monkeypatch):
    from memory.sql.asking import Answered, Unanswered

    def answering(database, question, user, shown_in):
        if question == "Rain?":
            return Unanswered(reason="No table tells of the weather.", attempts=())
        rows = Rows(
            sql="SELECT 3", columns=(ResultColumn(name="people", family="number"),),
            rows=[(3,)], truncated=False, took_ms=2.0,
        )  # fmt: skip
        return Answered(
            sql="SELECT count(*) FROM customers", rows=rows, by="rules",
            reading="the number of customers", assumptions=("all",),
            tables=("public.customers",), attempts=(), model="",
        )  # fmt: skip

    answer_with(monkeypatch, answering)
    where = f"{BASE}/databases/{shop.pk}/ask/"
    body = client.post(where, {"question": "How many?"}).json()
    assert body["rows"] == [[3]]
    assert (body["reading"], body["assumptions"]) == (
        "the number of customers",
        ["all"],
    )
    assert (body["by"], body["sql"]) == ("rules", "SELECT count(*) FROM customers")
    answer = client.post(where, {"question": "Rain?"})
    assert (answer.status_code, answer.json()["code"]) == (422, "not_answered")
    assert answer.json()["detail"] == "No table tells of the weather."


def test_runs_are_ones_own_and_all_to_an_administrator(shop, project, member, outsider):
    boss = make_member(project, "boss@acme.test", Role.ADMIN)
    shop.audience = make_audience(project)
    shop.save()
    mine, other = past(shop, member), past(shop, outsider, verdict="failed")

    def seen(user, **asked: object) -> set[str]:
        answer = token_client(user, project).get(f"{BASE}/queries/", asked)
        return {row["id"] for row in answer.json()["results"]}

    assert seen(member) == {str(mine.pk)}
    assert seen(outsider) == {str(other.pk)}
    assert seen(boss) == {str(mine.pk), str(other.pk)}
    assert seen(boss, verdict="failed") == {str(other.pk)}
    assert seen(boss, database=str(shop.pk)) == {str(mine.pk), str(other.pk)}
    bad = token_client(boss, project).get(f"{BASE}/queries/", {"verdict": "odd"})
    assert bad.status_code == 400
    far = {"database": str(uuid.uuid4())}
    assert token_client(boss, project).get(f"{BASE}/queries/", far).status_code == 404


def test_pages_hold_every_run_once(shop, client, member):
    made = [str(past(shop, member, asked_sql=f"SELECT {n}").pk) for n in range(5)]
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(f"{BASE}/queries/", {"limit": 2, "cursor": cursor}).json()
        seen += [row["id"] for row in page["results"]]
        cursor = page["next_cursor"]
    assert seen == made[::-1]


def test_a_running_statement_is_cancelled_once(shop, client, member):
    row = past(shop, member, verdict="running")
    where = f"{BASE}/queries/{row.pk}/cancel/"
    assert client.post(where).json() == {"id": str(row.pk), "cancelled": True}
    row.refresh_from_db()
    assert row.cancel_asked_at is not None
    DatabaseQuery.objects.update(verdict="cancelled")
    assert client.post(where).json()["cancelled"] is False


def test_a_saved_statement_lives_its_life(shop, client, member):
    body = {"database": str(shop.pk), "title": "Names", "sql": SQL}
    made = client.post(f"{BASE}/saved-queries/", body)
    assert made.status_code == 201
    where = f"{BASE}/saved-queries/{made.json()['id']}/"
    again = client.post(f"{BASE}/saved-queries/", body)
    assert (again.status_code, again.json()["code"]) == (409, "title_taken")
    assert client.patch(where, {"shared": True}).json()["shared"] is True
    row = client.get(where).json()
    assert (row["title"], row["sql"], row["own"], row["project"]) == (
        "Names", SQL, True, "acme/main",
    )  # fmt: skip
    listed = client.get(f"{BASE}/saved-queries/", {"database": str(shop.pk)}).json()
    assert [one["id"] for one in listed["results"]] == [row["id"]]
    assert client.delete(where).status_code == 204
    assert client.get(where).status_code == 404


def test_a_shared_statement_is_changed_by_its_owner_only(
    shop, project, member, outsider
):
    shop.audience = make_audience(project)
    shop.save()
    row = SavedQuery.objects.create(
        database=shop, user=member, title="Names", sql=SQL, is_shared=True
    )
    where = f"{BASE}/saved-queries/{row.pk}/"
    other = token_client(outsider, project)
    assert other.get(where).json()["own"] is False
    assert other.patch(where, {"title": "x"}).status_code == 403
    assert other.delete(where).status_code == 403
    row.is_shared = False
    row.save()
    assert other.get(where).status_code == 404
