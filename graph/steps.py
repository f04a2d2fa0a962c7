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
from graph import walk_sql as sql

if TYPE_CHECKING:
    from graph.querysets import NodeQuerySet

Direction = Literal["out", "in"]
FAN_OUT = 50
# The edges of a node are counted no further, nor those of all nodes of a walk.
COUNTED, COUNTED_IN_ALL = 1_000, 10_000


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
    """Which edges a walk takes; `fan_out` None takes all of them."""

    project: Project
    live: datetime
    relations: Sequence[str] | None = None
    fan_out: int | None = FAN_OUT

    @classmethod
    def of(
        cls,
        project: Project,
        relations: Iterable[str] | None,
        as_of: datetime | None,
        fan_out: int | None,
    ) -> Terms:
        if fan_out is not None and fan_out < 1:
            raise ValueError(f"A fan-out is at least 1, not {fan_out}.")
        names = None if relations is None else list(relations)
        return cls(
            project=project,
            live=as_of or timezone.now(),
            relations=names,
            fan_out=fan_out,
        )

    def of_edge(self, audiences: list[int] | None) -> tuple[Any, ...]:
        """Return the values of `sql.LIVE`."""
        # As text: a list would be written out value by value, many times over.
        seen = None if audiences is None else f"{{{','.join(map(str, audiences))}}}"
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

    def of_hop(self, audiences: list[int] | None) -> tuple[Any, ...]:
        """Return the values of `sql.HOP`, of one way and the other."""
        return (*self.of_edge(audiences), self.fan_out) * 2


class AnyOf(Lookup):
    """`= ANY(ARRAY(...))`: the ids are read in the order of the index, not joined."""

    lookup_name = "any_of"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, params = self.process_lhs(compiler, connection)
        right, more = self.process_rhs(compiler, connection)
        return f"{left} = ANY(ARRAY{right})", (*params, *more)


def step(
    nodes: NodeQuerySet, near: Iterable[int], terms: Terms, most: int | None = None
) -> tuple[list[Hop], bool]:
    """Return the edges out of those of `near` that are among `nodes`, the best first.

    Both their ends are among `nodes`; of each node the best `fan_out` in each
    direction are taken, by weight, then recency. Besides, whether there were more than
    `most`, which is all that are returned.
    """
    ids = list(dict.fromkeys(near))
    limit = None if most is None else most + 1
    rows = _rows(nodes, sql.HOPS, ids, *terms.of_hop(nodes.audiences), limit)
    return [Hop(*row) for row in rows[:most]], most is not None and len(rows) > most


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
    with connections[using].cursor() as cursor:
        cursor.execute(sql.WAYS, values)
        return cursor.fetchall()


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
    hop = terms.of_hop(nodes.audiences)
    inside = nodes.of(terms.project)
    return dict(_rows(inside, sql.DISTANCES, list(seeds), *hop, depth))


def cuts(nodes: NodeQuerySet, walked: Iterable[Hop], terms: Terms) -> tuple[Cut, ...]:
    """Return where the cap left out edges of what was walked, with their number."""
    if terms.fan_out is None:
        return ()
    shown = Counter((hop.near, hop.forward) for hop in walked)
    full = [place for place, number in shown.items() if number >= terms.fan_out]
    if not full:
        return ()
    most = terms.fan_out + max(1, min(COUNTED, COUNTED_IN_ALL // len(full)))
    counted = count_edges(nodes, full, terms, most=most)
    found = (
        Cut(node, "out" if forward else "in", terms.fan_out, total, total < most)
        for (node, forward), total in counted.items()
        if total > terms.fan_out
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
    with connections[nodes.db].cursor() as cursor:
        cursor.execute(text.format(allowed=allowed), (*params, *values))
        return cursor.fetchall()
