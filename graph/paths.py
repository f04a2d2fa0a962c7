"""How two nodes hang together, and what lies around one: breadth first, bounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.utils import timezone

from connections.models import Project
from graph import paths_sql
from graph.querysets import NodeQuerySet

FAN_OUT = 50
# Of one step, so many edges are walked, the best; then a search says so.
MOST_HOPS = 20_000


@dataclass(frozen=True, slots=True)
class Hop:
    near: int
    far: int
    edge: int


def hops(nodes, near, *, project, relations=None, as_of=None, fan_out=FAN_OUT):
    return [
        Hop(*r) for r in _hops(nodes, near, project, as_of or timezone.now(), relations)
    ]


@dataclass(frozen=True, slots=True)
class Path:
    """`nodes` from one end to the other; `edges[i]` joins `nodes[i]` and the next."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Paths:
    """Shortest paths, all of one length; not `is_complete` where a step was cut."""

    paths: tuple[Path, ...]
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class Around:
    """Nodes with their distance; not `is_complete` where there are more."""

    distances: dict[int, int]
    is_complete: bool


@dataclass(slots=True)
class _Side:
    """A breadth-first search from one end; `ways` lead a node one step back."""

    depths: dict[int, int]
    frontier: list[int]
    level: int = 0
    ways: dict[int, list[tuple[int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def advance(self, hops: Sequence[tuple[int, int, int]]) -> None:
        """Take the hops out of the frontier: what they newly reach is the next one."""
        self.level += 1
        for near, far, edge in hops:
            if self.depths.setdefault(far, self.level) == self.level:
                self.ways[far].append((near, edge))
        self.frontier = list(
            dict.fromkeys(far for _, far, _ in hops if self.depths[far] == self.level)
        )

    def back(self, node: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the ways from `node` to this side's end: the nodes and the edges."""
        if self.depths[node] == 0:
            yield (node,), ()
            return
        for near, edge in self.ways[node]:
            for nodes, edges in self.back(near):
                yield (node, *nodes), (edge, *edges)


def shortest_paths(
    nodes: NodeQuerySet,
    start: int,
    end: int,
    *,
    project: Project,
    depth: int = 4,
    limit: int = 10,
) -> Paths:
    """Return up to `limit` shortest paths of at most `depth` edges within `nodes`.

    Edges are walked in both directions, of each node its best `FAN_OUT` each way: a
    path over an edge beyond those may be missed.
    """
    now, is_complete = timezone.now(), True
    near, far = _Side({start: 0}, [start]), _Side({end: 0}, [end])
    met = [start] if start == end else []
    while not met and near.level + far.level < depth and near.frontier and far.frontier:
        side, other = (
            (near, far) if len(near.frontier) <= len(far.frontier) else (far, near)
        )
        hops = _hops(nodes, side.frontier, project, now)
        is_complete = is_complete and len(hops) < MOST_HOPS
        side.advance(hops)
        met = [node for node in side.frontier if node in other.depths]
    return Paths(tuple(islice(_joined(near, far, met), limit)), is_complete)


def _joined(near: _Side, far: _Side, met: Sequence[int]) -> Iterator[Path]:
    shortest = min((near.depths[node] + far.depths[node] for node in met), default=0)
    for node in met:
        if near.depths[node] + far.depths[node] > shortest:
            continue
        for nodes, edges in near.back(node):
            for more_nodes, more_edges in far.back(node):
                yield Path((*nodes[::-1], *more_nodes[1:]), (*edges[::-1], *more_edges))


def _hops(
    nodes: NodeQuerySet,
    near: Sequence[int],
    project: Project,
    live: datetime,
    relations: Sequence[str] | None = None,
) -> list[tuple[int, int, int]]:
    """Return (near, far, edge) for the edges out of `near`, best first."""
    try:
        allowed, params = nodes.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return []
    names = list(relations) if relations else None
    step = (
        project.tenant_id,
        project.pk,
        nodes.audiences,
        nodes.audiences,
        names,
        names,
        live,
        live,
        FAN_OUT,
    )
    with connections[nodes.db].cursor() as cursor:
        sql = paths_sql.HOPS.format(allowed=allowed)
        cursor.execute(sql, (*params, list(near), *step, *step, MOST_HOPS))
        return cursor.fetchall()


def nearest(
    nodes: NodeQuerySet,
    start: int,
    *,
    project: Project,
    depth: int,
    limit: int,
    relations: Sequence[str] | None = None,
    as_of: datetime | None = None,
) -> Around:
    """Return up to `limit` nodes around `start`, nearest first, then by edge weight.

    Of each node its best `FAN_OUT` edges are walked each way, within `nodes`.
    """
    live, is_complete = as_of or timezone.now(), True
    side = _Side({start: 0}, [start])
    while side.level < depth and side.frontier and len(side.depths) <= limit + 1:
        hops = _hops(nodes, side.frontier, project, live, relations)
        is_complete = is_complete and len(hops) < MOST_HOPS
        side.advance(hops)
    found = list(side.depths.items())[1:]
    return Around(dict(found[:limit]), is_complete and len(found) <= limit)
