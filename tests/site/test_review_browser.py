"""The review queue and the trash in a browser: keys, confirmations, two reviewers.

With FABRIC_SCREENSHOTS=1 it puts its pictures into the folder FABRIC_PICTURES names.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from connections.models import Project
from graph.models import Evidence, Node, ReviewDecision, ReviewItem, Trashed
from graph.review.deciding import hold
from tests.factories import make_edge, make_record, make_review_item
from tests.graph.review.queueing import make_claim, make_reviewer
from tests.site.browsing import PHONE, too_wide

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
QUEUE = "/admin/graph/reviewitem/"
CLAIMS = (
    ("The old price list stays for Penhallow", "decision", 212, 90, 14),
    ("Orders over 500 go out by courier", "pattern", 260, 180, 9),
    ("The north cold store is read by hand", "decision", 131, 90, 4),
    ("Labels are printed with LabelJet 4", "technology", 150, 120, 2),
)


def picture(page: Page, name: str, *, whole: bool = True) -> None:
    if os.environ.get("FABRIC_SCREENSHOTS"):
        folder = Path(os.environ["FABRIC_PICTURES"])
        page.screenshot(path=str(folder / f"{name}.png"), full_page=whole)


@pytest.fixture
def items(page: Page) -> list[ReviewItem]:
    """Stale claims, the most urgent first, each with a quote."""
    project = Project.objects.get()
    return [_stale(project, n, *claim) for n, claim in enumerate(CLAIMS)]


def _stale(
    project: Project, n: int, title: str, kind: str, age: int, most: int, uses: int
) -> ReviewItem:
    now = timezone.now()
    node = make_claim(
        project, f"{kind}:{n}", title=title, node_type=kind, origin="extraction",
        content=f"{title}, as it was agreed in the meeting on deliveries.",
        occurred_at=now - timedelta(days=age),
    )  # fmt: skip
    record = make_record(
        project, f"slack:C9:{n}", occurred_at=now - timedelta(days=age),
        permalink=f"https://example.test/archives/C9/p{n}",
    )  # fmt: skip
    Evidence.objects.create(
        tenant_id=project.tenant_id, project=project, record=record, node=node,
        quote=f"So that is settled then: {title}, until somebody says else.",
        part="text",
    )  # fmt: skip
    other = Node.objects.filter(node_type="message").order_by("pk")[0]
    make_edge(other, node, "mentions", occurred_at=now)
    return make_review_item(
        project, node, age_days=age, threshold=most, uses=uses, priority=10 - n,
        why=f"Nothing has confirmed it for {age} days; {kind}s are looked at again "
        f"after {most}.",
    )  # fmt: skip


def test_the_keys_keep_skip_prune_and_undo(page: Page, items) -> None:
    page.goto(QUEUE)
    expect(page.get_by_text("4 left")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    picture(page, "queue", whole=False)
    page.keyboard.press("j")
    page.keyboard.press("o")
    heading = page.get_by_role("article").get_by_role("heading")
    expect(heading.first).to_have_text(CLAIMS[0][0])
    page.set_viewport_size({"width": 1280, "height": 1040})
    picture(page, "item", whole=False)
    page.keyboard.press("a")
    reason = page.get_by_label("Why it holds")
    expect(reason).to_be_focused()
    page.keyboard.type("just asked Ann")  # j, s, u and k are letters here
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Kept: ")).to_be_visible()
    expect(heading.first).to_have_text(CLAIMS[1][0])
    page.keyboard.press("u")
    expect(page.get_by_text("Taken back.")).to_be_visible()
    expect(heading.first).to_have_text(CLAIMS[0][0])
    page.keyboard.press("j")
    expect(heading.first).to_have_text(CLAIMS[1][0])
    page.keyboard.press("k")
    expect(heading.first).to_have_text(CLAIMS[0][0])
    page.keyboard.press("p")
    expect(page.get_by_label("Why it goes")).to_be_focused()
    page.keyboard.type("It was only a draft.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Put in the trash")).to_be_visible()
    assert Trashed.objects.count() == 0
    picture(page, "confirm")
    page.get_by_role("button", name="Prune").click()
    expect(page.get_by_role("status").filter(has_text="Pruned: ")).to_be_visible()
    page.get_by_role("link", name="In the trash").click()
    expect(page.get_by_text("It was only a draft.")).to_be_visible()
    picture(page, "trash", whole=False)
    page.get_by_role("button", name="Put back").first.click()
    expect(page.get_by_text("Put back: 1 node.")).to_be_visible()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    verbs = ReviewDecision.objects.exclude(undone_at=None).order_by("pk")
    assert list(verbs.values_list("verb", flat=True)) == ["keep", "prune"]


def test_several_are_pruned_and_taken_back(page: Page, items) -> None:
    page.goto(QUEUE)
    for box in page.locator("#result_list input.action-select").all()[:2]:
        box.check()
    page.locator("select[name=action]").select_option(label="Prune…")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("heading", name="Put in the trash")).to_be_visible()
    picture(page, "bulk")
    page.get_by_label("Why it goes").fill("Both are drafts.")
    page.get_by_role("button", name="Prune").click()
    expect(page.get_by_text("Pruned: 2 items.")).to_be_visible()
    expect(page.get_by_text("2 left")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 taken back.")).to_be_visible()
    expect(page.get_by_text("4 left")).to_be_visible()


def test_two_reviewers_do_not_decide_the_same_item(
    page: Page, browser: Browser, live_server, items
) -> None:
    rita = make_reviewer(Project.objects.get())
    rita.is_staff = True
    rita.save()
    signed_in = Client()
    signed_in.force_login(rita)
    context = browser.new_context(base_url=live_server.url)
    name = settings.SESSION_COOKIE_NAME
    cookie = {"name": name, "value": signed_in.cookies[name].value}
    context.add_cookies([{**cookie, "url": live_server.url}])
    hers = context.new_page()
    address = f"{QUEUE}{items[0].pk}/change/"
    page.goto(address)
    page.keyboard.press("a")
    page.keyboard.type("A reason with some thought in it.")
    hers.goto(address)
    expect(hers.get_by_text("You can read this one only.")).to_be_visible()
    expect(hers.get_by_role("button", name="Keep")).to_have_count(0)
    # Ten minutes later she may.
    ReviewItem.objects.update(held_until=timezone.now() - timedelta(seconds=1))
    hers.reload()
    hers.keyboard.press("a")
    hers.keyboard.type("It still holds.")
    hers.keyboard.press("Enter")
    expect(hers.get_by_text("Kept: ")).to_be_visible()
    page.expected = ["409"]  # type: ignore[attr-defined] # the browser notes it
    page.keyboard.press("Enter")
    expect(page.get_by_text("rita@acme.test was faster: it was kept")).to_be_visible()
    expect(page.get_by_text("A reason with some thought in it.")).to_be_visible()
    picture(page, "collision", whole=False)
    context.close()
    assert ReviewDecision.objects.count() == 1


def test_the_pages_fit_a_phone_and_the_dark(page: Page, items) -> None:
    twin = make_claim(
        Project.objects.get(), "decision:twin", title="Penhallow keeps its old prices",
        content="Penhallow keeps its old prices until June.", origin="extraction",
    )  # fmt: skip
    make_review_item(
        Project.objects.get(), items[0].node, kind="duplicate", other=twin,
        subject="twins", priority=20, why="They say the same in other words.",
    )  # fmt: skip
    hold(items[3].pk, make_reviewer(Project.objects.get()))
    # A word without an end, wherever the item shows words.
    long = f"Orders go out by {'Kurier' * 30}"
    Node.objects.filter(pk=items[0].node_id).update(title=long, content=long)
    Evidence.objects.filter(node_id=items[0].node_id).update(quote=long)
    page.emulate_media(color_scheme="dark")
    two = ReviewItem.objects.get(kind="duplicate")
    for name, address in (
        ("queue", QUEUE),
        ("item", f"{QUEUE}{items[0].pk}/change/"),
        ("two", f"{QUEUE}{two.pk}/change/"),
        ("held", f"{QUEUE}{items[3].pk}/change/"),
        ("trash", "/admin/graph/trashed/"),
    ):
        page.set_viewport_size({"width": 1280, "height": 860})
        page.goto(address)
        picture(page, f"{name}-dark")
        page.set_viewport_size(PHONE)
        page.reload()
        if name == "two":
            page.keyboard.press("m")
        picture(page, f"{name}-phone")
        assert too_wide(page) == [], name
