"""The scan for the review: seconds a million nodes and the memory it takes, beside the
loop over the ORM that one would write first."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db import connections

from benchmarks import stale_sql
from benchmarks.database import kept_database, migrations_version
from benchmarks.report import Table, progress, ratio, size
from connections.management.base import create_project
from connections.models import Project, Source
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.embed import active_embedder
from graph.models import Edge, Evidence, Node, ReviewItem
from graph.models.node import CLAIMS
from graph.review.flagging import Flags
from graph.review.kinds import finders
from graph.review.scanning import scan
from graph.staleness import age_of, thresholds_of

CHUNK, NAIVE = 50_000, 10_000
NOW = datetime(2026, 11, 21, 3, tzinfo=UTC)
MILLION = 1_000_000
PATH, NAIVE_PATH = "bench/stale", "bench/naive"


@dataclass(frozen=True, slots=True)
class Run:
    """How long something took, the most memory its process had, and what it did."""

    seconds: float
    megabytes: float
    told: str


def run() -> list[Table]:
    """Scan a project of FABRIC_BENCH_SIZE nodes; kept for the next run by
    FABRIC_BENCH_KEEP."""
    count = size()

    def fill() -> None:
        _fill(PATH, count)
        _fill(NAIVE_PATH, NAIVE)

    version = f"{migrations_version()} {stale_sql.VERSION}"
    with kept_database(f"scan_{count}", version, fill):
        for statement in stale_sql.EMPTY_QUEUE:
            _as_owner(statement)
        project = Project.objects.named(PATH)
        return [_whole(project, count), _each(project, count)]


def _whole(project: Project, count: int) -> Table:
    table = Table(
        *("what", "nodes", "seconds", "seconds a million", "peak MB"),
        *("against the naive loop", "what it did"),
        caption="A scan in a process of its own; two of ten nodes are claims, half of "
        "them stale. Target: the whole of it 60 s and 300 MB for 1,000,000 nodes.",
    )
    nothing = _apart(lambda: "what a process has that scans nothing")
    naive = _apart(partial(_naive, Project.objects.named(NAIVE_PATH)))
    per_node = naive.seconds / NAIVE
    later = NOW + timedelta(days=1)
    every = sorted(finders)
    for name, kinds, now in (
        ("the whole scan, the first time", every, NOW),
        ("the whole scan, the same again", every, NOW),
        ("the whole scan, a day later: every age is another", every, later),
        ("`stale` alone, the same again", ["stale"], later),
    ):
        made = _apart(partial(_scan, project, kinds, now))
        _add(table, name, count, made, per_node)
    _add(table, "naive loop over the ORM, the first time", NAIVE, naive, per_node)
    _add(table, "nothing", count, nothing, per_node)
    return table


def _each(project: Project, count: int) -> Table:
    table = Table(
        *("finder", "found", "first seconds", "again", "peak MB"),
        caption=f"Each finder by itself on {count:,} nodes, the queue empty before.",
    )
    for kind in sorted(finders):
        for statement in stale_sql.EMPTY_QUEUE:
            _as_owner(statement)
        act = partial(_scan, project, [kind], NOW)
        first, again = _apart(act), _apart(act)
        table.add(
            f"`{kind}`",
            first.told,
            f"{first.seconds:.1f}",
            f"{again.seconds:.1f}",
            f"{max(first.megabytes, again.megabytes):.0f}",
        )
    return table


def _add(table: Table, name: str, count: int, made: Run, per_node: float) -> None:
    each = made.seconds / count
    table.add(
        name,
        f"{count:,}",
        f"{made.seconds:.1f}",
        f"{each * MILLION:.1f}",
        f"{made.megabytes:.0f}",
        ratio(each, per_node),
        made.told,
    )


def _scan(project: Project, kinds: Sequence[str], now: datetime) -> str:
    found = scan(project, now=now, kinds=kinds)
    total = {
        name: sum(getattr(flags, name) for flags in found.values())
        for name in Flags.__slots__
    }
    return ", ".join(f"{number:,} {name}" for name, number in total.items() if number)


def _naive(project: Project) -> str:
    """Ask each node its age, what it rests on and what uses it, and save its item."""
    thresholds = thresholds_of(project)
    made = 0
    for node in Node.objects.filter(project=project, trashed_at=None):
        age = age_of(node, NOW, thresholds)
        if not age.is_stale or node.node_type not in CLAIMS:
            continue
        evidence = list(Evidence.objects.filter(project=project, node=node))
        uses = Edge.objects.filter(project=project, target=node).count()
        ReviewItem.objects.update_or_create(
            tenant_id=project.tenant_id,
            project=project,
            kind="stale",
            subject=f"node:{node.key}",
            defaults={
                "node": node,
                "audience_id": node.audience_id,
                "fingerprint": f"{len(evidence)}",
                "why": f"{age.days} days old.",
                "age_days": age.days,
                "threshold": age.threshold,
                "uses": uses,
            },
        )
        made += 1
    return f"{made:,} created"


def _apart(act: Callable[[], str]) -> Run:
    """Run `act` in a process of its own, for its memory, on connections of its own."""
    for connection in connections.all():
        connection.close()
        if pool := getattr(connection, "close_pool", None):
            pool()
    context = multiprocessing.get_context("fork")
    told: Any = context.SimpleQueue()

    def go() -> None:
        started = time.perf_counter()
        said = act()
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        told.put((seconds, peak, said))

    child = context.Process(target=go)
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"The measured process ended with {child.exitcode}.")
    return Run(*told.get())


def _fill(path: str, count: int) -> Project:
    """Return a project of `count` nodes, with records, evidence and edges."""
    project = create_project(path)
    source = Source.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        name="made up",
        kind="slack",
        location="/nowhere",
    )
    first = int(fetch(stale_sql.NEXT, [])[0][0])
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "audience": Audiences(project).public,
        "source": source.pk,
        "model": active_embedder()[1].pk,
        "now": NOW,
    }
    _as_owner(stale_sql.WITHOUT_TRIGGERS)
    _write(stale_sql.RECORDS, "records", first, first + count // 10, values)
    for statement, name in (
        (stale_sql.NODES, "nodes"),
        (stale_sql.EVIDENCE, "evidence"),
        (stale_sql.EDGES, "edges"),
    ):
        _write(statement, name, first, first + count - 1, {**values, "from": first})
    _as_owner(stale_sql.WITH_TRIGGERS)
    _as_owner(stale_sql.CONTINUE_IDS, {"next": first + count + 1000})
    for table in ("graph_records", "graph_nodes", "graph_evidence", "graph_edges"):
        _as_owner(f"VACUUM (ANALYZE) {table}")
    return project


def _write(
    statement: str, name: str, first: int, last: int, values: dict[str, Any]
) -> None:
    for start in range(first, last + 1, CHUNK):
        end = min(start + CHUNK - 1, last)
        progress(f"{name}: {end - first + 1:,} of {last - first + 1:,}")
        execute(statement, {**values, "first": start, "last": end})
        if start == first:
            _as_owner(f"ANALYZE graph_{name}")


def _as_owner(statement: str, values: dict[str, Any] | None = None) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement, values)
