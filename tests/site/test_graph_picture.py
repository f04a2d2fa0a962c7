"""The picture of the graph in a browser, and the list that tells the same."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from connections.models import Project, User
from graph.models import Node
from tests.factories import NOON, make_edge, make_node
from tests.site.browsing import PHONE, sign_in, too_wide

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

POSTS = 30


@pytest.fixture
def room(asker: User) -> Node:
    """A channel with thirty posts on as many days, and a person who is in it."""
    project = Project.objects.get()
    room = make_node(project, "room", node_type="channel", title="#cold-room")
    for n in range(POSTS):
        moment = NOON + timedelta(days=n)
        post = make_node(project, f"p{n}", f"Post number {n}", occurred_at=moment)
        make_edge(post, room, "posted_in", weight=1 + n / 100, occurred_at=moment)
    ann = make_node(project, "ann", node_type="person", title="Ann of the room")
    make_edge(room, ann, "mentions")
    return room


def begin(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#graph[data-ready]")).to_be_visible()


def test_it_is_drawn_expanded_filtered_and_slides_over_its_days(
    page: Page, room: Node
) -> None:
    begin(page, f"/graph/?node={room.pk}")
    stage, rows = page.locator("#graph"), page.locator(".g-list [data-node]")
    expect(stage).to_have_attribute("data-drawn", "14")
    expect(stage.locator("canvas").first).to_be_visible()
    expect(rows).to_have_count(13)
    with page.expect_response("**/api/v1/graph/picture/?**expand=24**"):
        page.get_by_role("link", name="+18 more").click()
    expect(stage).to_have_attribute("data-drawn", "32")
    expect(rows).to_have_count(31)
    expect(page.locator("[data-hint]")).to_have_text("18 more nodes are drawn.")
    expect(page.locator("[data-more]")).to_have_count(0)
    page.get_by_label("message").uncheck()
    expect(stage).to_have_attribute("data-drawn", "2")
    expect(page).to_have_url(re.compile("type=channel&type=person"))
    page.get_by_label("message").check()
    expect(stage).to_have_attribute("data-drawn", "14")
    slider = page.get_by_role("slider", name="As of")
    slider.focus()
    page.keyboard.press("Home")
    expect(page).to_have_url(re.compile("day=2026-03-02"))
    expect(stage).to_have_attribute("data-drawn", "3")
    page.reload()
    expect(page.locator("#graph[data-ready]")).to_have_attribute("data-drawn", "3")
    assert too_wide(page) == []


def test_of_many_edges_the_rest_is_drawn_after_the_heaviest(
    page: Page, room: Node
) -> None:
    project, count = room.project, 310
    posts = [make_node(project, f"many{n}", f"Many {n}") for n in range(count)]
    for n, post in enumerate(posts):
        for step in (1, 2):
            make_edge(post, posts[(n + step) % count], "mentions")
    begin(page, f"/graph/?whole=1&project={project.path}")
    stage = page.locator("#graph[data-whole]")
    expect(stage).to_be_visible()
    drawn = int(stage.get_attribute("data-whole") or 0)
    assert drawn >= 2 * count + POSTS
    expect(page.locator("[data-count]")).to_contain_text(f" {drawn} edges.")


def test_the_list_does_by_keys_what_the_picture_does(page: Page, room: Node) -> None:
    begin(page, f"/graph/?node={room.pk}")
    page.get_by_role("link", name="Ann of the room").focus()
    page.keyboard.press("Enter")
    panel = page.locator("[data-panel]")
    expect(panel.get_by_role("heading")).to_have_text("Ann of the room")
    expect(panel.locator("[data-facts]")).to_contain_text("mentioned by")
    expect(panel.get_by_role("link", name="Why it is here")).to_have_attribute(
        "href", re.compile(r"/nodes/\d+/#evidence")
    )
    panel.get_by_role("button", name="Path from here").press("Enter")
    page.get_by_role("link", name="Post number 29").press("Enter")
    panel.get_by_role("button", name="Path to here").press("Enter")
    expect(page.locator("[data-way-said] li")).to_contain_text("#cold-room")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as PNG").press("Enter")
    assert saved.value.path().read_bytes()[:4] == b"\x89PNG"


def test_without_a_script_and_on_a_phone_it_tells_the_same(
    browser: Browser, live_server, room: Node
) -> None:
    context = browser.new_context(base_url=live_server.url, viewport=PHONE)
    phone = context.new_page()
    sign_in(phone)
    begin(phone, f"/graph/?node={room.pk}")
    assert too_wide(phone) == []
    # Types enough for a legend that is wider than a phone.
    hub = make_node(Project.objects.get(), "hub", node_type="topic", title="Pumps")
    for kind in ("file", "meeting", "decision", "technology", "email", "message"):
        of_kind = make_node(hub.project, kind, kind, node_type=kind, occurred_at=NOON)
        make_edge(of_kind, hub, "mentions", occurred_at=NOON)
    begin(phone, f"/graph/?node={hub.pk}")
    expect(
        phone.get_by_role("group", name="Types").get_by_role("checkbox")
    ).to_have_count(7)
    assert too_wide(phone) == []
    state = context.storage_state()
    context.close()
    plain = browser.new_context(
        base_url=live_server.url,
        viewport=PHONE,
        java_script_enabled=False,
        storage_state=state,
    )
    page = plain.new_page()
    page.goto("/graph/?q=cold-room")
    page.get_by_role("link", name="#cold-room").first.click()
    expect(page.locator(".g-list [data-node]")).to_have_count(13)
    expect(page.get_by_role("link", name="+18 more")).to_have_attribute(
        "href", re.compile("relation=posted_in&direction=in")
    )
    page.get_by_label("Path from the centre").fill("ann")
    page.locator("[data-path] button").click()
    expect(page.locator("[data-way-said] li")).to_contain_text("Ann of the room")
    plain.close()
