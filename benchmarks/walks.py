"""Walks in a graph with hubs, beside the reference recursion."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from django.db import connection, transaction

from benchmarks.hubs import SEED, Hubs, fill
from benchmarks.reference_sql import WALK
from benchmarks.report import Table, note, percentile, progress, ratio
from graph.best_paths import best_paths
from graph.models import Node
from graph.paths import distances, hops, nearest, shortest_paths
from graph.querysets import NodeQuerySet
from graph.steps import BREADTH, FAN_OUT
from graph.timeline import timeline

NODES, EDGES = 200_000, 1_000_000
STARTS, SAMPLED, PAIRS = 1_000, 50, 100
DEEP, SHALLOW, SEEDS = 3, 2, 100
TARGET_MS, HOPS_TARGET_MS = 10.0, 5.0

Ask = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Walked:
    """Milliseconds of walks and how many nodes each found."""

    took_ms: list[float]
    found: list[int]

    @property
    def p50(self) -> float:
        return median(self.took_ms)


def run() -> list[Table]:
    """Walk from many nodes with the cap and, from some, as the reference does."""
    world = fill(NODES, EDGES)
    note(
        f"{world.nodes:,} nodes, {world.edges:,} edges, largest degree "
        f"{world.largest:,}; {STARTS:,} starts, of the reference {SAMPLED}, for its "
        f"walks take long; caps {FAN_OUT} and {BREADTH}; load "
        f"{os.getloadavg()[0]:.1f} before the walks."
    )
    starts = _starts(world)
    member = Node.objects.visible_to(world.member).current()
    operator = Node.objects.of(world.project).current()
    table = Table("walk", "starts", "p50", "p95", "found, p50", "times", "target")
    for depth in (SHALLOW, DEEP):
        walks = {
            "the reference recursion": (_reference(depth), SAMPLED),
            "reachable_from(), an operator": (_reach(operator, world, depth), STARTS),
            "reachable_from(), a member": (_reach(member, world, depth), STARTS),
            "distances(), an operator": (_distances(operator, world, depth), STARTS),
            "distances(), a member": (_distances(member, world, depth), STARTS),
        }
        _add(table, depth, walks, starts)
    for name, ask in _others(member, world, starts).items():
        walked = _timed(ask, starts[:PAIRS])
        _row(table, name, walked, None, HOPS_TARGET_MS if "hops" in name else None)
    return [table]


def _starts(world: Hubs) -> list[int]:
    """Return nodes that both the operator and the member may start from."""
    seen = Node.objects.visible_to(world.member).order_by("pk")
    rng = random.Random(SEED)  # noqa: S311 - repeatable on purpose
    return rng.sample(list(seen.values_list("pk", flat=True)), STARTS)


def _reach(nodes: NodeQuerySet, world: Hubs, depth: int) -> Ask:
    def ask(start: int) -> int:
        walk = nodes.reachable_from([start], project=world.project, depth=depth)
        return len(walk.values_list("pk", flat=True))

    return ask


def _distances(nodes: NodeQuerySet, world: Hubs, depth: int) -> Ask:
    return lambda start: len(
        distances(nodes, [start], project=world.project, depth=depth)
    )


def _reference(depth: int) -> Ask:
    def ask(start: int) -> int:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(WALK, {"start": start, "depth": depth})
            return len(cursor.fetchall())

    return ask


def _others(nodes: NodeQuerySet, world: Hubs, starts: Sequence[int]) -> dict[str, Ask]:
    project, ends = world.project, dict(pairwise(starts))

    def first_hops(start: int) -> int:
        at = starts.index(start)
        return len(hops(nodes, starts[at : at + SEEDS], project=project))

    def around(start: int) -> int:
        near = nearest(nodes, start, project=project, depth=SHALLOW, limit=50)
        return len(near.distances)

    def told(start: int) -> int:
        near = nearest(
            nodes, start, project=project, depth=DEEP, limit=NODES, breadth=BREADTH
        )
        return len(near.distances)

    def shortest(start: int) -> int:
        return len(shortest_paths(nodes, start, ends[start], project=project).paths)

    def best(start: int) -> int:
        return len(best_paths(nodes, start, ends[start], project=project).paths)

    def page(start: int) -> int:
        return len(timeline(nodes, start, project=project, limit=50).moments)

    return {
        f"hops(), {SEEDS} seeds at once": first_hops,
        f"nearest() 50 within {SHALLOW}, with what was cut": around,
        f"nearest() all within {DEEP}, with what was cut": told,
        "shortest_paths() within 4, with what was cut": shortest,
        "best_paths() within 4, with what was cut": best,
        "timeline(), the first 50": page,
    }


def _add(
    table: Table, depth: int, walks: dict[str, tuple[Ask, int]], starts: list[int]
) -> None:
    reference: float | None = None
    for name, (ask, count) in walks.items():
        walked = _timed(ask, starts[:count])
        reference = reference or walked.p50
        target = TARGET_MS if depth == DEEP and count == STARTS else None
        _row(table, f"depth {depth}: {name}", walked, reference, target)


def _row(
    table: Table,
    name: str,
    walked: Walked,
    reference: float | None,
    target: float | None,
) -> None:
    is_p95 = target == TARGET_MS
    table.add(
        name,
        f"{len(walked.took_ms):,}",
        f"{walked.p50:.1f} ms",
        f"{percentile(walked.took_ms, 0.95):.1f} ms",
        f"{median(walked.found):,.0f}",
        ratio(walked.p50, reference) if reference else "",
        f"{'p95' if is_p95 else 'p50'} {target:.0f} ms" if target else "",
    )


def _timed(ask: Ask, starts: Sequence[int]) -> Walked:
    ask(starts[0])  # warm: the connection, the plan's tables
    walked = Walked([], [])
    for number, start in enumerate(starts):
        progress(f"walk {number}")
        started = time.perf_counter()
        found = ask(start)
        walked.took_ms.append((time.perf_counter() - started) * 1000)
        walked.found.append(found)
    return walked
