"""The queue of reviews: its pages and its numbers, beside counting and offsets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from django.db import connections

from benchmarks import review_sql
from benchmarks.report import Table, ratio, sizes
from benchmarks.timing import Timing
from connections.api.pagination import after
from connections.management.base import create_project
from connections.models import Audience, Project, Role, User
from graph.audiences import Audiences
from graph.copying import execute
from graph.embed import active_embedder
from graph.models import ReviewItem
from graph.review.kinds import review_kinds
from graph.review.reading import HEAVY, ORDERS, queue_of, sizes_of

ITEMS, NODES, PAGE, RUNS = 100_000, 10_000, 50, 20
PROJECTS = (1, 8)
TARGET_MS = 300


def run() -> list[Table]:
    given = os.environ.get("FABRIC_BENCH_SIZE", "").strip()
    counts = sizes() if given else [ITEMS]
    return [_queue(count, projects) for count in counts for projects in PROJECTS]


def _queue(count: int, projects: int) -> Table:
    user = User.objects.create_user(f"reviewer{count}-{projects}@benchmark.test")
    for part in range(projects):
        project = create_project(f"bench/review-{count}-{projects}-{part}")
        project.memberships.create(user=user, role=Role.REVIEWER)
        fill(project, user, count // projects)
    table = Table(
        "what",
        "p50 ms",
        "p95 ms",
        f"under {TARGET_MS} ms",
        "against count(*) and offset (p50)",
        caption=f"A queue of {count:,} open items in {projects} project(s), of which the "
        "reviewer may see nine in ten; a page holds 50.",
    )
    middle = count // 2
    asked: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "the first page": (lambda: _page(user), lambda: _counted(user, 0)),
        "a page from the middle, by cursor": (
            lambda: _after(user, _place(user, middle)),
            lambda: _counted(user, middle),
        ),
        "the first page of a kind": (
            lambda: _page(user, kind="stale"),
            lambda: _counted(user, 0, kind="stale"),
        ),
        "the first page of one's own": (
            lambda: _page(user, mine=True),
            lambda: _counted(user, 0, mine=True),
        ),
        "`sizes_of`, each counted to 1,000": (
            lambda: sizes_of(user),
            lambda: _group_count(user),
        ),
    }
    for what, (ours, other) in asked.items():
        mine, theirs = _timed(ours), _timed(other)
        is_under = "yes" if mine.p95 < TARGET_MS else "no"
        against = ratio(mine.p50, theirs.p50)
        table.add(what, f"{mine.p50:.1f}", f"{mine.p95:.1f}", is_under, against)
    return table


def fill(project: Project, user: User, count: int) -> None:
    closed = Audience.objects.create(
        tenant_id=project.tenant_id, project=project, kind="members", key="closed"
    )
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "public": Audiences(project).public,
        "closed": closed.pk,
        "model": active_embedder()[1].pk,
        "user": user.pk,
        "items": count,
        "nodes": min(NODES, count),
        "kinds": sorted(review_kinds),
    }
    execute(review_sql.NODES, values)
    execute(review_sql.ITEMS, values)
    with connections["owner"].cursor() as cursor:
        for table in ("graph_nodes", "graph_review_items"):
            cursor.execute(f"VACUUM ANALYZE {table}")


_PLACES: dict[tuple[int, int], tuple[float, int]] = {}


def _place(user: User, offset: int) -> tuple[float, int]:
    """Return where the page before ended, which its cursor tells."""
    key = (user.pk, offset)
    if key not in _PLACES:
        _PLACES[key] = queue_of(user).values_list("priority", "pk")[offset]
    return _PLACES[key]


def _page(user: User, **asked: object) -> list[ReviewItem]:
    rows = queue_of(user, **asked)  # type: ignore[arg-type] # as queue_of names them
    return list(
        rows.select_related("node", "project__tenant").defer(*HEAVY)[: PAGE + 1]
    )


def _after(user: User, place: tuple[float, int]) -> list[ReviewItem]:
    rows = queue_of(user).select_related("node", "project__tenant").defer(*HEAVY)
    later = rows.filter(after(ORDERS["priority"], list(place)))
    return list(later[: PAGE + 1])


def _counted(user: User, offset: int, **asked: object) -> Sequence[ReviewItem]:
    rows = queue_of(user, **asked)  # type: ignore[arg-type] # as queue_of names them
    rows.count()
    return list(
        rows.select_related("node", "project__tenant").defer(*HEAVY)[
            offset : offset + PAGE
        ]
    )


def _group_count(user: User) -> list[int]:
    rows = queue_of(user, state="")
    return [
        rows.filter(kind=kind, state=state).count()
        for kind in review_kinds
        for state in ("open", "snoozed")
    ]


def _timed(act: Callable[[], object]) -> Timing:
    act()
    took = []
    for _ in range(RUNS):
        started = time.perf_counter()
        act()
        took.append((time.perf_counter() - started) * 1000)
    return Timing.of(took)
