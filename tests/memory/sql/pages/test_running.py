"""Statements and questions run on the pages of databases."""

from __future__ import annotations

import uuid

import pytest

from connections.databases.base import ResultColumn, Rows
from connections.models import DatabaseQuery
from tests.memory.sql.answering import answer_with
from tests.memory.sql.pages.asking_pages import BY_COUNTRY, HTMX, run, url

pytestmark = pytest.mark.django_db


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
