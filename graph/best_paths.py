"""The paths that tell most: over strong and recent edges, around the hubs.

A step costs `(1 + age) / ln(e + weight)`, age from 0 (now) towards 1 (long ago; one
half where the edge has no date); a year is half of the way. Passing through a node
costs `ln(1 + edges)` besides: that two people are of one company says little, that both
wrote in one thread says much. Both ends are free. Where it is asked for, an edge weighs
more by as often as it led to what was cited (`graph.learned_weights`).
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from connections.models import Project
from graph.learned_weights import learned_among
from graph.models import Edge
from graph.paths import MOST_HOPS, Path, Paths, Side, finish
from graph.querysets import NodeQuerySet
from graph.steps import COUNTED_IN_ALL, FAN_OUT, Hop, Terms, count_edges

# The edges of a node that is passed are counted no further: ln 1,001 is 6.9.
HUB = 1_000
MOST_TRIED = 20_000
YEAR = 365.25 * 24 * 3600

Ways = Mapping[int, Sequence[Hop]]


def best_paths(
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
    learned: bool = False,
) -> Paths:
    """Return up to `limit` paths of at most `depth` edges within `nodes`, cheapest first.

    No path comes by a node twice. Of each node its best `fan_out` edges each way are
    walked, from the start and from the end. `learned` prices edges by their use too.
    """
    terms = Terms.of(project, relations, as_of, fan_out, MOST_HOPS)
    near, far = Side(nodes, terms, start), Side(nodes, terms, end)
    if start == end:
        return Paths((Path.along(start, ()),))
    for side, levels in ((near, depth - depth // 2), (far, depth // 2)):
        while side.level < levels and side.frontier:
            side.advance()
    ways = _between(near, far, depth)
    prices = _prices(nodes, ways, (start, end), terms, learned=learned)
    search = _Search(ways, prices, end, depth)
    found, is_complete = search.run(start, limit + 1)
    near.is_complete = near.is_complete and is_complete
    return finish(near, far, found, limit)


def _between(near: Side, far: Side, depth: int) -> Ways:
    """Return the steps that some path of at most `depth` edges may take."""
    steps = {hop.edge: hop for hop in (*near.walked, *far.walked)}
    ways: dict[int, list[Hop]] = defaultdict(list)
    for hop in steps.values():
        if hop.near != hop.far:
            ways[hop.near].append(hop)
            ways[hop.far].append(hop.turned())
    here, there = _distances(ways, near.end), _distances(ways, far.end)
    return {
        node: [
            hop for hop in out if here[node] + 1 + there.get(hop.far, depth) <= depth
        ]
        for node, out in ways.items()
        if node in here
    }


def _distances(ways: Ways, end: int) -> dict[int, int]:
    found, frontier = {end: 0}, [end]
    while frontier:
        reached = []
        for node in frontier:
            for hop in ways.get(node, ()):
                if hop.far not in found:
                    found[hop.far] = found[node] + 1
                    reached.append(hop.far)
        frontier = reached
    return found


@dataclass(frozen=True, slots=True)
class Prices:
    """What each edge costs to walk, and each node to pass."""

    edges: Mapping[int, float]
    nodes: Mapping[int, float]

    def of(self, hop: Hop) -> float:
        return self.edges[hop.edge] + self.nodes.get(hop.far, 0.0)


def _prices(
    nodes: NodeQuerySet,
    ways: Ways,
    ends: tuple[int, int],
    terms: Terms,
    *,
    learned: bool,
) -> Prices:
    steps = [hop for out in ways.values() for hop in out]
    said = dict(
        Edge.objects.of(terms.project)
        .filter(pk__in={hop.edge for hop in steps})
        .values_list("pk", "occurred_at")
    )
    used = _uses(steps, terms) if learned else {}
    edges = {
        hop.edge: edge_price(
            hop.weight + used.get(hop.edge, 0.0), said.get(hop.edge), terms.live
        )
        for hop in steps
    }
    passed = {hop.far for hop in steps} - {*ends}
    return Prices(edges, _node_prices(nodes, passed, terms))


def _uses(steps: Sequence[Hop], terms: Terms) -> dict[int, float]:
    ends = {end for hop in steps for end in (hop.near, hop.far)}
    uses: dict[int, float] = defaultdict(float)
    for learned in learned_among(terms.project, ends, terms.live):
        uses[learned.edge] += learned.uses
    return uses


def edge_price(weight: float, said: datetime | None, now: datetime) -> float:
    """Return what an edge costs: less the heavier and the newer it is."""
    years = max(0.0, (now - said).total_seconds() / YEAR) if said else 1.0
    return (1 + years / (1 + years)) / math.log(math.e + weight)


def _node_prices(
    nodes: NodeQuerySet, passed: Iterable[int], terms: Terms
) -> dict[int, float]:
    places = [(node, forward) for node in passed for forward in (True, False)]
    if not places:
        return {}
    most = max(1, min(HUB, COUNTED_IN_ALL // len(places)))
    edges: dict[int, int] = defaultdict(int)
    for (node, _), number in count_edges(nodes, places, terms, most=most).items():
        edges[node] += number
    return {node: math.log(1 + number) for node, number in edges.items()}


@dataclass(frozen=True, slots=True)
class _Search:
    """A* towards `end`; what remains is known exactly, so that it goes straight."""

    ways: Ways
    prices: Prices
    end: int
    depth: int

    def run(self, start: int, limit: int) -> tuple[list[Path], bool]:
        """Return up to `limit` paths, cheapest first, and whether all were tried."""
        remains = self._remains()
        found: list[Path] = []
        order, tried = count(), 0
        first = remains[self.depth].get(start, math.inf)
        heap = [(first, next(order), Path.along(start, (), 0.0))]
        while heap and len(found) < limit and tried < MOST_TRIED:
            _, _, path = heapq.heappop(heap)
            tried += 1
            if path.nodes[-1] == self.end:
                found.append(path)
                continue
            for longer in self._longer(path):
                left = remains[self.depth - len(longer.hops)].get(longer.nodes[-1])
                if left is not None:
                    heapq.heappush(heap, (longer.cost + left, next(order), longer))
        return found, tried < MOST_TRIED

    def _longer(self, path: Path) -> Iterator[Path]:
        for hop in self.ways.get(path.nodes[-1], ()):
            if hop.far not in path.nodes:
                cost = path.cost + self.prices.of(hop)
                yield Path.along(path.nodes[0], (*path.hops, hop), cost)

    def _remains(self) -> list[dict[int, float]]:
        """Return by number of edges left what the cheapest way to the end costs."""
        remains = [{self.end: 0.0}]
        for _ in range(self.depth):
            before, now = remains[-1], dict(remains[-1])
            for node, out in self.ways.items():
                for hop in out:
                    if hop.far in before:
                        cost = self.prices.of(hop) + before[hop.far]
                        now[node] = min(cost, now.get(node, math.inf))
            remains.append(now)
        return remains
