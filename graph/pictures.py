"""The picture of a part of a graph: which nodes, where they lie, what ties them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

import numpy as np
from django.db.models import F
from django.db.models.functions import Left
from django.utils import timezone

from graph.best_paths import best_paths
from graph.explanations import Explained, explained, summary
from graph.forces import LENGTH, Ties, relax, separate
from graph.layouts import Link, places_of
from graph.models import Node, NodePosition
from graph.paths import Path
from graph.steps import Direction
from graph.surroundings import USUAL, More, View, around, beyond, family_of, tied_to

LIMIT_MOST, DEPTH_MOST = 1_000, 3
EDGES_MOST = 6_000
TEXT_CHARACTERS, NAME_CHARACTERS = 280, 90
# Up to here the kept places are where the picture's own forces begin: what lies far
# apart in all of the graph is beside its neighbours in a small part of it.
RELAXED = 300
# The room of a node with its name, and of one among many.
BOX, SMALL_BOX = (92.0, 44.0), (26.0, 26.0)
WAYS, WAY_DEPTH = 3, 4
SHOWN = (
    "key",
    "node_type",
    "title",
    "context",
    "source_kind",
    "occurred_at",
    "gone_at",
    "audience_id",
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A node at its place."""

    node: Node
    x: float
    y: float

    @property
    def family(self) -> str:
        return family_of(self.node.node_type)

    @property
    def about(self) -> str:
        """Return its type and, where it has one, its day, as a list says them."""
        moment = self.node.occurred_at
        if moment is None:
            return self.node.type_name
        day = timezone.localtime(moment)
        return f"{self.node.type_name}, {day.day} {day:%b} {day.year}"

    @property
    def name(self) -> str:
        said = self.node.title or self.node.content or self.node.key
        name = " ".join(said.split())
        return (
            name
            if len(name) <= NAME_CHARACTERS
            else f"{name[: NAME_CHARACTERS - 1].rstrip()}\u2026"
        )


