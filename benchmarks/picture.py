"""How long a picture of a thousand nodes takes to open, beside a layout in the browser.

The same page draws the same nodes twice: at the places the server gives, and by
cytoscape's own `cose`, whose time comes on top of everything but the drawing.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.test.testcases import LiveServerThread
from playwright.sync_api import Page, sync_playwright

from benchmarks.hubs import Hubs, fill
from benchmarks.report import Table, Unavailable, median, progress, ratio, sizes
from connections.models import User
from graph.layouts import lay_out
from graph.pictures import LIMIT_MOST, picture_around, picture_of_all
from graph.surroundings import USUAL, View

NODES, EDGES_A_NODE = 5_000, 3
TIMES, TARGET_MS = 5, 2000.0
HOST = "localhost"
CHROMIUM = Path("/usr/bin/chromium")
COSE_WAIT_MS = 300_000
COSE = """
    (elements) => {
        const started = performance.now();
        const stage = document.createElement("div");
        stage.className = "g-picture";
        document.body.append(stage);
        const cy = cytoscape({ container: stage, elements, layout: { name: "preset" } });
        cy.layout({ name: "cose", animate: false, randomize: true }).run();
        const took = performance.now() - started;
        cy.destroy();
        stage.remove();
        return took;
    }
"""


def run() -> list[Table]:
    """Open the best tied thousand of a made-up graph with hubs in Chromium."""
    if not CHROMIUM.exists():
        raise Unavailable("it needs Chromium at /usr/bin/chromium.")
    count = sizes()[0] if os.environ.get("FABRIC_BENCH_SIZE", "").strip() else NODES
    world = fill(count, EDGES_A_NODE * count)
    laid = lay_out(world.project)
    again = lay_out(world.project)
    return [_opened(world, count), _placed(world, laid.seconds, again.seconds)]


def _opened(world: Hubs, count: int) -> Table:
    table = Table(
        "drawn",
        "from click to drawn, p50",
        "with its last edge",
        "of which in the browser",
        "target",
        "layout by cose",
        "cose / ours",
        caption=f"A project of {count:,} nodes, {TIMES} times each, in Chromium.",
    )
    hub = picture_of_all(_view(world), limit=1).nodes[0].node
    asked = {
        f"the best tied {LIMIT_MOST:,}": f"?whole=1&project={world.project.path}",
        f"around the largest hub, {USUAL} at most": f"?node={hub.pk}&depth=2",
    }
    with _pages(world.member) as page:
        # How busy the machine is: the same way without a picture.
        table.add(
            "nothing: a page of the same site", f"{_bare(page):,.0f} ms", *[""] * 5
        )
        for name, query in asked.items():
            progress(name)
            took, whole, drawing = _timed(page, query)
            cose = _cose(page)
            target = f"< {TARGET_MS:,.0f} ms" if "whole" in query else ""
            table.add(
                name,
                f"{took:,.0f} ms",
                f"{whole:,.0f} ms",
                f"{drawing:,.0f} ms",
                target,
                f"{cose:,.0f} ms",
                ratio(cose, drawing),
            )
    return table


def _bare(page: Page) -> float:
    """Return how long a page without a picture takes to open, by the same way."""
    took = []
    for _ in range(TIMES + 1):
        started = time.perf_counter()
        page.goto("/graph/")
        took.append((time.perf_counter() - started) * 1000)
    return median(took[1:])


def _timed(page: Page, query: str) -> tuple[float, float, float]:
    """Return how long it takes until all nodes are drawn with their heaviest edges,
    until all is, and the script's own part of the first."""
    took, whole, drawing = [], [], []
    for _ in range(TIMES + 1):
        started = time.perf_counter()
        page.goto(f"/graph/{query}")
        page.locator("#graph[data-ready]").wait_for(timeout=60_000)
        took.append((time.perf_counter() - started) * 1000)
        page.locator("#graph[data-whole]").wait_for(timeout=60_000)
        whole.append((time.perf_counter() - started) * 1000)
        measured = "performance.getEntriesByName('graph drawn')[0].duration"
        drawing.append(page.evaluate(measured))
    # The first fills caches.
    return median(took[1:]), median(whole[1:]), median(drawing[1:])


def _cose(page: Page) -> float:
    """Return how long the browser takes to place what the page shows by itself."""
    data = json.loads(page.locator("#graph-data").text_content() or "{}")
    elements: list[dict[str, Any]] = [
        {"data": {"id": str(node["id"])}} for node in data["nodes"]
    ]
    elements += [
        {"data": {"source": str(edge["source"]), "target": str(edge["target"])}}
        for edge in data["edges"]
    ]
    page.set_default_timeout(COSE_WAIT_MS)
    return float(page.evaluate(COSE, elements))


def _placed(world: Hubs, first: float, again: float) -> Table:
    table = Table("on the server", "took", caption="Finding places, and reading them.")
    table.add(f"lay out {world.nodes:,} nodes from nothing", f"{first:.1f} s")
    table.add("the same again, nothing new", f"{again:.1f} s")
    view, took = _view(world), {}
    hub = picture_of_all(view, limit=1).nodes[0].node
    for name, draw in {
        f"the best tied {LIMIT_MOST:,}": lambda: picture_of_all(view, limit=LIMIT_MOST),
        f"around the largest hub, {USUAL}": lambda: picture_around(view, hub, depth=2),
    }.items():
        draw()
        started = time.perf_counter()
        for _ in range(TIMES):
            draw()
        took[name] = (time.perf_counter() - started) * 1000 / TIMES
        table.add(name, f"{took[name]:.0f} ms")
    return table


def _view(world: Hubs) -> View:
    return View(user=world.member, project=world.project)


@contextmanager
def _pages(user: User) -> Iterator[Page]:
    """Serve the site from this process, and yield a page of the signed-in user."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's loop is idle
    thread = LiveServerThread(HOST, StaticFilesHandler, connections_override={})
    thread.daemon = True
    thread.start()
    thread.is_ready.wait()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=str(CHROMIUM), args=["--no-sandbox"]
            )
            address = f"http://{HOST}:{thread.port}"
            context = browser.new_context(
                base_url=address, viewport={"width": 1360, "height": 900}
            )
            context.add_cookies(
                [{"name": "sessionid", "value": _session(user), "url": address}]
            )
            yield context.new_page()
            browser.close()
    finally:
        thread.terminate()
        if before is None:
            del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def _session(user: User) -> str:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)
