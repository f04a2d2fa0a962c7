"""The neighbourhood of a node as a small picture, and as a list that says the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from connections.models import Project, User
from graph.models import Edge, Node
from graph.paths import nearest
from graph.relation_labels import label_of_relation
from graph.surroundings import FAMILIES, THING, family_of, said_by, tied_to

# The node itself and the best tied to it; more labels than that overlap.
DRAWN = 14
# Where fewer than this are tied to it directly, what lies one step on is drawn too.
FEW_DIRECT = 6
LOOKED_AT = 60
WIDTH, HEIGHT, RADIUS_X, RADIUS_Y = 400, 330, 80, 132
LABEL, NAME = 15, 200


@dataclass(frozen=True, slots=True)
class Drawn:
    """A node at its place; `label` is cut, `name` is not, `ties` say how it is tied."""

    pk: int
    name: str
    label: str
    kind: str
    icon: str
    family: str
    x: float
    y: float
    label_x: float
    anchor: str
    ties: tuple[str, ...]
    is_direct: bool


@dataclass(frozen=True, slots=True)
class Line:
    """An edge between two places; `is_own` where it is one of the node's itself."""

    x1: float
    y1: float
    x2: float
    y2: float
    title: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class Legend:
    kind: str
    icon: str
    family: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is drawn around `centre`; `more` direct ties were found and are not drawn,
    and with `is_cut` there are others that were not looked at."""

    centre: Drawn
    around: tuple[Drawn, ...]
    lines: tuple[Line, ...]
    legend: tuple[Legend, ...]
    more: int
    is_cut: bool
    width: int = WIDTH
    height: int = HEIGHT


def picture_of(
    node: Node, user: User, project: Project, *, as_of: datetime | None = None
) -> Picture:
    """Return the best of what `user` may see around `node`, by weight of its ties.

    With `as_of` nothing is there that was valid or said only later.
    """
    moment = as_of or timezone.now()
    nodes = Node.objects.visible_to(user).of(project).current().as_of(moment)
    if as_of:
        nodes = nodes.filter(said_by(moment) | Q(pk=node.pk))
    direct = nearest(
        nodes, node.pk, project=project, depth=1, limit=LOOKED_AT, as_of=moment
    )
    ids = list(direct.distances)[: DRAWN - 1]
    if 0 < len(ids) < FEW_DIRECT:
        further = nearest(
            nodes, node.pk, project=project, depth=2, limit=2 * FEW_DIRECT, as_of=moment
        )
        ids = list(further.distances)[: DRAWN - 1]
    drawn = nodes.defer("search_vector", "metadata_vector", "embedding").in_bulk(ids)
    edges = _edges(user, project, moment, [node.pk, *ids], was_said=bool(as_of))
    if as_of:
        # Who and what has no date is there from its first tie on.
        tied = tied_to(node.pk, edges)
        ids = [pk for pk in ids if pk in tied]
    around = _around(node, [drawn[pk] for pk in ids if pk in drawn], edges)
    centre = _at_centre(node)
    return Picture(
        centre=centre,
        around=around,
        lines=_lines((centre, *around), edges, node.pk),
        legend=_legend((centre, *around)),
        more=len([pk for pk in direct.distances if pk not in ids]),
        is_cut=not direct.is_complete,
    )


def _edges(
    user: User,
    project: Project,
    moment: datetime,
    ids: Sequence[int],
    *,
    was_said: bool,
) -> list[Edge]:
    edges = Edge.objects.visible_to(user).of(project).live(moment)
    if was_said:
        edges = edges.filter(said_by(moment))
    both = Q(source__in=ids) & Q(target__in=ids)
    return list(edges.filter(both).order_by("-weight", "pk")[: 20 * DRAWN])


def _at_centre(node: Node) -> Drawn:
    return _drawn(node, WIDTH / 2, HEIGHT / 2, (), is_direct=True)


def _around(
    centre: Node, nodes: Sequence[Node], edges: Iterable[Edge]
) -> tuple[Drawn, ...]:
    """Place `nodes` on an ellipse, those of one family beside each other.

    Beginning half a step from the top keeps the labels of both sides apart.
    """
    ties = _ties(centre.pk, edges)
    families = [*FAMILIES, THING]
    order = sorted(
        nodes,
        key=lambda node: (
            node.pk not in ties,
            families.index(family_of(node.node_type)),
            node.node_type,
        ),
    )
    found = []
    for place, node in enumerate(order):
        angle = 2 * math.pi * (place + 0.5) / len(order) - math.pi / 2
        x = WIDTH / 2 + RADIUS_X * math.cos(angle)
        y = HEIGHT / 2 + RADIUS_Y * math.sin(angle)
        said = tuple(ties.get(node.pk, ()))
        found.append(_drawn(node, x, y, said, is_direct=node.pk in ties))
    return tuple(found)


def _drawn(
    node: Node, x: float, y: float, ties: tuple[str, ...], *, is_direct: bool
) -> Drawn:
    said = node.title or node.content[:NAME] or node.context or node.key
    name = " ".join(said.split())
    is_right = x >= WIDTH / 2
    return Drawn(
        pk=node.pk,
        name=name,
        label=name if len(name) <= LABEL else f"{name[: LABEL - 1].rstrip()}\u2026",
        kind=node.node_type.replace("_", " "),
        icon=node.icon,
        family=family_of(node.node_type),
        x=round(x, 1),
        y=round(y, 1),
        label_x=round(x + (17 if is_right else -17), 1),
        anchor="start" if is_right else "end",
        ties=ties,
        is_direct=is_direct,
    )


def _ties(centre: int, edges: Iterable[Edge]) -> dict[int, list[str]]:
    """Return how each node is tied to the one in the centre, in words."""
    found: dict[int, list[str]] = {}
    for edge in edges:
        if edge.source_id == centre:
            label = label_of_relation(edge.relation, "out")
            found.setdefault(edge.target_id, []).append(label)
        elif edge.target_id == centre:
            label = label_of_relation(edge.relation, "in")
            found.setdefault(edge.source_id, []).append(label)
    return {node: list(dict.fromkeys(said)) for node, said in found.items()}


def _lines(
    drawn: Iterable[Drawn], edges: Iterable[Edge], centre: int
) -> tuple[Line, ...]:
    """Return one line between each two nodes that are tied, own ones last: on top."""
    at = {each.pk: each for each in drawn}
    between: dict[tuple[int, int], list[str]] = {}
    for edge in edges:
        if edge.source_id in at and edge.target_id in at:
            ends = tuple(sorted((edge.source_id, edge.target_id)))
            source, target = at[edge.source_id].name, at[edge.target_id].name
            relation = edge.relation.replace("_", " ")
            said = f"{source[:60]} \u2014 {relation} \u2192 {target[:60]}"
            between.setdefault((ends[0], ends[1]), []).append(said)
    lines = [
        Line(
            at[one].x,
            at[one].y,
            at[other].x,
            at[other].y,
            "; ".join(dict.fromkeys(said)),
            centre in (one, other),
        )
        for (one, other), said in between.items()
        if one != other
    ]
    return tuple(sorted(lines, key=lambda line: line.is_own))


def _legend(drawn: Iterable[Drawn]) -> tuple[Legend, ...]:
    kinds = {each.kind: Legend(each.kind, each.icon, each.family) for each in drawn}
    return tuple(kinds.values())
