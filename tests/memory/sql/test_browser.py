"""Databases in a browser: run, refuse, sort, draw, keep, cancel, phone, dark.

With FABRIC_SCREENSHOTS naming a folder, it puts its pictures there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from connections.databases.base import ResultColumn, Rows
from connections.models import Database, DatabaseQuery, Project, User
from memory.models import SavedQuery, Turn, TurnTable, VerifiedExample
from memory.sql.charts import chart_of
from tests.memory.sql.answering import answer_with
from tests.memory.sql.shop import make_shop, shop_tables
from tests.site import streaming
from tests.site.browsing import PHONE, too_wide
from tests.site.conftest import (  # noqa: F401 # fixtures
    _no_broker,
    _sync_calls,
    asker,
    browser,
    page,
)
from tests.site.streaming import Script, Told, started, store
from tests.targets import Target

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

BY_MONTH = """SELECT date_trunc('month', placed_on)::date AS month, sum(total) AS revenue
FROM orders GROUP BY month ORDER BY month"""
BY_CUSTOMER = """SELECT c.name, sum(o.total) AS revenue, count(*) AS orders
FROM customers c JOIN orders o ON o.customer_id = c.id
GROUP BY c.name ORDER BY c.name"""
SLOW = "SELECT count(*) AS pairs FROM numbers a JOIN numbers b ON a.n * b.n > a.n - b.n"


@pytest.fixture(scope="module")
def shop_server(postgres_target: Target) -> Iterator[Target]:
    with shop_tables(postgres_target):
        yield postgres_target


@pytest.fixture
def shop(asker: User, shop_server: Target) -> Database:  # noqa: F811
    return make_shop(Project.objects.get(slug="main"), shop_server, title="The shop")


@pytest.fixture
def at_shop(page: Page, shop: Database) -> Page:  # noqa: F811
    page.goto(f"/databases/{shop.pk}/")
    expect(page.locator("[data-without-script]").first).to_be_hidden()
    return page


def run(page: Page, sql: str) -> None:  # noqa: F811
    page.get_by_label("SQL", exact=True).fill(sql)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("[data-running]")).to_have_text("")


def picture(page: Page, name: str) -> None:  # noqa: F811
    if folder := os.environ.get("FABRIC_SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


def column(page: Page, place: int) -> list[str]:  # noqa: F811
    cells = f"table.grid tbody td:nth-child({place})"
    return page.locator(cells).all_text_contents()


def head_of(page: Page, name: str) -> Locator:  # noqa: F811
    grid = page.locator("table.grid thead")
    return grid.get_by_role("button", name=name, exact=True)


def test_the_top_leads_to_it_and_a_statement_is_run_by_keys(
    page: Page,  # noqa: F811
    shop: Database,
) -> None:
    page.goto("/")
    page.get_by_role("link", name="Databases").click()
    picture(page, "list")
    page.get_by_role("link", name="The shop").click()
    box = page.get_by_label("SQL", exact=True)
    box.fill(BY_CUSTOMER)
    box.press("Control+Enter")
    expect(page.locator("table.grid tbody tr")).to_have_count(3)
    expect(page.locator("[data-running]")).to_have_text("")
    expect(page.locator("#kept")).to_contain_text("3 rows")
    expect(
        page.get_by_role("img", name=re.compile("Bar chart of revenue"))
    ).to_be_visible()
    picture(page, "bars")


def test_columns_sort_and_say_so(at_shop: Page) -> None:
    run(at_shop, "SELECT id, note, total FROM orders ORDER BY id LIMIT 30")
    head = head_of(at_shop, "total")
    cell = at_shop.locator("table.grid th").nth(2)
    expect(cell).to_have_attribute("aria-sort", "none")
    head.focus()
    at_shop.keyboard.press("Enter")
    at_shop.keyboard.press("Enter")
    expect(cell).to_have_attribute("aria-sort", "descending")
    expect(at_shop.locator("[data-sorted]")).to_have_text(
        "Sorted by total, descending."
    )
    totals = [float(text) for text in column(at_shop, 3)]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] == 315.0
    head_of(at_shop, "note").click()
    assert column(at_shop, 2)[:3] == ["-5", "=1+1", "NULL"]  # NULL comes last
    at_shop.keyboard.press("Enter")
    assert column(at_shop, 2)[:3] == ["=1+1", "-5", "NULL"]
    at_shop.keyboard.press("Enter")
    assert column(at_shop, 1) == [str(n) for n in range(1, 31)]


def test_fifty_rows_are_shown_and_the_rest_on_demand(at_shop: Page) -> None:
    run(at_shop, "SELECT id, total FROM orders ORDER BY id")
    rows = at_shop.locator("table.grid tbody tr:visible")
    expect(rows).to_have_count(50)
    expect(at_shop.locator(".grid-facts")).to_contain_text("50 of 120 rows")
    head_of(at_shop, "id").press("Enter")
    head_of(at_shop, "id").press("Enter")
    expect(rows.first).to_contain_text("120")  # sorted are all, not those shown
    at_shop.get_by_role("button", name="Show all 120").click()
    expect(rows).to_have_count(120)


def test_a_refusal_is_in_words_and_the_statement_stays(at_shop: Page) -> None:
    run(at_shop, "DELETE FROM customers")
    alert = at_shop.get_by_role("alert")
    expect(alert).to_contain_text("Not run.")
    expect(alert.locator("code")).not_to_have_text("")
    expect(at_shop.get_by_label("SQL", exact=True)).to_have_value(
        "DELETE FROM customers"
    )
    expect(at_shop.locator("#kept")).to_contain_text("refused by the guard")
    picture(at_shop, "refused")


def test_names_go_into_the_statement_from_the_schema(at_shop: Page) -> None:
    box = at_shop.get_by_label("SQL", exact=True)
    box.fill("SELECT name FROM")
    at_shop.get_by_role("button", name="Insert customers").click()
    expect(box).to_have_value("SELECT name FROM customers")
    at_shop.keyboard.press("Control+Enter")
    expect(at_shop.locator("table.grid tbody tr")).to_have_count(3)
    find = at_shop.get_by_label("Search tables and columns")
    find.fill("placed")
    expect(at_shop.locator("#schema")).to_contain_text("1 of 3 tables")
    expect(at_shop.get_by_role("button", name="placed_on")).to_be_visible()


def test_tab_leaves_the_editor_unless_it_is_to_indent(at_shop: Page) -> None:
    box = at_shop.get_by_label("SQL", exact=True)
    box.focus()
    at_shop.keyboard.press("Tab")
    expect(box).not_to_be_focused()
    at_shop.get_by_label("Tab indents").check()
    box.focus()
    at_shop.keyboard.press("Tab")
    expect(box).to_be_focused()
    expect(box).to_have_value("  ")


def test_what_takes_long_is_cancelled(at_shop: Page) -> None:
    at_shop.get_by_label("SQL", exact=True).fill(SLOW)
    at_shop.get_by_role("button", name="Run", exact=True).click()
    cancel = at_shop.get_by_role("button", name="Cancel")
    expect(cancel).to_be_visible()
    expect(at_shop.locator("[data-running]")).to_contain_text("Running for 1 s")
    cancel.click()
    expect(at_shop.get_by_role("alert")).to_contain_text("No result.", timeout=5000)
    expect(cancel).to_be_hidden()
    assert DatabaseQuery.objects.get().verdict == "cancelled"
    run(at_shop, "SELECT name FROM customers")
    expect(at_shop.locator("table.grid tbody tr")).to_have_count(3)


def test_a_result_is_kept_and_handed_out(at_shop: Page) -> None:
    run(at_shop, BY_MONTH)
    expect(at_shop.get_by_role("img", name=re.compile("Line chart"))).to_be_visible()
    picture(at_shop, "line")
    with at_shop.expect_download() as download:
        at_shop.get_by_role("button", name="CSV").click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    assert text.splitlines()[0] == "month,revenue"
    assert len(text.splitlines()) == 6
    at_shop.get_by_text("Save…").click()
    at_shop.get_by_label("Title").fill("Revenue by month")
    at_shop.get_by_role("button", name="Save", exact=True).click()
    expect(at_shop.get_by_role("status").first).to_contain_text("Saved as")
    assert SavedQuery.objects.get().sql.replace("\r\n", "\n") == BY_MONTH
    expect(at_shop.get_by_label("SQL of “Revenue by month”")).to_have_value(BY_MONTH)
    picture(at_shop, "saved")


def test_a_question_in_words_shows_the_statement_to_go_on_from(
    at_shop: Page, monkeypatch
) -> None:
    from memory.sql.asking import Answered

    def answering(database, question, user, shown_in):
        columns = (ResultColumn(name="people", family="number"),)
        rows = Rows(sql="", columns=columns, rows=[(3,)], truncated=False, took_ms=2)
        return Answered(
            sql="SELECT count(*) AS people FROM customers",
            rows=rows,
            reading="the number of customers",
            assumptions=("all countries",),
            tables=("public.customers",),
            attempts=(),
            by="rules",
            model="",
        )

    answer_with(monkeypatch, answering)
    at_shop.get_by_label("Ask in words").fill("How many customers are there?")
    at_shop.get_by_role("button", name="Ask", exact=True).click()
    expect(at_shop.locator(".big-number strong")).to_have_text("3")
    picture(at_shop, "words")
    at_shop.get_by_role("button", name="Put it into the editor").click()
    box = at_shop.get_by_label("SQL", exact=True)
    expect(box).to_have_value("SELECT count(*) AS people FROM customers")
    expect(box).to_be_focused()


def test_a_server_that_fails_leaves_the_statement(at_shop: Page) -> None:
    at_shop.expected.append("500")  # type: ignore[attr-defined]
    at_shop.expected.append("Response Status Error")  # type: ignore[attr-defined]
    at_shop.route("**/run/", lambda route: route.fulfill(status=500, body="no"))
    run(at_shop, "SELECT name FROM customers")
    expect(at_shop.get_by_role("alert")).to_contain_text("could not answer (error 500)")
    box = at_shop.get_by_label("SQL", exact=True)
    expect(box).to_have_value("SELECT name FROM customers")
    expect(at_shop.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_nothing_reaches_beyond_a_phone(page: Page, shop: Database) -> None:  # noqa: F811
    page.set_viewport_size(PHONE)
    page.goto("/databases/")
    assert too_wide(page) == []
    page.goto(f"/databases/{shop.pk}/")
    assert too_wide(page) == []
    run(page, BY_CUSTOMER)
    expect(page.locator("canvas")).to_be_visible()
    assert too_wide(page) == []
    picture(page, "phone")
    run(page, "SELECT * FROM (SELECT id, total, placed_on, customer_id FROM orders) q")
    assert too_wide(page) == []
    page.goto(f"/databases/{shop.pk}/runs/")
    assert too_wide(page) == []
    picture(page, "phone-runs")


def test_it_is_dark_where_the_system_is(at_shop: Page) -> None:
    at_shop.emulate_media(color_scheme="dark")
    run(at_shop, BY_MONTH)
    expect(at_shop.locator("canvas")).to_be_visible()
    picture(at_shop, "dark")
    pixels = """canvas => [...canvas.getContext("2d").getImageData(
        0, 0, canvas.width, canvas.height).data].filter((v, at) => at % 4 === 3 && v).length"""
    assert at_shop.locator("canvas").evaluate(pixels) > 500
    colour = "canvas => Chart.getChart(canvas).data.datasets[0].borderColor"
    dark = at_shop.locator("canvas").evaluate(colour)
    at_shop.emulate_media(color_scheme="light")
    find = (
        "Chart.getChart(document.querySelector('canvas')).data.datasets[0].borderColor"
    )
    at_shop.wait_for_function(f"was => {find} !== was", arg=dark)


# --- under an answer ------------------------------------------------------------------

MONTHS = (
    (date(2026, 1, 1), 12400.5),
    (date(2026, 2, 1), 9800.0),
    (date(2026, 3, 1), 15020.25),
)


@pytest.fixture
def script(monkeypatch, settings) -> Iterator[Script]:
    made = Script()
    monkeypatch.setattr(streaming, "SCRIPT", made)
    settings.ROOT_URLCONF = "tests.site.streaming"
    yield made
    made.go_on.set()


def months() -> Rows:
    columns = (
        ResultColumn(name="month", family="date"),
        ResultColumn(name="revenue", family="number"),
    )
    return Rows(sql="", columns=columns, rows=MONTHS, truncated=False, took_ms=4.2)


def answering(script: Script, shop: Database) -> None:
    chart = chart_of(months())
    assert chart is not None
    rows = [[day.isoformat(), total] for day, total in MONTHS]
    columns = [
        {"name": "month", "family": "date"},
        {"name": "revenue", "family": "number"},
    ]
    told = {
        "connection": "shop",
        "reading": "Revenue by month of 2026",
        "assumptions": ["revenue = sum(orders.total)"],
        "sql": BY_MONTH,
        "tables": ["public.orders"],
        "columns": columns,
        "rows": rows,
        "row_count": 3,
        "truncated": False,
        "took_ms": 4.2,
    }

    def script_of(turn: Turn) -> Iterator[Told]:
        yield started(turn)
        yield "sql", {"place": 0, **told}
        yield "chart", {"place": 0, **chart.as_json()}
        yield "delta", {"text": "March was the best month with 15,020.25."}
        script.wait()
        TurnTable.objects.create(
            turn=turn, place=0, database=shop, database_name="shop",
            question="What was the revenue by month?", assumptions=told["assumptions"],
            sql=BY_MONTH, tables=told["tables"], columns=columns, rows=rows, row_count=3,
            took_ms=4.2, chart=chart.as_json(),
        )  # fmt: skip
        yield store(turn, "March was the best month with 15,020.25.", grounded=True)

    script.answering = script_of


def test_a_table_comes_with_the_answer_and_stays(
    script: Script,
    page: Page,  # noqa: F811
    shop: Database,
) -> None:
    answering(script, shop)
    page.get_by_label("Your question").fill("What was the revenue by month?")
    page.get_by_role("button", name="Ask", exact=True).click()
    live = page.locator(".pending .answer-table")
    expect(live).to_contain_text("Revenue by month of 2026")
    expect(live).to_contain_text("Assumed: revenue = sum(orders.total)")
    expect(live.locator("tbody tr")).to_have_count(3)
    expect(live.locator("canvas")).to_be_visible()
    live.get_by_role("button", name="revenue").click()
    assert column(page, 2) == ["9800", "12400.5", "15020.25"]
    expect(page.locator("#announcer")).to_contain_text("A table of 3 rows from shop.")
    picture(page, "live")
    script.go_on.set()
    turn = page.locator("article.turn[id]")
    expect(turn.locator("canvas")).to_be_visible()
    page.reload()
    expect(turn.locator("canvas")).to_be_visible()
    expect(turn.locator("tbody tr")).to_have_count(3)
    expect(turn).to_contain_text("SQL · 1 table · 3 rows · 4 ms")
    picture(page, "answer")
    turn.get_by_role("button", name="Right").click()
    expect(turn).to_contain_text("Marked as right")
    assert VerifiedExample.objects.count() == 1
    page.set_viewport_size(PHONE)
    assert too_wide(page) == []
    picture(page, "answer-phone")
    turn.get_by_role("link", name="Edit and run again").click()
    expect(page.get_by_label("SQL", exact=True)).to_have_value(BY_MONTH)
