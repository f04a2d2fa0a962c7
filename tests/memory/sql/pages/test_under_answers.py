"""The tables that stand under an answer."""

from __future__ import annotations

import pytest
from django.urls import reverse

from connections.models import DatabaseQuery
from memory.models import Feedback, TurnTable, VerifiedExample
from tests.factories import make_audience
from tests.memory.sql.pages.asking_pages import HTMX, a_turn, lines, url

pytestmark = pytest.mark.django_db


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
