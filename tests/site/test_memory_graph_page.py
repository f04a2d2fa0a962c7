"""The graph of memory and the slider of a neighbourhood, in a browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from connections.models import Project, User
from graph.models import Node
from tests.factories import NOON, make_edge, make_node
from tests.memory.making import make_conversation, make_observation
from tests.site.browsing import PHONE, sign_in, too_wide

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


@pytest.fixture
def remembered(asker: User) -> Project:
    """Some facts and conversations on a few topics."""
    project = Project.objects.get()
    said = Node.objects.filter(node_type="message").order_by("pk")
    for n, subject in enumerate(("cold store", "cold store", "forklift", "price")):
        talk = make_conversation(
            project,
            asker,
            f"What of the {subject}, part {n}?",
            cited=[said[n]],
            parsed={"entity_hints": [subject]},
        )
        make_observation(
            project,
            asker,
            f"What was learned about the {subject}, part {n}.",
            subject=subject,
            observation_type="decision" if n == 3 else "fact",
            conversation=talk,
        )
    return project


def test_the_graph_is_drawn_from_the_endpoint_that_the_page_names(
    page: Page, remembered: Project
) -> None:
    with page.expect_response("**/api/v1/memory/graph?**") as answered:
        page.goto("/memory/graph/")
    graph = answered.value.json()
    stage = page.locator("#gk")
    number = str(graph["statistics"]["node_count"])
    expect(stage).to_have_attribute("data-drawn", number)
    expect(stage.locator("canvas").first).to_be_visible()
    expect(page.get_by_role("status").first).to_contain_text(f"{number} nodes")
    expect(page.locator("[data-feed-server]")).to_have_text(re.compile(r"[\d.]+ ms"))
    expect(page.locator("[data-feed-all]")).to_have_text(re.compile(r"\d+ ms"))
    expect(page.locator(".gk-feeds")).to_contain_text("/api/v1/memory/environments")
    expect(page.locator(".gk-environment")).to_contain_text("256")
    assert too_wide(page) == []


def test_the_list_tells_each_node_its_ties_and_chooses_it_in_the_picture(
    page: Page, remembered: Project
) -> None:
    page.goto("/memory/graph/")
    expect(page.locator("#gk[data-drawn]")).to_be_visible()
    row = page.locator(".gk-list [data-node^='memory:']").first
    row.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(row).to_contain_text("about")
    expect(row).to_contain_text("attributed to")
    expect(page.locator("#gk-chosen")).to_contain_text("edges.")
    expect(row).to_have_class("chosen")


def test_the_address_holds_what_was_chosen(page: Page, remembered: Project) -> None:
    page.goto("/memory/graph/")
    page.get_by_label("Topics").check()
    expect(page).to_have_url(re.compile("types=topic"))
    page.get_by_label("What is remembered").check()
    expect(page).to_have_url(re.compile("types=fact.*types=topic"))
    expect(page.locator("#gk")).to_have_attribute("data-drawn", "7")
    page.go_back()
    expect(page.locator("#gk")).to_have_attribute("data-drawn", "3")


def test_on_a_phone_it_begins_with_what_has_two_edges(
    browser: Browser, live_server, remembered: Project
) -> None:
    context = browser.new_context(base_url=live_server.url, viewport=PHONE)
    phone = context.new_page()
    sign_in(phone)
    phone.goto("/memory/graph/")
    expect(phone).to_have_url(re.compile("min_degree=2"))
    expect(phone.locator("#gk[data-drawn]")).to_be_visible()
    rows = phone.locator(".gk-list summary")
    expect(rows.first).to_be_visible()
    tied = rows.count()
    assert not [row for row in rows.all_inner_texts() if re.search(r"\b[01] edge", row)]
    assert too_wide(phone) == []
    phone.get_by_label("At least").fill("0")
    phone.get_by_label("At least").press("Enter")
    expect(phone).to_have_url(re.compile("min_degree=0"))
    expect(rows).not_to_have_count(tied)
    context.close()


def test_a_neighbourhood_slides_over_its_days_by_keys(
    page: Page, remembered: Project
) -> None:
    room = make_node(remembered, "room", node_type="channel", title="#room")
    for day in range(4):
        moment = NOON + timedelta(days=day)
        post = make_node(remembered, f"p{day}", f"post {day}", occurred_at=moment)
        make_edge(post, room, "posted_in", occurred_at=moment)
    page.goto(f"/search/neighbourhood/{room.pk}/")
    shown = page.locator(".around-list li")
    expect(shown).to_have_count(4)
    slider = page.get_by_role("slider", name="As of")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(shown).to_have_count(3)
    page.keyboard.press("Home")
    expect(shown).to_have_count(1)
    expect(slider).to_have_attribute("aria-valuetext", "2 March 2026")
    expect(page).to_have_url(re.compile("day=2026-03-02"))
    page.reload()
    expect(shown).to_have_count(1)
    expect(page.get_by_role("slider", name="As of")).to_have_value("0")
