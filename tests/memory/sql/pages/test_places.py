"""The pages of databases: whose they are, the list of them, the schema."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from connections.models import Database, DatabaseQuery, DatabaseTable, Role
from memory.models import SavedQuery
from tests.factories import make_project
from tests.memory.sql.pages.asking_pages import BY_COUNTRY, url

pytestmark = pytest.mark.django_db


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
