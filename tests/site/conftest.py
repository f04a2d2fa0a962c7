"""The browser, and a page of a signed-in user who has something to find."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from connections.models import Role, User
from fabric_site.celery import app
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_project,
    make_user,
    take_in,
)
from tests.site.browsing import CHROMIUM, SAID, Complaints, sign_in


@pytest.fixture(scope="session")
def _sync_calls() -> Iterator[None]:
    """Playwright's loop runs in this thread; Django's own calls are still safe."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    yield
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="module")
def browser(_sync_calls: None) -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.fail("Chromium is missing; `make test` installs it.")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture
def _no_broker(monkeypatch) -> None:
    """Tasks sent after an answer go nowhere: no broker runs beside these tests."""
    monkeypatch.setattr(app, "send_task", lambda *args, **options: None)


@pytest.fixture
def asker(transactional_db: None, _no_broker: None) -> User:
    user = make_user("robin@acme.test", name="Robin", is_staff=True, is_superuser=True)
    project = make_project("acme/main")
    project.memberships.create(user=user, role=Role.ADMIN)
    take_in(
        project,
        draft_channel(),
        draft_account("U1", "Ann Lee", "ann@acme.test"),
        draft_account("U2", "Ben Low"),
        *(
            draft_message(
                f"17730000{n:02}.000001", text, user=user_id, thread_ts=thread
            )
            for n, (user_id, text, thread) in enumerate(SAID)
        ),
    )
    return user


@pytest.fixture
def page(browser: Browser, live_server, asker: User) -> Iterator[Page]:
    """A page of the signed-in asker; it ends without a complaint of the browser."""
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": 1280, "height": 860}
    )
    opened = context.new_page()
    complaints = Complaints()
    opened.on("console", complaints.note)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.expected = []  # type: ignore[attr-defined] # what a test provokes
    sign_in(opened)
    expect(opened.locator("[data-without-script]").first).to_be_hidden()  # scripts run
    yield opened
    context.close()
    provoked = opened.expected  # type: ignore[attr-defined]
    assert [c for c in complaints if not any(p in c for p in provoked)] == []
