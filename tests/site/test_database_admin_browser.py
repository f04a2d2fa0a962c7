"""The form of a connection in a browser: light, dark, on a phone, with a test's result.

With FABRIC_SCREENSHOTS=1 it puts its pictures into the folder FABRIC_PICTURES names.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from connections.models import Project
from tests.site.browsing import PHONE, too_wide
from tests.targets import make_database

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def picture(page: Page, name: str) -> None:
    if os.environ.get("FABRIC_SCREENSHOTS"):
        folder = Path(os.environ["FABRIC_PICTURES"])
        page.screenshot(path=str(folder / f"{name}.png"), full_page=True)


def test_a_connection_is_tested_and_its_page_says_what_it_may(
    page: Page, postgres_target
) -> None:
    database = make_database(Project.objects.get(), postgres_target)
    postgres_target.run(
        "CREATE TABLE pears (id int)", f"GRANT DELETE ON pears TO {database.user}"
    )
    try:
        page.goto(f"/admin/connections/database/{database.pk}/change/")
        expect(page.get_by_text("Not tested yet.")).to_be_visible()
        page.get_by_role("button", name="Save and test").click()
        table = page.get_by_role("table", name="What the login may do beyond reading")
        expect(table).to_be_visible()
        expect(table).to_contain_text("public.pears")
    finally:
        postgres_target.run("DROP TABLE pears")
    password = page.locator("#id_password")
    expect(password).to_have_value("")
    expect(password).to_have_attribute("type", "password")
    picture(page, "form-light")
    page.emulate_media(color_scheme="dark")
    page.reload()
    picture(page, "form-dark")
    page.set_viewport_size(PHONE)
    page.reload()
    picture(page, "form-phone")
    assert too_wide(page) == []
