"""The pages in a browser: asking, reading, keyboard, phone, errors.

With FABRIC_SCREENSHOTS=1 it puts its pictures into docs/: chat.png and admin.png.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect

from connections.models import Project, User
from graph.models import Node
from tests.site.browsing import PHONE, load_demo, sign_in, too_wide

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


def test_a_sample_question_is_answered_with_sources_that_open(page: Page) -> None:
    page.locator(".samples button").first.click()
    card = page.locator(".card").first
    expect(card).to_be_visible()
    expect(page.locator(".effort")).to_contain_text("[Λ+")
    page.locator("a.cite").first.click()
    expect(card).to_be_focused()
    conversation = page.url
    assert "/conversations/" in conversation
    card.get_by_role("link", name="Open in Fabric").click()
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()
    page.goto(conversation)
    expect(page.locator(".card").first).to_be_visible()


def test_a_long_answer_scrolls_within_the_page_only(page: Page) -> None:
    page.set_viewport_size({"width": 900, "height": 420})
    ask(page, "Who has the key of the north cold store?")
    expect(page.locator(".card").first).to_be_visible()
    page.wait_for_timeout(600)
    assert page.evaluate("[scrollY, document.documentElement.scrollTop]") == [0, 0]
    expect(page.get_by_role("link", name="Fabric", exact=True)).to_be_in_viewport()
    expect(page.get_by_label("Your question")).to_be_in_viewport()


def test_a_second_question_stays_in_the_conversation(page: Page) -> None:
    ask(page, "Who has the key of the north cold store?")
    expect(page.locator("article.turn[id]")).to_have_count(1)
    first = page.url
    ask(page, "What is wrong with the yellow forklift?")
    expect(page.locator("article.turn[id]")).to_have_count(2)
    assert page.url.split("#")[0] == first.split("#")[0]
    expect(page.locator(".history li")).to_have_count(1)
    page.reload()
    expect(page.locator("article.turn[id]")).to_have_count(2)


def test_it_works_by_keyboard_alone(page: Page) -> None:
    page.locator("#main").focus()
    page.keyboard.press("/")
    box = page.get_by_label("Your question")
    expect(box).to_be_focused()
    page.keyboard.type("Who has the key")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("of the north cold store?")
    assert box.input_value() == "Who has the key\nof the north cold store?"
    page.keyboard.press("Enter")
    expect(page.locator("article.turn[id] .card").first).to_be_visible()
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    expect(page.locator("#announcer")).to_contain_text(re.compile(r"\d sources?\."))
    page.keyboard.press("Escape")
    expect(box).not_to_be_focused()


def test_the_first_tab_leads_past_the_sidebar(page: Page) -> None:
    page.reload()
    page.evaluate("document.body.tabIndex = -1; document.body.focus()")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()


def test_waiting_shows_at_once_and_escape_stops_it(page: Page) -> None:
    page.route("**/api/v1/chat/", lambda route: None)
    ask(page, "Who has the key?")
    expect(page.locator(".pending")).to_be_visible(timeout=100)
    page.keyboard.press("Escape")
    expect(page.locator(".pending")).to_have_count(0)
    expect(page.locator(".failed")).to_have_count(0)
    expect(page.get_by_label("Your question")).to_have_value("Who has the key?")


def test_an_error_of_the_server_is_said_and_can_be_tried_again(page: Page) -> None:
    page.expected += ["500"]  # type: ignore[attr-defined]
    page.route("**/api/v1/chat/", lambda route: route.fulfill(status=500, body="boom"))
    ask(page, "Who has the key of the north cold store?")
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("error 500")
    page.unroute("**/api/v1/chat/")
    trouble.get_by_role("button", name="Try again").click()
    expect(page.locator(".card").first).to_be_visible()
    expect(trouble).to_have_count(0)


def test_a_network_that_is_gone_is_said(page: Page) -> None:
    page.expected += ["Failed to load", "ERR_"]  # type: ignore[attr-defined]
    page.route("**/api/v1/chat/", lambda route: route.abort())
    ask(page, "Who has the key?")
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(page.get_by_role("button", name="Try again")).to_be_focused()


def test_a_phone_never_scrolls_sideways(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto("/")
    assert too_wide(page) == []
    ask(page, "Who has the key of the north cold store?")
    expect(page.locator(".card").first).to_be_visible()
    page.locator(".calls summary").click()
    page.locator(".why summary").first.click()
    assert too_wide(page) == []
    page.get_by_role("link", name="Open the menu").click()
    expect(page.get_by_role("link", name="New question")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="New question")).not_to_be_visible()
    page.get_by_role("link", name="Open in Fabric").first.click()
    expect(page.get_by_role("heading", name="Why it is here")).to_be_visible()
    assert too_wide(page) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_timeline_and_the_ways_to_another_node_are_read(
    page: Page, width: int
) -> None:
    channel = Node.objects.get(node_type="channel")
    ann = Node.objects.get(node_type="person", title="Ann Lee")
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"/nodes/{ann.pk}/")
    assert too_wide(page) == []
    page.get_by_role("link", name="Timeline").click()
    expect(page.locator(".moment", has_text="wrote or said")).to_have_count(3)
    assert too_wide(page) == []
    page.goto(f"/nodes/{ann.pk}/")
    page.get_by_role("link", name="Ways to another").click()
    page.get_by_label("Key or number").fill(channel.key)
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".ways > li").first).to_contain_text("posted in")
    assert too_wide(page) == []


def test_without_javascript_a_question_is_answered(
    browser: Browser, live_server, asker: User
) -> None:
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    plain = context.new_page()
    sign_in(plain)
    ask(plain, "Who has the key of the north cold store?")
    expect(plain.locator(".card").first).to_be_visible()
    plain.locator(".history a").first.click()
    expect(plain.locator("article.turn")).to_have_count(1)
    context.close()


def test_a_session_that_ended_leads_to_the_login_page(page: Page) -> None:
    page.expected.append("401")  # type: ignore[attr-defined]
    page.context.clear_cookies(name="sessionid")
    ask(page, "Who has the key?")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_the_admin_obeys_its_content_policy(page: Page, asker: User) -> None:
    project = Project.objects.get()
    paths = (
        "",
        "graph/node/",
        "graph/edge/",
        "graph/person/",
        "connections/source/",
        "connections/apitoken/add/",
        f"connections/project/{project.pk}/change/",
    )
    for path in paths:
        page.goto(f"/admin/{path}")
        expect(page.get_by_text("Company knowledge")).to_be_visible()
    page.goto("/admin/graph/node/")
    page.get_by_text("Filters").first.click()
    expect(page.get_by_text("By type")).to_be_visible()


def test_the_pictures_of_the_documentation_are_made(
    page: Page, asker: User, tmp_path: Path
) -> None:
    load_demo(asker, tmp_path / "demo")
    wanted = os.environ.get("FABRIC_SCREENSHOTS")
    docs = Path(settings.BASE_DIR) / "docs" if wanted else tmp_path
    page.goto("/?project=demo/main")
    ask(page, "Why did we move from Redis streams to a PostgreSQL queue?")
    expect(page.locator(".card").first).to_be_visible()
    page.wait_for_timeout(800)
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=docs / "chat.png")
    page.goto("/admin/")
    page.wait_for_timeout(400)
    page.screenshot(path=docs / "admin.png")
    assert (docs / "chat.png").stat().st_size > 10_000
