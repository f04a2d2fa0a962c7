"""Provenance in a browser: from an answer to its sources, light, dark, on a phone.

With FABRIC_SCREENSHOTS=DIR it puts its pictures there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from graph.models import Record
from tests.site.browsing import PHONE, too_wide

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("FABRIC_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_an_answer_leads_to_its_sources_and_on_to_what_they_caused(page: Page) -> None:
    page.locator(".samples button").first.click()
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_role("link", name="Provenance").first.click()
    expect(page.get_by_role("heading", name="What the answer rests on")).to_be_visible()
    expect(page.get_by_text("SHA-256 of its bytes").first).to_be_visible()
    picture(page, "answer_trail")
    page.locator(".trail-claim a").first.click()
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()
    page.get_by_role("link", name="Provenance").click()
    expect(page.get_by_role("heading", name="What came of it")).to_be_visible()
    assert too_wide(page) == []
    picture(page, "node_light")
    page.emulate_media(color_scheme="dark")
    picture(page, "node_dark")
    page.set_viewport_size(PHONE)
    assert too_wide(page) == []
    picture(page, "node_phone")
    record = Record.objects.get(
        key=page.locator(".trail-origin code").first.inner_text()
    )
    page.locator(".trail-origin a").first.click()
    expect(page.get_by_role("heading", name="What this record caused")).to_be_visible()
    assert page.url.endswith(reverse("record_caused", args=[record.pk]))
    assert too_wide(page) == []
