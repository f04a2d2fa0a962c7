"""How two nodes hang together, and what lies around one: breadth first, bounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from connections.models import Project
from graph.querysets import NodeQuerySet
from graph.steps import BREADTH, FAN_OUT, LEFT_NAMED, Cut, Hop, Terms, cuts, step, walk

# Of one step of a search, so many edges are walked; it says what it left out.
MOST_HOPS = 20_000


@dataclass(frozen=True, slots=True)
class Path:
    """`nodes` from one end to the other; `hops[i]` leads from `nodes[i]` to the next.

    `cost` is what `best_paths` ranks by; of a shortest path it is its length.
    """

    nodes: tuple[int, ...]
    hops: tuple[Hop, ...]
    cost: float

    @classmethod
    def along(
        cls, start: int, hops: tuple[Hop, ...], cost: float | None = None
    ) -> Path:
        nodes = (start, *(hop.far for hop in hops))
        return cls(nodes, hops, float(len(hops)) if cost is None else cost)

    @property
    def edges(self) -> tuple[int, ...]:
        return tuple(hop.edge for hop in self.hops)


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths, the best first; `cut` are the nodes of whose edges some were not walked.

    Not `is_complete` where anything was left out that might have been a way.
    """

    paths: tuple[Path, ...]
    cut: tuple[Cut, ...] = ()
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class Around:
    """Nodes with their distance; not `is_complete` where there are more.

    `cut` are the nodes of whose edges only the best were walked.
    """

    distances: dict[int, int]
    cut: tuple[Cut, ...]
    is_complete: bool


@dataclass(slots=True)
class Side:
    """A breadth-first search from one end; `ways` lead a node one step back."""

    nodes: NodeQuerySet
    terms: Terms
    end: int
    depths: dict[int, int] = field(init=False)
    frontier: list[int] = field(init=False)
    level: int = 0
    is_complete: bool = True
    walked: list[Hop] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    ways: dict[int, list[Hop]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.depths, self.frontier = {self.end: 0}, [self.end]

    def advance(self) -> None:
        """Walk out of the frontier: what is newly reached is the next one."""
        hops, left = step(self.nodes, self.frontier, self.terms)
        self.is_complete = self.is_complete and len(left) <= LEFT_NAMED
        self.left += left[:LEFT_NAMED]
        self.walked += hops
        self.level += 1
        for hop in hops:
            if self.depths.setdefault(hop.far, self.level) == self.level:
                self.ways[hop.far].append(hop)
        self.frontier = list(
            dict.fromkeys(hop.far for hop in hops if self.depths[hop.far] == self.level)
        )

    def back(self, node: int) -> Iterator[tuple[Hop, ...]]:
        """Yield the ways from this side's end to `node`."""
        if self.depths[node] == 0:
            yield ()
            return
        for hop in self.ways[node]:
            for hops in self.back(hop.near):
                yield (*hops, hop)


def hops(
    nodes: NodeQuerySet,
    near: Iterable[int],
    *,
    project: Project,
    relations: Iterable[str] | None = None,
    as_of: datetime | None = None,
    fan_out: int | None = FAN_OUT,
) -> list[Hop]:
    """Return the edges out of `near` in both directions, the heaviest first.

    One statement. Both ends of each are among `nodes`; of a node the best `fan_out`
    edges in each direction are taken, by weight, then recency; None takes all.
    """
    terms = Terms.of(project, relations, as_of, fan_out)
    return step(nodes, near, terms)[0]


def distances(
    nodes: NodeQuerySet,
    seeds: Iterable[int],
    *,
    project: Project,
    depth: int = 2,
    relations: Iterable[str] | None = None,
    as_of: datetime | None = None,
    fan_out: int | None = FAN_OUT,
    breadth: int | None = BREADTH,
) -> dict[int, int]:
    """Return the ids that `nodes.reachable_from` keeps, each with its distance.

    One statement that reads no node once more. `nearest` tells what was cut.
    """
    terms = Terms.of(project, relations, as_of, fan_out, breadth)
    return walk(nodes, seeds, terms, depth)


def shortest_paths(
    nodes: NodeQuerySet,
    start: int,
    end: int,
    *,
    project: Project,
    depth: int = 4,
    limit: int = 10,
    relations: Iterable[str] | None = None,
    as_of: datetime | None = None,
    fan_out: int | None = FAN_OUT,
) -> Paths:
    """Return up to `limit` shortest paths of at most `depth` edges within `nodes`.

    Edges are walked in both directions, of each node its best `fan_out` each way: a
    path over an edge beyond those may be missed, and `cut` says where.
    """
    terms = Terms.of(project, relations, as_of, fan_out, MOST_HOPS)
    near, far = Side(nodes, terms, start), Side(nodes, terms, end)
    met = [start] if start == end else []
    while not met and near.level + far.level < depth and near.frontier and far.frontier:
        fewer, other = (
            (near, far) if len(near.frontier) <= len(far.frontier) else (far, near)
        )
        fewer.advance()
        met = [node for node in fewer.frontier if node in other.depths]
    found = tuple(islice(_joined(near, far, met), limit + 1))
    return finish(near, far, found, limit)


def finish(near: Side, far: Side, found: Sequence[Path], limit: int) -> Paths:
    """Return the first `limit` of `found`, and what two searches left out."""
    walked, left = (*near.walked, *far.walked), (*near.left, *far.left)
    cut = cuts(near.nodes, walked, left, near.terms)
    is_complete = near.is_complete and far.is_complete and not cut
    return Paths(tuple(found[:limit]), cut, is_complete and len(found) <= limit)


def _joined(near: Side, far: Side, met: Sequence[int]) -> Iterator[Path]:
    shortest = min((near.depths[node] + far.depths[node] for node in met), default=0)
    for node in met:
        if near.depths[node] + far.depths[node] > shortest:
            continue
        for there in near.back(node):
            for back in far.back(node):
                turned = tuple(hop.turned() for hop in reversed(back))
                yield Path.along(near.end, (*there, *turned))


def nearest(
    nodes: NodeQuerySet,
    start: int,
    *,
    project: Project,
    depth: int,
    limit: int,
    relations: Iterable[str] | None = None,
    as_of: datetime | None = None,
    fan_out: int | None = FAN_OUT,
    breadth: int | None = None,
) -> Around:
    """Return up to `limit` nodes around `start`, nearest first, then by edge weight.

    Of each node its best `fan_out` edges are walked each way, within `nodes`, of a
    level `breadth`, out of the nodes first that the best edges led to.
    """
    most = MOST_HOPS if breadth is None else breadth
    terms = Terms.of(project, relations, as_of, fan_out, most)
    side = Side(nodes, terms, start)
    while side.level < depth and side.frontier and len(side.depths) <= limit + 1:
        side.advance()
    found = list(side.depths.items())[1:]
    cut = cuts(nodes, side.walked, side.left, side.terms)
    is_complete = side.is_complete and not cut and len(found) <= limit
    return Around(dict(found[:limit]), cut, is_complete)
