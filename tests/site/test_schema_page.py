"""The admin's page of a schema in a browser: drawn, and nothing too wide."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from connections.databases.base import ForeignKey
from connections.databases.found import Found, FoundColumn, FoundTable
from connections.databases.snapshot import store
from connections.models import Database, DatabaseColumn, Project
from tests.site.browsing import PHONE, too_wide
from tests.targets import Target, make_database

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

NOWHERE = Target("postgres", "127.0.0.1", 1, "shop", "reader", "none", {})
NAMES = (
    "customers", "orders", "order_items", "products", "categories", "suppliers",
    "shippers", "employees", "payments", "refunds", "countries", "warehouses",
)  # fmt: skip
REFERS = {
    "orders": ("customers", "employees", "shippers"),
    "order_items": ("orders", "products"),
    "products": ("categories", "suppliers"),
    "payments": ("orders",),
    "refunds": ("payments",),
    "customers": ("countries",),
    "suppliers": ("countries",),
    "warehouses": ("countries",),
}


def table(name, schema="sales"):
    targets = REFERS.get(name, ())
    plain = [("id", "bigint", "number"), ("name", "text", "text"),
             ("email_address", "character varying(120)", "text"),
             ("state", "sales.state_of_an_order", "text")]  # fmt: skip
    columns = [*plain, *((f"{target}_id", "bigint", "number") for target in targets)]
    return FoundTable(
        schema=schema, name=name, kind="table", comment=f"All the {name} there are",
        rows=12000,
        columns=tuple(
            FoundColumn(
                name=n, position=place, data_type=kind, family=family, nullable=False,
                comment="What it is" if n == "state" else "", is_key=n == "id",
                values=("open", "paid", "sent") if n == "state" else (),
            )
            for place, (n, kind, family) in enumerate(columns, start=1)
        ),
        keys=tuple(
            ForeignKey(
                name=f"{name}_{target}", columns=(f"{target}_id",),
                target_schema=schema, target_table=target, target_columns=("id",),
            )
            for target in targets
        ),
    )  # fmt: skip


@pytest.fixture
def database(asker) -> Database:
    made = make_database(Project.objects.get(slug="main"), NOWHERE, title="Shop")
    tables = (*map(table, NAMES), table("audit_log", "internal"))
    for day, found in enumerate((tables[:-1], tables), start=1):
        store(
            made,
            Found(
                flavour="postgres", version="18.1", default_schema="sales", tables=found
            ),
            {},
            datetime(2026, 3, day, tzinfo=UTC),
        )  # fmt: skip
    return made


def shoot(page, name):
    """Keep a picture where somebody asked for them."""
    if folder := os.environ.get("FABRIC_PICTURES"):
        page.screenshot(path=str(Path(folder) / f"schema-{name}.png"), full_page=True)


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_the_page_is_drawn_and_fits(page, database, look, live_server):
    if look == "phone":
        page.set_viewport_size(PHONE)
    if look == "dark":
        page.emulate_media(color_scheme="dark")
    page.goto(reverse("admin:database_schema", args=[database.pk]))
    expect(page.locator("#schema-picture")).to_have_attribute("data-drawn", "13")
    page.locator("details[data-table] summary", has_text="order_items").first.click()
    expect(page.get_by_role("button", name="Save").first).to_be_visible()
    shoot(page, look)
    assert too_wide(page) == []


def test_a_column_is_masked_by_a_choice_and_a_click(page, database):
    page.goto(reverse("admin:database_schema", args=[database.pk]) + "?query=payments")
    row = page.locator("details[data-table]", has_text="payments").first
    if row.get_attribute("open") is None:
        row.locator("summary").click()
    row.get_by_label("How much of state may be seen").select_option("masked")
    row.get_by_role("button", name="Save").click()
    expect(page.get_by_text("1 changed")).to_be_visible()
    found = DatabaseColumn.objects.get(table__name="payments", name="state")
    assert (found.exposure, found.is_chosen, found.values) == ("masked", True, [])