@dataclass(frozen=True, slots=True)
class Line:
    """An edge between two drawn nodes."""

    id: int
    source_id: int
    target_id: int
    relation: str
    weight: float
    occurred_at: datetime | None
    audience_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is drawn, the centre first where there is one; `more` was left out.

    Not `is_complete` where there are more edges among these than are drawn.
    """

    nodes: tuple[Drawn, ...]
    edges: tuple[Line, ...]
    more: tuple[More, ...] = ()
    is_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One path: its nodes and edges in their order, and in words."""

    path: Path
    said: Explained


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How two nodes hang together: in words, way by way, and drawn."""

    summary: str
    ways: tuple[Way, ...]
    picture: Picture
    is_complete: bool


def picture_around(
    view: View, centre: Node, *, depth: int = 1, limit: int = USUAL
) -> Picture:
    """Return the best of what lies around `centre`, at most `limit` nodes with it."""
    chosen = around(view, centre.pk, depth=depth, limit=limit)
    nodes, edges, whole = _read(view, chosen.nodes, (centre.pk,))
    # Who and what has no date is there from its first tie on.
    tied = tied_to(centre.pk, edges)
    nodes = [node for node in nodes if node.pk in tied]
    kept = {node.pk for node in nodes}
    edges = [edge for edge in edges if {edge.source_id, edge.target_id} <= kept]
    return _drawn(view, nodes, edges, chosen.more, is_complete=whole)


def picture_of_all(view: View, *, limit: int = USUAL) -> Picture:
    """Return the best tied nodes of a project, as far as `view` shows them."""
    allowed = view.nodes()
    # Of a node that others may see now its ties are not known yet.
    placed = NodePosition.objects.filter(
        tenant_id=view.project.tenant_id,
        project=view.project,
        node__in=allowed,
        seen_by=F("node__audience"),
    )
    best = placed.order_by("-ties", "node")[:limit]
    ids = list(best.values_list("node", flat=True))
    if len(ids) < limit:
        # What was never placed: a project before its first layout.
        others = allowed.exclude(pk__in=ids).order_by("-pk")
        ids += others.values_list("pk", flat=True)[: limit - len(ids)]
    nodes, edges, whole = _read(view, ids)
    return _drawn(view, nodes, edges, is_complete=whole)


def picture_beyond(
    view: View,
    node: Node,
    *,
    drawn: Sequence[int],
    number: int,
    relation: str = "",
    direction: Direction | None = None,
) -> Picture:
    """Return what comes to a picture of `drawn` when a node of it is expanded."""
    chosen = beyond(
        view,
        node.pk,
        drawn=drawn,
        number=number,
        relation=relation,
        direction=direction,
    )
    new = set(chosen.nodes)
    beside = (*chosen.nodes, node.pk, *drawn)
    nodes, edges, whole = _read(view, beside, (node.pk, *drawn))
    touching = [e for e in edges if e.source_id in new or e.target_id in new]
    kept = {node.pk, *new}
    shown = [each for each in nodes if each.pk in kept]
    return _drawn(view, shown, touching, chosen.more, is_complete=whole)


def connection_of(view: View, start: Node, end: Node) -> Connection:
    """Return the best ways between two nodes within `view`."""
    found = best_paths(
        view.nodes(start.pk, end.pk),
        start.pk,
        end.pk,
        project=view.project,
        depth=WAY_DEPTH,
        limit=WAYS,
        relations=view.relations or None,
        as_of=view.moment,
    )
    ids = dict.fromkeys([start.pk, end.pk])
    ids |= dict.fromkeys(pk for path in found.paths for pk in path.nodes)
    nodes, edges, _ = _read(view, list(ids), (start.pk, end.pk))
    # An end that was not there at that moment has no way, but still its name.
    by_id = {start.pk: start, end.pk: end, **{node.pk: node for node in nodes}}
    # A walk asks what was valid then; what was said only later is not in the view.
    there = {edge.id for edge in edges}
    found = replace(found, paths=tuple(p for p in found.paths if set(p.edges) <= there))
    ways = tuple(Way(path=path, said=explained(path, by_id)) for path in found.paths)
    walked = {edge for way in ways for edge in way.path.edges}
    return Connection(
        summary=summary(by_id[start.pk], by_id[end.pk], found, WAY_DEPTH),
        ways=ways,
        picture=_drawn(view, nodes, [edge for edge in edges if edge.id in walked]),
        is_complete=found.is_complete,
    )


def _read(
    view: View, ids: Sequence[int], always: Sequence[int] = ()
) -> tuple[list[Node], list[Line], bool]:
    """Return the nodes of `ids` in that order, the edges among them the heaviest
    first, and whether these are all."""
    rows = view.nodes(*always).annotate(begins=Left("content", TEXT_CHARACTERS))
    found = rows.only(*SHOWN).in_bulk(list(ids))
    for node in found.values():
        node.content = node.begins  # type: ignore[attr-defined] # annotated
    nodes = [found[pk] for pk in dict.fromkeys(ids) if pk in found]
    edges = _among(view, list(found))
    return nodes, edges[:EDGES_MOST], len(edges) <= EDGES_MOST


def _among(view: View, ids: Sequence[int]) -> list[Line]:
    rows = view.edges().filter(source__in=ids, target__in=ids).order_by("-weight", "pk")
    names = [field.name for field in fields(Line)]
    return [Line(*row) for row in rows.values_list(*names)[: EDGES_MOST + 1]]


def _drawn(
    view: View,
    nodes: Sequence[Node],
    edges: Sequence[Line],
    more: tuple[More, ...] = (),
    *,
    is_complete: bool = True,
) -> Picture:
    links = [Link(e.source_id, e.target_id, e.audience_id) for e in edges]
    audiences = {node.pk: node.audience_id for node in nodes}
    places = places_of(view.project, audiences, links)
    at = _arranged(np.array([places[node.pk] for node in nodes]), nodes, edges)
    return Picture(
        nodes=tuple(
            Drawn(node, round(float(x), 1), round(float(y), 1))
            for node, (x, y) in zip(nodes, at, strict=True)
        ),
        edges=tuple(edges),
        more=more,
        is_complete=is_complete,
    )


def _arranged(
    at: np.ndarray, nodes: Sequence[Node], edges: Iterable[Line]
) -> np.ndarray:
    """Return the places in the picture: as they are kept, with room between them; of
    a small part, drawn together by the edges that it shows."""
    if len(nodes) < 2:
        return at.reshape(-1, 2)
    if len(nodes) > RELAXED:
        return separate(_gathered(at), *SMALL_BOX, rounds=12)
    number = {node.pk: place for place, node in enumerate(nodes)}
    pairs = {
        (number[edge.source_id], number[edge.target_id])
        for edge in edges
        if edge.source_id in number and edge.target_id in number
    }
    ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    ties = Ties(ends[:, 0], ends[:, 1], np.ones(len(ends)))
    # From near: the sides stay those of the whole graph, distances become the part's.
    spread = max(float(np.abs(at - at.mean(axis=0)).max()), 1.0)
    begun = (at - at.mean(axis=0)) * min(1.0, LENGTH * len(nodes) ** 0.5 / spread)
    return separate(relax(begun, ties, steps=100), *BOX)


def _gathered(at: np.ndarray) -> np.ndarray:
    """Return the places of some of many nodes as close as their number asks for; what
    lies far outside comes nearer, and stays outside in its direction."""
    across = at - np.median(at, axis=0)
    far = np.maximum(np.hypot(across[:, 0], across[:, 1]), 1.0)
    edge = max(float(np.percentile(far, 75)), 1.0)
    nearer = np.where(far > edge, edge * (1 + 0.5 * np.log(far / edge)), far)
    room = 0.5 * LENGTH * len(at) ** 0.5
    return across * (nearer / far * room / edge)[:, None]
