"""The review queue's pages in the admin, rendered whole, beside Django's own paging."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

from django.core.paginator import Paginator
from django.test import Client
from django.urls import get_resolver

from benchmarks.report import Table, ratio, sizes
from benchmarks.review import ITEMS, TARGET_MS, fill
from benchmarks.timing import Timing
from connections.management.base import create_project
from connections.models import Role, User
from graph.review.reading import queue_of

ROUNDS = 4
# Beside these pages stands the same one with every row counted.
COUNTED = ("the queue", "any state")
QUEUE = "/admin/graph/reviewitem/"


def run() -> list[Table]:
    given = os.environ.get("FABRIC_BENCH_SIZE", "").strip()
    return [_pages(count) for count in (sizes() if given else [ITEMS])]


def _pages(count: int) -> Table:
    project = create_project(f"bench/pages-{count}")
    user = User.objects.create_user(f"pages{count}@benchmark.test", is_staff=True)
    project.memberships.create(user=user, role=Role.REVIEWER)
    fill(project, user, count)
    get_resolver().url_patterns  # noqa: B018 - registers what the pages name
    client = Client(HTTP_HOST="localhost")
    client.force_login(user)
    middle = queue_of(user)[count // 2]
    table = Table(
        "page",
        "p50 ms",
        "p95 ms",
        f"under {TARGET_MS} ms",
        "against count(*) (p50)",
        caption=f"A queue of {count:,} open items; each page rendered whole, with the "
        "sidebar and the numbers of each kind. Beside it the same list with Django's "
        "own paginator, which counts every row.",
    )
    for name, address in (
        ("the queue", QUEUE),
        ("the queue by a kind", f"{QUEUE}?kind=stale"),
        ("the queue of a project", f"{QUEUE}?project={project.pk}"),
        ("assigned to me", f"{QUEUE}?assigned=me"),
        ("most used first", f"{QUEUE}?order=use"),
        ("newest first", f"{QUEUE}?order=newest"),
        ("any state", f"{QUEUE}?state=any"),
        ("page 100", f"{QUEUE}?p=100"),
        ("an item from the middle", f"{QUEUE}{middle.pk}/change/"),
    ):
        mine = _timed(client, address, nullcontext())
        theirs = _timed(client, address, _counting()) if name in COUNTED else None
        table.add(
            name,
            f"{mine.p50:.0f}",
            f"{mine.p95:.0f}",
            "yes" if mine.p95 < TARGET_MS else "no",
            ratio(mine.p50, theirs.p50) if theirs else "",
        )
    return table


def _counting() -> AbstractContextManager[object]:
    """Count as Django's own list does."""
    from_admin = "graph.admin.review.ReviewItemAdmin.paginator"
    return patch(from_admin, Paginator)


def _timed(
    client: Client, address: str, around: AbstractContextManager[object]
) -> Timing:
    def open_page() -> None:
        answer = client.get(address)
        if answer.status_code != 200:
            raise RuntimeError(f"{address} answered {answer.status_code}")

    took = []
    with around:
        open_page()
        for _ in range(ROUNDS):
            started = time.perf_counter()
            open_page()
            took.append((time.perf_counter() - started) * 1000)
    return Timing.of(took)
