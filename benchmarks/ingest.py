"""Ingest: messages a second into an empty installation and into a live one."""

from __future__ import annotations

import resource
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import floor
from benchmarks.corpus import MadeUp, questions
from benchmarks.database import read
from benchmarks.probe import Probed, reading
from benchmarks.report import Table, median, percentile, progress, ratio, size
from connections.models import Project
from connections.sources.base import Pull
from graph.batch import Counts
from graph.embed import backlog, embed_backlog
from graph.models import Edge, Evidence, Node, Record
from retrieval.search import search

LIVE, VECTORS, EMPTY, MEMORY_MB = 700.0, 250.0, 600.0, 500
EDGE_SHARE = 0.2  # of the messages: what counts as first and as last


@dataclass(slots=True)
class Clock:
    """When how many messages were in."""

    started: float = field(default_factory=time.perf_counter)
    seen: list[tuple[float, int]] = field(default_factory=list)

    def __call__(self, counts: Counts) -> None:
        self.seen.append((time.perf_counter() - self.started, counts.seen))
        progress(f"{counts.seen} messages")

    def rate(self, first: int, last: int) -> float:
        """Return messages a second from the first-th to the last-th."""
        begin = max((at for at, n in self.seen if n <= first), default=0.0)
        at, count = next(pair for pair in self.seen if pair[1] >= last)
        reached = max((n for _, n in self.seen if n <= first), default=0)
        return (count - reached) / (at - begin)


@dataclass(frozen=True, slots=True)
class Live:
    """How a load went into an installation that others search meanwhile."""

    graph: float
    first: float
    last: float
    vectors: float
    found_before: bool
    other: Probed
    other_vectors: Probed


def run() -> list[Table]:
    """Measure a load into nothing, the same beside it, and the floor of both."""
    count = size()
    drafting = _drafting(count)
    began = time.perf_counter()
    bulk, _ = read("bench/bulk", "made-up", Path("/"), name=f"bulk-{count}")
    embed_backlog(bulk.pk)
    empty = count / (time.perf_counter() - began)
    live = _live(bulk, count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    bare = floor.measure(bulk)
    copied, built = count / bare.copy, count / (bare.copy + bare.build)

    table = Table("x target", "x floor", "measure", "Fabric", "floor", "target")

    def rate(name: str, ours: float, other: float | None, least: float | None) -> None:
        table.add(
            ratio(ours, least or 0),
            ratio(ours, other or 0),
            name,
            f"{ours:,.0f}/s",
            f"{other:,.0f}/s" if other else "",
            f"{least:,.0f}/s" if least else "",
        )

    rate("empty installation, everything, vector index at the end", empty, built, EMPTY)
    rate("live: records, nodes, edges, evidence, words", live.graph, copied, LIVE)
    rate(f"live: the first {int(count * EDGE_SHARE):,}", live.first, copied, LIVE)
    rate(f"live: the last {int(count * EDGE_SHARE):,}", live.last, copied, LIVE)
    rate("live: vectors, through the index", live.vectors, None, VECTORS)
    rate("(drafting the records alone)", drafting, None, None)
    table.add(
        ratio(MEMORY_MB, peak),
        "",
        "peak memory",
        f"{peak:.0f} MB",
        "",
        f"{MEMORY_MB} MB",
    )
    found = "yes" if live.found_before else "NO"
    table.add("", "", "found by its words before it has a vector", found, "", "yes")
    for name, other in (("graph", live.other), ("vectors", live.other_vectors)):
        table.add(
            "",
            "",
            f"search of another project while {name} are written, p50 / p95",
            f"{median(other.took_ms):.0f} / {percentile(other.took_ms, 0.95):.0f} ms,"
            f" {len(other.took_ms)} searches",
            "",
            f"by the vector index: {'yes' if other.by_index else 'NO'}",
        )
    for name, rows in _rows(bulk).items():
        table.add("", "", f"({name} of {count:,} messages)", f"{rows:,}", "", "")
    return [table]


def _drafting(count: int) -> float:
    started = time.perf_counter()
    deque(MadeUp().pull(Pull(location=Path("/"), source=f"bulk-{count}")), maxlen=0)
    return count / (time.perf_counter() - started)


def _live(other: Project, count: int) -> Live:
    asked = questions("bulk", 40, count)
    clock, began = Clock(), time.perf_counter()
    with reading(other, asked) as seen:
        project, _ = read(
            "busy/live", "made-up", Path("/"), name=f"live-{count}", progress=clock
        )
        graph = count / (time.perf_counter() - began)
    found_before = _found_without_vector(project, count)
    waiting = backlog(project.pk)
    with reading(other, asked) as seen_then:
        vectors = _rate(lambda: embed_backlog(project.pk, progress=_show), waiting)
    edge = int(count * EDGE_SHARE)
    return Live(
        graph,
        clock.rate(0, edge),
        clock.rate(count - edge, count),
        vectors,
        found_before,
        seen,
        seen_then,
    )


def _show(done: int) -> None:
    progress(f"{done} vectors")


def _rate(work: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def _found_without_vector(project: Project, count: int) -> bool:
    """Ask for the words of a message that has no vector yet."""
    (question,) = questions("live", 1, count)
    answer = search(project, question, user=None, limit=5)
    return any(
        question in result.text
        and "keyword" in result.contributions
        and "vector" not in result.contributions
        for result in answer.results
    )


def _rows(project: Project) -> dict[str, int]:
    return {
        model._meta.db_table: model.objects.filter(project=project).count()
        for model in (Record, Node, Edge, Evidence)
    }
