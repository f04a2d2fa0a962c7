"""What the pages of databases give out and keep: CSV, saved statements, history."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import Audit, DatabaseQuery, Role, User
from memory.models import SavedQuery
from memory.sql.statements import runs_seen_by
from tests.factories import make_member, make_project
from tests.memory.sql.pages.asking_pages import BY_COUNTRY, lines, run, url
from tests.memory.sql.shop import make_shop

pytestmark = pytest.mark.django_db


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
