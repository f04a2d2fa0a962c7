"""The pages of databases: whose they are, what they show, what they do."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.databases.base import ResultColumn, Rows
from connections.models import (
    Audit,
    Database,
    DatabaseQuery,
    DatabaseTable,
    Project,
    Role,
    User,
)
from memory.models import Feedback, SavedQuery, Turn, TurnTable, VerifiedExample
from memory.sql.statements import runs_seen_by
from tests.factories import make_audience, make_member, make_project
from tests.memory.memories import make_conversation
from tests.memory.sql.answering import answer_with
from tests.memory.sql.shop import make_shop, shop_tables
from tests.targets import Target

pytestmark = pytest.mark.django_db

BY_COUNTRY = "SELECT country, count(*) AS people FROM customers GROUP BY country"
HTMX = {"HX-Request": "true"}


@pytest.fixture(scope="module")
def shop_server(postgres_target: Target) -> Iterator[Target]:
    with shop_tables(postgres_target):
        yield postgres_target


@pytest.fixture
def shop(project: Project, member: User, shop_server: Target) -> Database:
    """A database that `member` may ask, and `outsider` of the same project may not."""
    audience = make_audience(project, "database:shop", [member])
    return make_shop(project, shop_server, audience=audience)


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


def url(name: str, shop: Database, *more: object) -> str:
    return reverse(name, args=[shop.pk, *more])


def run(page: Client, shop: Database, sql: str, **sent: str):
    return page.post(url("database_run", shop), {"sql": sql, **sent}, headers=HTMX)


def lines(response) -> list[list[str]]:
    text = response.content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def a_turn(project: Project, user: User, shop: Database, **fields: object) -> TurnTable:
    conversation = make_conversation(project, user)
    turn = Turn.objects.create(
        conversation=conversation, question="How many?", answer="There are 3.",
        grounded=True, model="a-model",
    )  # fmt: skip
    values = {
        "place": 0,
        "database": shop,
        "database_name": shop.name,
        "question": "How many customers are there?",
        "assumptions": ["customers = rows of customers"],
        "sql": "SELECT count(*) AS people FROM customers",
        "tables": ["public.customers"],
        "columns": [{"name": "people", "family": "number"}],
        "rows": [[1234]],
        "row_count": 1,
        "took_ms": 3.2,
        "chart": {"kind": "number", "x": None, "y": [0]},
        **fields,
    }
    return TurnTable.objects.create(turn=turn, **values)


# --- who ------------------------------------------------------------------------------


def test_nobody_but_its_audience_reaches_a_database(
    shop, member, outsider, stranger, client
):
    saved = SavedQuery.objects.create(database=shop, user=member, title="t", sql="s")
    gets = ("database", "database_schema", "database_runs")
    posts = ("database_run", "database_ask", "database_cancel", "database_csv",
             "database_save")  # fmt: skip
    for user in (outsider, stranger):
        client.force_login(user)
        for name in gets:
            assert client.get(url(name, shop)).status_code == 404
        for name in posts:
            sent = {"sql": BY_COUNTRY, "question": "?", "title": "x"}
            assert client.post(url(name, shop), sent).status_code == 404
        address = url("database_saved_delete", shop, saved.pk)
        assert client.post(address).status_code == 404
        assert shop.name not in client.get(reverse("databases")).content.decode()
    assert DatabaseQuery.objects.count() == 0
    assert SavedQuery.objects.count() == 1


def test_who_is_not_signed_in_is_asked_to(shop, client):
    for name in ("database", "database_run"):
        way = client.get if name == "database" else client.post
        assert way(url(name, shop)).headers["Location"].startswith("/login/")


def test_the_place_is_linked_only_where_there_is_a_database(
    shop, member, outsider, stranger, client
):
    link = f'href="{reverse("databases")}?project='
    for user, has in ((member, True), (outsider, False), (stranger, False)):
        client.force_login(user)
        assert (link in client.get(reverse("search")).content.decode()) is has
    Database.objects.update(enabled=False)
    client.force_login(member)
    assert link not in client.get(reverse("search")).content.decode()


def test_a_database_that_is_switched_off_is_not_there(shop, page):
    Database.objects.update(enabled=False)
    assert page.get(url("database", shop)).status_code == 404
    assert "no database for you" in page.get(reverse("databases")).content.decode()


def test_what_changes_something_wants_a_token(shop, member):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(member)
    for name in ("database_run", "database_ask", "database_cancel", "database_csv",
                 "database_save"):  # fmt: skip
        assert strict.post(url(name, shop), {"sql": BY_COUNTRY}).status_code == 403
        assert strict.get(url(name, shop)).status_code == 405


# --- the list, the schema ---------------------------------------------------------------


def test_the_list_says_what_there_is_and_where_else(shop, page, member):
    text = page.get(reverse("databases")).content.decode()
    assert url("database", shop) in text
    assert "3 tables" in text  # the hidden one is not counted
    other = make_project("acme/other")
    other.memberships.create(user=member, role=Role.VIEWER)
    text = page.get(reverse("databases"), {"project": "acme/other"}).content.decode()
    assert "no database for you in acme/other" in text
    assert "?project=acme%2Fmain" in text


def test_the_schema_shows_what_may_be_asked_and_nothing_hidden(shop, page):
    text = page.get(url("database", shop)).content.decode()
    for shown in ("customers", "orders", "placed_on", "As on the invoice", "<code>DE"):
        assert shown in text
    assert "salaries" not in text
    assert "secret_code" not in text
    assert "masked: only a mask of each value is shown" in text
    assert "only in counts, sums and averages" in text
    assert "→ customers.id" in text


def test_the_schema_is_searched_by_table_column_and_comment(shop, page):
    def found(find: str) -> str:
        address = url("database_schema", shop)
        return page.get(address, {"find": find}).content.decode()

    assert "1 of 3 tables" in found("placed")
    assert "1 of 3 tables" in found("invoice")
    assert "1 of 3 tables" in found("ORDERS total")
    assert "0 of 3 tables" in found("salaries")
    assert "No table or column is named so" in found("<script>")


def test_a_schema_that_was_never_read_says_so(shop, page):
    DatabaseTable.objects.all().delete()
    assert (
        "No table of it may be seen" in page.get(url("database", shop)).content.decode()
    )
    Database.objects.update(discovered_at=None)
    text = page.get(url("database", shop)).content.decode()
    assert "have not been read yet" in text


# --- running --------------------------------------------------------------------------


def test_a_statement_is_run_and_its_rows_shown_with_a_chart(shop, page, member):
    text = run(page, shop, BY_COUNTRY + " ORDER BY country").content.decode()
    assert '<td>DE</td><td class="number">2</td>' in text
    assert '<td>GB</td><td class="number">1</td>' in text
    assert 'data-chart="bar" data-x="0" data-y="1"' in text
    assert "Bar chart of people by country" in text
    row = DatabaseQuery.objects.get()
    assert (row.user, row.verdict, row.rows, row.shown_in) == (
        member,
        "done",
        2,
        "page",
    )


def test_the_text_of_cells_stays_text(shop, page):
    text = run(page, shop, "SELECT name, note FROM customers c JOIN orders o "
               "ON o.customer_id = c.id WHERE c.id = 3 ORDER BY o.id LIMIT 1")  # fmt: skip
    text = text.content.decode()
    assert "Cole &lt;b&gt;Ltd&lt;/b&gt;" in text
    assert "<b>Ltd" not in text


def test_a_refusal_names_its_rule_and_sends_nothing(shop, page, shop_server):
    text = run(page, shop, "DELETE FROM customers").content.decode()
    assert 'role="alert"' in text
    assert "Not run." in text
    row = DatabaseQuery.objects.get()
    assert (row.verdict, row.sent_sql) == ("refused", "")
    assert f"<code>{row.rule}</code>" in text
    assert row.rule


def test_what_the_server_says_is_told_and_recorded(shop, page):
    text = run(page, shop, "SELECT 1 / (n - n) AS x FROM numbers").content.decode()
    assert "No result." in text
    assert DatabaseQuery.objects.get().verdict == "failed"


def test_an_empty_statement_is_asked_for_again(shop, page):
    assert "Write a statement first" in run(page, shop, "").content.decode()
    assert "at most" in run(page, shop, "x" * 20_001).content.decode()
    assert DatabaseQuery.objects.count() == 0


def test_without_scripts_the_whole_page_comes_with_the_statement_kept(shop, page):
    bad = "DELETE FROM customers -- all of them"
    response = page.post(url("database_run", shop), {"sql": bad})
    assert response.status_code == 422
    assert f"\n{bad}</textarea>" in response.content.decode()
    good = page.post(url("database_run", shop), {"sql": BY_COUNTRY})
    assert good.status_code == 200
    assert "<td>DE</td>" in good.content.decode()


def test_a_page_holds_a_thousand_rows_and_says_that_there_are_more(shop, page):
    text = run(page, shop, "SELECT n FROM numbers ORDER BY n").content.decode()
    assert text.count('<tr><td class="number">') == 1000
    assert "1000 rows read, and there are more" in text
    assert 'class="grid short"' in text


def test_what_runs_is_cancelled_by_the_mark_of_the_page(shop, page, member, outsider):
    mark = str(uuid.uuid4())
    fields = {
        "tenant_id": shop.tenant_id, "project": shop.project, "database": shop,
        "database_name": shop.name, "asked_sql": "SELECT 1",
    }  # fmt: skip
    mine = DatabaseQuery.objects.create(user=member, shown_in=f"page:{mark}", **fields)
    other = DatabaseQuery.objects.create(
        user=outsider, shown_in=f"page:{mark}", **fields
    )
    address = url("database_cancel", shop)
    assert page.post(address, {"mark": str(uuid.uuid4())}).json() == {"stopped": 0}
    assert page.post(address, {"mark": mark}).json() == {"stopped": 1}
    mine.refresh_from_db()
    other.refresh_from_db()
    assert mine.cancel_asked_at is not None
    assert other.cancel_asked_at is None


# --- in words -------------------------------------------------------------------------


def test_a_question_shows_how_it_was_read_and_its_statement(shop, page, monkeypatch):
    from memory.sql.asking import Answered

    def answering(database, question, user, shown_in):
        rows = Rows(
            sql="SELECT 3", columns=(ResultColumn(name="people", family="number"),),
            rows=[(12345,)], truncated=False, took_ms=2.0,
        )  # fmt: skip
        return Answered(
            sql="SELECT count(*) FROM customers", rows=rows, by="rules",
            reading="the number of customers", assumptions=("all countries",),
            tables=("public.customers",), attempts=(), model="",
        )  # fmt: skip

    answer_with(monkeypatch, answering)
    address = url("database_ask", shop)
    text = page.post(address, {"question": "How many?"}, headers=HTMX).content.decode()
    assert "Read as: the number of customers" in text
    assert "Assumed: all countries" in text
    assert "<strong>12,345</strong>" in text
    assert "SELECT count(*) FROM customers" in text


def test_a_question_without_an_answer_says_why(shop, page, monkeypatch):
    from memory.sql.asking import Unanswered

    def answering(*_: object) -> object:
        return Unanswered(reason="No table tells of the weather.", attempts=())

    answer_with(monkeypatch, answering)
    address = url("database_ask", shop)
    text = page.post(address, {"question": "Rain?"}, headers=HTMX).content.decode()
    assert "Not answered." in text
    assert "No table tells of the weather." in text
    text = page.post(address, {"question": " "}, headers=HTMX).content.decode()
    assert "Write a question first." in text


# --- CSV, saved statements, history ---------------------------------------------------


def test_the_csv_has_all_rows_and_no_formulas(shop, page):
    sql = "SELECT id, note FROM orders ORDER BY id"
    response = page.post(url("database_csv", shop), {"sql": sql})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    rows = lines(response)
    assert rows[:3] == [["id", "note"], ["1", "'=1+1"], ["2", "-5"]]
    assert len(rows) == 121


def test_a_csv_that_may_not_be_is_a_page_that_says_why(shop, page):
    response = page.post(url("database_csv", shop), {"sql": "DROP TABLE orders"})
    assert response.status_code == 422
    assert "Not run." in response.content.decode()
    assert "DROP TABLE orders</textarea>" in response.content.decode()


def test_a_statement_is_saved_changed_shared_and_deleted(
    shop, page, member, outsider, client
):
    address = url("database_save", shop)
    page.post(address, {"sql": BY_COUNTRY, "title": "By country"})
    row = SavedQuery.objects.get()
    assert (row.user, row.sql, row.is_shared) == (member, BY_COUNTRY, False)
    again = page.post(address, {"sql": "SELECT 1", "title": "By country"})
    assert again.status_code == 422
    assert "already saved a query as “By country”" in again.content.decode()
    changed = {
        "sql": "SELECT 2",
        "title": "Two",
        "shared": "true",
        "instead_of": row.pk,
    }
    page.post(address, changed)
    row.refresh_from_db()
    assert (row.title, row.sql, row.is_shared) == ("Two", "SELECT 2", True)
    text = page.get(url("database", shop), {"saved": row.pk}).content.decode()
    assert "\nSELECT 2</textarea>" in text
    assert [a.verb for a in Audit.objects.filter(target=str(row.pk)).order_by("pk")] == [
        "saved_query.saved", "saved_query.saved",
    ]  # fmt: skip
    page.post(url("database_saved_delete", shop, row.pk))
    assert not SavedQuery.objects.exists()
    assert Audit.objects.filter(verb="saved_query.deleted").count() == 1


def test_a_shared_statement_is_read_by_others_and_changed_by_its_owner(
    project, shop_server, member, outsider, client
):
    shop = make_shop(project, shop_server)  # open to all members
    rows = [
        SavedQuery.objects.create(
            database=shop, user=member, title=title, sql="SELECT 7", is_shared=shared
        )
        for title, shared in (("Open one", True), ("Closed one", False))
    ]
    client.force_login(outsider)
    text = client.get(url("database", shop)).content.decode()
    assert "Open one" in text
    assert "Closed one" not in text
    assert client.get(url("database", shop), {"saved": rows[0].pk}).status_code == 200
    assert client.get(url("database", shop), {"saved": rows[1].pk}).status_code == 404
    assert (
        client.post(url("database_saved_delete", shop, rows[0].pk)).status_code == 404
    )
    sent = {"sql": "SELECT 8", "title": "Mine", "instead_of": rows[0].pk}
    client.post(url("database_save", shop), sent)
    rows[0].refresh_from_db()
    assert rows[0].sql == "SELECT 7"
    assert SavedQuery.objects.get(title="Mine").user == outsider


def test_history_is_ones_own_and_everybodys_to_an_administrator(
    project, shop_server, member, outsider, stranger, client
):
    shop = make_shop(project, shop_server)
    boss = make_member(project, "boss@acme.test", Role.ADMIN)
    for user in (member, outsider):
        client.force_login(user)
        run(client, shop, f"SELECT '{user.pk}' AS who FROM numbers LIMIT 1")  # noqa: S608
    address = url("database_runs", shop)

    def seen(user: User, **asked: str) -> list[bool]:
        client.force_login(user)
        text = client.get(address, asked).content.decode()
        return [f"&#x27;{one.pk}&#x27; AS who" in text for one in (member, outsider)]

    assert seen(member) == [True, False]
    assert seen(member, whose="all") == [True, False]
    assert seen(boss) == [False, False]
    assert seen(boss, whose="all") == [True, True]
    assert seen(boss, whose="all", verdict="refused") == [False, False]
    assert list(runs_seen_by(stranger)) == []
    ruler = make_member(make_project("acme/far"), "far@acme.test", Role.ADMIN)
    assert list(runs_seen_by(ruler)) == []


def test_what_was_run_is_opened_again(shop, page, outsider, client):
    run(page, shop, BY_COUNTRY)
    row = DatabaseQuery.objects.get()
    text = page.get(url("database", shop), {"run": row.pk}).content.decode()
    assert f"\n{BY_COUNTRY}</textarea>" in text
    for bad in (str(uuid.uuid4()), "x", "1"):
        assert page.get(url("database", shop), {"run": bad}).status_code == 404


def test_pages_of_history_hold_every_run_once(shop, page, member):
    now = timezone.now()
    for n in range(53):
        row = DatabaseQuery.objects.create(
            tenant_id=shop.tenant_id, project=shop.project, database=shop,
            database_name="shop", user=member, asked_sql=f"SELECT {n:03}x",
            verdict="done",
        )  # fmt: skip
        DatabaseQuery.objects.filter(pk=row.pk).update(
            started_at=now - timedelta(minutes=n)
        )
    address = url("database_runs", shop)
    first = page.get(address).content.decode()
    second = page.get(address, {"page": "2"}).content.decode()
    assert (first.count("x</code>"), second.count("x</code>")) == (50, 3)
    assert "SELECT 052x" in second
    assert page.get(address, {"page": "x"}).status_code == 404


# --- under an answer ------------------------------------------------------------------


def test_a_table_stands_under_its_answer(shop, page, project, member):
    row = a_turn(project, member, shop)
    text = page.get(reverse("turn", args=[row.turn_id])).content.decode()
    assert "How many customers are there?" in text
    assert "Assumed: customers = rows of customers" in text
    assert "<strong>1,234</strong>" in text
    assert "SQL · 1 table · 1 row · 3 ms" in text
    assert f"{url('database', shop)}?table={row.pk}" in text
    opened = page.get(url("database", shop), {"table": row.pk}).content.decode()
    assert f"\n{row.sql}</textarea>" in opened


def test_an_answer_of_a_database_that_is_closed_by_now_is_withheld(
    shop, page, project, member
):
    row = a_turn(project, member, shop)
    address = reverse("turn", args=[row.turn_id])
    assert "There are 3." in page.get(address).content.decode()
    shop.audience = make_audience(project, "database:nobody")
    shop.save()
    text = page.get(address).content.decode()
    assert "1,234" not in text
    assert "There are 3." not in text
    assert "closed to you now" in text
    for name in ("turn_table_csv", "turn_table_verdict"):
        where = reverse(name, args=[row.turn_id, 0])
        assert page.post(where, {"verdict": "right"}).status_code == 404


def test_an_answer_of_a_database_that_is_gone_stays_and_is_not_run_again(
    shop, page, project, member
):
    row = a_turn(project, member, shop)
    TurnTable.objects.update(database=None)
    text = page.get(reverse("turn", args=[row.turn_id])).content.decode()
    assert "1,234" in text
    assert "Edit and run again" not in text


def test_the_csv_of_an_answer_is_what_was_stored(shop, page, project, member):
    row = a_turn(project, member, shop, rows=[["=2"]])
    response = page.post(reverse("turn_table_csv", args=[row.turn_id, 0]))
    assert lines(response) == [["people"], ["'=2"]]
    assert DatabaseQuery.objects.count() == 0


def test_the_csv_of_a_cut_answer_is_run_anew(shop, page, project, member):
    row = a_turn(
        project, member, shop, sql="SELECT id FROM orders ORDER BY id",
        columns=[{"name": "id", "family": "number"}], rows=[[1]], row_count=1,
        truncated=True, chart=None,
    )  # fmt: skip
    response = page.post(reverse("turn_table_csv", args=[row.turn_id, 0]))
    assert len(lines(response)) == 121
    assert DatabaseQuery.objects.get().shown_in == f"turn:{row.turn_id}:csv"
    TurnTable.objects.update(sql="DROP TABLE orders")
    refused = page.post(reverse("turn_table_csv", args=[row.turn_id, 0]), follow=True)
    assert "It may not be run any more" in refused.content.decode()


def test_right_proposes_an_example_and_wrong_complains(shop, page, project, member):
    row = a_turn(project, member, shop)
    address = reverse("turn_table_verdict", args=[row.turn_id, 0])
    text = page.post(address, {"verdict": "right"}, headers=HTMX).content.decode()
    assert "Marked as right" in text
    example = VerifiedExample.objects.get()
    assert (example.question, example.state) == (row.question, "waiting")
    sent = {"verdict": "wrong", "note": "It counts orders twice."}
    text = page.post(address, sent, headers=HTMX).content.decode()
    assert "Marked as wrong" in text
    feedback = Feedback.objects.get()
    assert (feedback.verdict, feedback.state) == ("wrong", "open")
    assert feedback.note.endswith("is wrong. It counts orders twice.")
    assert "result of shop" in feedback.note
    assert page.post(address, {"verdict": "other"}).status_code == 404


def test_the_table_of_anothers_answer_does_not_exist(
    shop, project, member, outsider, stranger, client
):
    row = a_turn(project, member, shop)
    for user in (outsider, stranger):
        client.force_login(user)
        for name in ("turn_table_csv", "turn_table_verdict"):
            where = reverse(name, args=[row.turn_id, 0])
            assert client.post(where, {"verdict": "right"}).status_code == 404
        assert client.get(url("database", shop), {"table": row.pk}).status_code == 404
    assert not VerifiedExample.objects.exists()


@pytest.mark.parametrize(
    "chart",
    [{"kind": "bar", "x": 9, "y": [0]}, {"kind": "pie", "x": 0, "y": [0]}, {"y": [7]},
     {"kind": "line", "x": "0", "y": [0]}, []],
)  # fmt: skip
def test_a_stored_chart_of_what_is_not_there_is_not_drawn(
    chart, shop, page, project, member
):
    row = a_turn(project, member, shop, chart=chart)
    text = page.get(reverse("turn", args=[row.turn_id])).content.decode()
    assert '<td class="number">1234</td>' in text
    assert "data-chart" not in text
