"""One step of a walk: the edges out of some nodes, both ways, the best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Lookup
from django.utils import timezone

from connections.models import Project
from connections.prepared import fetch_prepared
from graph import walk_sql as sql
from graph.copying import array_of_ids

if TYPE_CHECKING:
    from graph.querysets import NodeQuerySet

Direction = Literal["out", "in"]
FAN_OUT = 50
# Of a level, so many edges are walked: what a walk costs does not hang on its hubs.
BREADTH = 240
# The edges of a node are counted no further, nor those of all nodes of a walk.
COUNTED, COUNTED_IN_ALL = 1_000, 10_000
# Of the nodes of a level that were not walked from, so many are named.
LEFT_NAMED = 50


@dataclass(frozen=True, slots=True)
class Hop:
    """An edge walked from `near` to `far`; `forward` where the edge points so."""

    near: int
    far: int
    edge: int
    relation: str
    forward: bool
    weight: float

    def turned(self) -> Hop:
        """Return the same edge walked the other way."""
        return replace(self, near=self.far, far=self.near, forward=not self.forward)


@dataclass(frozen=True, slots=True)
class Cut:
    """A node of whose edges in a direction only the best were walked.

    It has `total` edges there that may be walked, or at least so many where that
    `is_exact` not.
    """

    node_id: int
    direction: Direction
    shown: int
    total: int
    is_exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Which edges a walk takes: of a node `fan_out` in each direction, of a level
    `breadth`; None takes all of them."""

    project: Project
    live: datetime
    relations: Sequence[str] | None = None
    fan_out: int | None = FAN_OUT
    breadth: int | None = None

    @classmethod
    def of(
        cls,
        project: Project,
        relations: Iterable[str] | None,
        as_of: datetime | None,
        fan_out: int | None,
        breadth: int | None = None,
    ) -> Terms:
        for name, most in (("fan-out", fan_out), ("breadth", breadth)):
            if most is not None and most < 1:
                raise ValueError(f"A {name} is at least 1, not {most}.")
        names = None if relations is None else list(relations)
        return cls(
            project=project,
            live=as_of or timezone.now(),
            relations=names,
            fan_out=fan_out,
            breadth=breadth,
        )

    def of_edge(self, audiences: list[int] | None) -> tuple[Any, ...]:
        """Return the values of `sql.LIVE`."""
        seen = None if audiences is None else array_of_ids(audiences)
        return (
            self.project.tenant_id,
            self.project.pk,
            seen,
            seen,
            self.relations,
            self.relations,
            self.live,
            self.live,
        )

    def of_level(self, audiences: list[int] | None) -> tuple[Any, ...]:
        """Return the values of `sql.LEVEL`: of one way, of the other, and in all."""
        way = (*self.of_edge(audiences), self.fan_out)
        return (*way, *way, self.breadth)


class OneOf(Lookup):
    """`= ANY('{...}')`: ids as one value, which costs less to read than a list."""

    lookup_name = "one_of"
    prepare_rhs = False

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, params = self.process_lhs(compiler, connection)
        return f"{left} = ANY(%s::bigint[])", (*params, array_of_ids(self.rhs))


class AnyOf(Lookup):
    """`= ANY(ARRAY(...))`: the ids are read in the order of the index, not joined."""

    lookup_name = "any_of"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, params = self.process_lhs(compiler, connection)
        right, more = self.process_rhs(compiler, connection)
        return f"{left} = ANY(ARRAY{right})", (*params, *more)


def step(
    nodes: NodeQuerySet, near: Iterable[int], terms: Terms
) -> tuple[list[Hop], list[int]]:
    """Return the edges out of those of `near` that are among `nodes`, the best first.

    Both their ends are among `nodes`; of each node the best `fan_out` in each
    direction are taken, by weight, then recency, of all `near` the first `breadth` in
    the order of `near`. Besides, those of `near` that may have edges beyond these.
    """
    ids = list(dict.fromkeys(near))
    rows = _rows(nodes, sql.HOPS, ids, *terms.of_level(nodes.audiences))
    hops = [Hop(*row) for row in rows]
    if terms.breadth is None or len(hops) < terms.breadth:
        return hops, []
    walked = {hop.near for hop in hops}
    last = max(place for place, node in enumerate(ids) if node in walked)
    return hops, ids[last:]


def ways(
    audiences: list[int] | None,
    near: Iterable[int],
    terms: Terms,
    *,
    depth: int,
    using: str = DEFAULT_DB_ALIAS,
) -> list[tuple[int, int]]:
    """Return the ends of the edges within `depth` steps of `near`, of those that the
    audiences may see (None: all).

    The nodes at the ends are not looked at: what a caller may not see it must drop.
    """
    edge = terms.of_edge(audiences)
    values = (list(near), *edge, terms.fan_out, *edge, terms.fan_out, depth)
    return fetch_prepared(sql.WAYS, values, using=using)


def tied(
    audiences: list[int] | None,
    nodes: Sequence[int],
    others: Sequence[int],
    terms: Terms,
    *,
    using: str = DEFAULT_DB_ALIAS,
) -> frozenset[int]:
    """Return which of `nodes` have an edge to one of `others`."""
    values = (list(nodes), list(others), *terms.of_edge(audiences))
    with connections[using].cursor() as cursor:
        cursor.execute(sql.TIED, values)
        return frozenset(row[0] for row in cursor)


def walk(
    nodes: NodeQuerySet, seeds: Iterable[int], terms: Terms, depth: int
) -> dict[int, int]:
    """Return the nodes within `depth` edges of `seeds` with their distance."""
    level = terms.of_level(nodes.audiences)
    inside, ids = nodes.of(terms.project), list(dict.fromkeys(seeds))
    return dict(_rows(inside, sql.DISTANCES, ids, *level, depth))


def cuts(
    nodes: NodeQuerySet, walked: Iterable[Hop], left: Sequence[int], terms: Terms
) -> tuple[Cut, ...]:
    """Return where edges of what was walked were left out, with their number.

    By the fan-out, or out of the nodes `left` by the breadth.
    """
    edges = {(hop.near, hop.forward, hop.edge) for hop in walked}
    shown = Counter((near, forward) for near, forward, _ in edges)
    full = [place for place, number in shown.items() if number == terms.fan_out]
    full += [(node, forward) for node in left for forward in (True, False)]
    if not full:
        return ()
    most = max(shown[place] for place in full)
    most += max(1, min(COUNTED, COUNTED_IN_ALL // len(full)))
    counted = count_edges(nodes, list(dict.fromkeys(full)), terms, most=most)
    found = (
        Cut(node, "out" if forward else "in", shown[node, forward], total, total < most)
        for (node, forward), total in counted.items()
        if total > shown[node, forward]
    )
    return tuple(sorted(found, key=lambda cut: (-cut.total, cut.node_id)))


def count_edges(
    nodes: NodeQuerySet,
    places: Sequence[tuple[int, bool]],
    terms: Terms,
    *,
    most: int,
) -> dict[tuple[int, bool], int]:
    """Return how many edges may be walked from each (node, forward), up to `most`."""
    edge = terms.of_edge(nodes.audiences)
    ids, forward = [place[0] for place in places], [place[1] for place in places]
    rows = _rows(nodes, sql.COUNTS, ids, forward, *edge, most, *edge, most)
    return {(node, is_forward): number for node, is_forward, number in rows}


def _rows(nodes: NodeQuerySet, text: str, *values: Any) -> list[tuple[Any, ...]]:
    try:
        allowed, params = nodes.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return []
    text = text.format(allowed=allowed)
    return fetch_prepared(text, (*params, *values), using=nodes.db)
