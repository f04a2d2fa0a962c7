"""The admin in a browser: the dashboard, a list, an empty one; phone, dark, keyboard.

With FABRIC_SCREENSHOTS=1 it puts its pictures into docs/.
"""

from __future__ import annotations

import os
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, expect

from connections.models import ModelUsage, Project, Source, SyncRun, User
from graph.figures.keeping import count_figures
from graph.models import DailyFigure, Node
from tests.factories import make_review_item
from tests.site.browsing import PHONE, too_wide

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
DAYS = 30
DOCUMENTED = ("dashboard", "dashboard-dark")


@pytest.fixture
def counted(asker: User) -> Project:
    """A project with a month of figures, a queue, and a source whose run failed."""
    project = Project.objects.get()
    source = Source.objects.get()
    SyncRun.objects.create(
        source=source, state="failed", seen=41, error="The export has no users.json."
    )
    for n, node in enumerate(Node.objects.order_by("pk")[:4]):
        make_review_item(project, node, kind=("stale", "orphan")[n % 2])
    count_figures(project)
    today, now = timezone.localdate(), timezone.now()
    month = {
        "records": (str(source.pk), lambda n: 40 + 7 * (n % 9)),
        "nodes": ("message", lambda n: 900 + 31 * n),
        "edges": ("sent_by", lambda n: 1700 + 60 * n),
        "answers": ("grounded", lambda n: 3 + n % 5),
        "feedback": ("good", lambda n: n % 3),
        "arms": ("vector", lambda n: 5 + n % 4),
    }
    DailyFigure.objects.bulk_create(
        DailyFigure(
            tenant_id=project.tenant_id,
            project=project,
            day=today - timedelta(days=n),
            name=name,
            label=label,
            value=value(DAYS - n),
            counted_at=now,
        )
        for name, (label, value) in month.items()
        for n in range(1, DAYS)
        if name != "records" or n < DAYS
    )
    ModelUsage.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        day=today,
        provider="anthropic",
        model="a-model",
        purpose="answer",
        tokens_read=52_000,
        tokens_written=3_100,
    )
    return project


def shoot(page: Page, name: str, folder: Path) -> None:
    wanted = os.environ.get("FABRIC_SCREENSHOTS") and name in DOCUMENTED
    if wanted:
        page.wait_for_timeout(500)
    place = Path(settings.BASE_DIR) / "docs" if wanted else folder
    page.screenshot(path=place / f"{name}.png")


def darken(page: Page) -> None:
    page.evaluate("document.documentElement.classList.add('dark')")


def test_the_dashboard_draws_what_its_tables_say(
    page: Page, counted: Project, tmp_path: Path
) -> None:
    page.goto("/admin/")
    panel = page.locator("[data-figure]", has_text="What came in")
    expect(panel.locator("canvas")).to_be_visible()
    drawn = panel.locator("canvas").evaluate(
        "(canvas) => Chart.getChart(canvas).data.datasets[0].data"
    )
    panel.get_by_text("As a table").click()
    cells = panel.locator("td").all_inner_texts()
    assert len(cells) == len(drawn) == DAYS
    assert [cell.replace(",", "") for cell in cells if cell != "-"] == [
        str(value) for value in drawn if value is not None
    ]
    nodes = page.locator("[data-figure]", has_text="Nodes by type").locator("canvas")
    lines = nodes.evaluate(
        "(canvas) => Chart.getChart(canvas).data.datasets.map((line) =>"
        " [line.data.filter((value) => value !== null).length, line.pointRadius > 0])"
    )
    # What was counted on one day is a dot, for a line through it cannot be seen.
    assert (DAYS, False) in map(tuple, lines)
    assert all(is_dotted == (days == 1) for days, is_dotted in lines)
    assert any(is_dotted for _, is_dotted in lines)
    shoot(page, "dashboard", tmp_path)
    before = panel.locator("canvas").evaluate(
        "(canvas) => Chart.getChart(canvas).data.datasets[0].backgroundColor"
    )
    darken(page)
    shoot(page, "dashboard-dark", tmp_path)
    after = panel.locator("canvas").evaluate(
        "(canvas) => Chart.getChart(canvas).data.datasets[0].backgroundColor"
    )
    assert before != after
    page.get_by_role("link", name=re.compile("^Nodes: ")).click()
    expect(page).to_have_url(re.compile(rf"project={counted.pk}\b"))
    expect(page.locator("#result_list")).to_be_visible()


def test_lists_and_empty_ones_in_light_and_dark_and_on_a_phone(
    page: Page, counted: Project, tmp_path: Path
) -> None:
    for path, name in (
        ("graph/node/", "admin-nodes"),
        ("graph/identitydecision/", "admin-empty"),
    ):
        page.goto(f"/admin/{path}")
        shoot(page, name, tmp_path)
        darken(page)
        shoot(page, f"{name}-dark", tmp_path)
    expect(page.get_by_role("heading", name="Nobody has merged")).to_be_visible()
    page.get_by_role("link", name="Open the persons").click()
    expect(page).to_have_url(re.compile("/admin/graph/person/$"))
    page.set_viewport_size(PHONE)
    for path in ("", "graph/node/", "graph/identitydecision/"):
        page.goto(f"/admin/{path}")
        assert too_wide(page) == []
        name = path.strip("/").replace("/", "-") or "dashboard"
        shoot(page, f"{name}-phone", tmp_path)


def test_ctrl_k_finds_nodes_by_keyboard_and_a_list_is_kept_for_the_dashboard(
    page: Page, counted: Project, tmp_path: Path
) -> None:
    page.goto("/admin/")
    page.keyboard.press("Control+k")
    box = page.locator("#search-input-command")
    expect(box).to_be_focused()
    page.keyboard.type("Ann Lee")
    found = page.locator("#command-results-list li")
    expect(found.filter(has_text="Ann Lee").first).to_be_visible()
    shoot(page, "admin-palette", tmp_path)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/change/$"))
    page.goto("/admin/graph/node/?node_type=person")
    page.get_by_text("Keep this list").click()
    page.get_by_label("Name", exact=True).fill("People we met")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_text("“People we met” is kept.")).to_be_visible()
    page.goto("/admin/")
    page.get_by_role("link", name="People we met").click()
    expect(page).to_have_url(re.compile(r"\?node_type=person$"))


def test_keys_alone_reach_what_the_frame_holds(page: Page, counted: Project) -> None:
    page.goto("/admin/graph/node/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    filters = page.get_by_role("button", name="Filters")
    filters.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("By project")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("By project")).to_be_hidden()
    expect(page.get_by_role("textbox", name="Search this list")).to_be_visible()
    expect(page.get_by_role("main")).to_have_count(1)
    page.set_viewport_size(PHONE)
    trash = page.get_by_role("link", name="Trash")
    expect(trash).to_be_hidden()
    page.get_by_role("button", name="Show or hide the navigation").focus()
    page.keyboard.press("Enter")
    expect(trash).to_be_visible()
