"""A browser as tests use it: who signs in, what is there to find, what is too wide."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, expect

from connections.demo.generate import write
from connections.models import Project, Role, User
from graph.ingest import ingest
from graph.sources import connect_source
from tests.factories import make_project

CHROMIUM = Path("/usr/bin/chromium")
PASSWORD = "a long password"
PHONE = {"width": 390, "height": 844}
DEMO = {
    "slack": "slack",
    "mail": "mail.mbox",
    "folder": "files",
    "transcripts": "meetings",
}
THREAD = "1773000001.000001"
SAID = (
    ("U1", "The north cold store gets its new compressor on Thursday 12 March.", ""),
    ("U2", "Who has the key of the north cold store?", THREAD),
    ("U1", "Hollis Marr has the key of the north cold store until noon.", THREAD),
    ("U2", "The yellow forklift is out of service until its brakes are new.", ""),
    ("U1", "We decided to keep the old price list for Penhallow for now.", ""),
)


# htmx logs a request that a newer one replaced like one that failed (while one
# types, that is a matter of timing); a failure has lines of its own besides.
REPLACED = ("htmx:afterRequest", "htmx:sendAbort")


class Complaints(list[str]):
    """What the browser complained about: errors, refused scripts and styles."""

    def note(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        if not message.text.startswith(REPLACED):
            self.append(message.text)


def sign_in(page: Page) -> None:
    page.goto("/")
    page.get_by_label("E-mail").fill("robin@acme.test")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(
        page.get_by_role("heading", name="What would you like to know?")
    ).to_be_visible()


WIDE = """() => document.documentElement.scrollWidth <= window.innerWidth ? [] :
    [...document.querySelectorAll("body *")]
        .filter((each) => each.getBoundingClientRect().right > window.innerWidth)
        .map((each) => each.outerHTML.slice(0, 120))"""


def too_wide(page: Page) -> list[str]:
    """Return what reaches beyond the right edge of a page that scrolls sideways."""
    page.wait_for_load_state()  # its styles too
    return page.evaluate(WIDE)


def load_demo(user: User, folder: Path) -> Project:
    """Load the demo company into demo/main, of which `user` becomes a member."""
    project = make_project("demo/main")
    project.memberships.create(user=user, role=Role.ADMIN)
    write(folder)
    for kind, name in DEMO.items():
        source = connect_source(
            project=project,
            kind=kind,
            location=folder / name,
            name=name,
            audience="project",
        )
        ingest(source)
    return project
