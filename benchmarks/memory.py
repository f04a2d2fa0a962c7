"""Memory: what the end of a conversation costs, and what is still known after a year.

The million rows are written by `generate_series`, in one user's memory: the naive rule
then has to rewrite all of them.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from django.db import connections, transaction

from benchmarks import memory_sql
from benchmarks.report import Table, progress, ratio, sizes
from benchmarks.talks import talk
from benchmarks.timing import Timing
from benchmarks.year import simulated_years
from connections.management.base import create_project
from connections.models import Project, User
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.embed import active_embedder
from memory.endings import end_conversation
from memory.fading import let_leave
from memory.models import Conversation, MemoryScope
from memory.observations import scope_of

OBSERVATIONS, CHUNK = 1_000_000, 50_000
CONVERSATIONS, REFERENCED = 300, 10
NAIVE_RUNS = 3
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def run() -> list[Table]:
    given = os.environ.get("FABRIC_BENCH_SIZE", "").strip()
    counts = sizes() if given else [OBSERVATIONS]
    return [*(_endings(count) for count in counts), *simulated_years()]


def make_user(project: Project, name: str) -> User:
    user = User.objects.create_user(f"{name}@benchmark.test")
    project.memberships.create(user=user)
    return user


def _endings(count: int) -> Table:
    project = create_project(f"bench/memory-{count}")
    user = make_user(project, f"user{count}")
    scope = scope_of(project, user)
    first = _fill(project, user, scope, count)
    table = Table(
        "what",
        "p50 ms",
        "p95 ms",
        "runs",
        "against the naive UPDATE (p50)",
        caption=f"The end of a conversation that referenced {REFERENCED} of "
        f"{count:,} observations of its user.",
    )
    chance = random.Random(1)  # noqa: S311 - the same in every run
    ended = _timed(_ends(project, user, first, count, chance))
    naive = _timed(_naive(scope, first, count, chance))
    due = _timed([lambda: let_leave(scope.pk, now=NOW)])
    table.add("`end_conversation`", *_cells(ended), ratio(_p50(ended), _p50(naive)))
    table.add("naive UPDATE of all", *_cells(naive), "1.00x")
    table.add(f"letting go of the {_left(scope):,} due", *_cells(due), "")
    return table


def _fill(project: Project, user: User, scope: MemoryScope, count: int) -> int:
    """Write `count` observations; return the id of the first."""
    first = int(fetch(memory_sql.NEXT_NODE, [])[0][0])
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "audience": Audiences(project).private_to(user),
        "scope": scope.pk,
        "owner": user.pk,
        "model": active_embedder()[1].pk,
        "ticks": CONVERSATIONS,
    }
    _as_owner(memory_sql.WITHOUT_WORDS)
    # Analyzed in between: a foreign key is checked by a plan, too.
    for table, statement in (
        ("graph_nodes", memory_sql.NODES),
        ("observations", memory_sql.OBSERVATIONS),
    ):
        for start in range(first, first + count, CHUNK):
            last = min(start + CHUNK, first + count) - 1
            progress(f"{table}: {last - first + 1:,} of {count:,}")
            execute(statement, {**values, "first": start, "last": last})
            if start == first:
                _as_owner(f"ANALYZE {table}")
        _as_owner(f"ANALYZE {table}")
    _as_owner(memory_sql.WITH_WORDS)
    _as_owner(memory_sql.CONTINUE_IDS, first + count)
    return first


def _as_owner(statement: str, *values: int) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement, values or None)


def _ends(
    project: Project, user: User, first: int, count: int, chance: random.Random
) -> list[Callable[[], object]]:
    audience = Audiences(project).private_to(user)
    talks = [
        talk(
            project, user, audience, chance.sample(range(first, first + count), 10), NOW
        )
        for _ in range(CONVERSATIONS)
    ]

    def end(conversation: Conversation) -> Callable[[], object]:
        return lambda: end_conversation(conversation, now=NOW)

    return [end(conversation) for conversation in talks]


def _naive(
    scope: MemoryScope, first: int, count: int, chance: random.Random
) -> list[Callable[[], object]]:
    def update() -> None:
        nodes = chance.sample(range(first, first + count), REFERENCED)
        with transaction.atomic():
            execute(memory_sql.NAIVE, [nodes, scope.pk])

    return [update] * NAIVE_RUNS


def _timed(acts: Sequence[Callable[[], object]]) -> list[float]:
    took = []
    for act in acts:
        started = time.perf_counter()
        act()
        took.append((time.perf_counter() - started) * 1000)
    return took


def _p50(took: Sequence[float]) -> float:
    return Timing.of(took).p50


def _cells(took: Sequence[float]) -> tuple[str, str, str]:
    timing = Timing.of(took)
    return f"{timing.p50:.1f}", f"{timing.p95:.1f}", str(len(took))


def _left(scope: MemoryScope) -> int:
    return scope.observations.exclude(left_at=None).count()
