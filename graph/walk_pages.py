"""The pages of a node's timeline, and of the ways from it to another node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from connections.models import User
from connections.records import clean_key
from graph.best_paths import best_paths
from graph.explanations import Explained, explained, summary
from graph.models import Node
from graph.pages import PAGE, node_of, reader
from graph.paths import Path, Paths
from graph.querysets import NodeQuerySet
from graph.relation_labels import label_of_relation
from graph.steps import FAN_OUT, Cut
from graph.timeline import KINDS, NEWEST, OLDEST, Moment, Place
from graph.timeline import timeline as timeline_of

DEPTH, WAYS, CUTS_SHOWN = 4, 10, 5
KEY_CHARACTERS = 2000
LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A moment as it is shown, and what it is about."""

    moment: Moment
    node: Node
    label: str


@dataclass(frozen=True, slots=True)
class Stop:
    """A node of a path, and what leads there from the one before."""

    node: Node
    relation: str = ""
    forward: bool = True


@dataclass(frozen=True, slots=True)
class Way:
    """A path, stop by stop and as a sentence."""

    stops: tuple[Stop, ...]
    explained: Explained


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A hub on the way, and how many of its edges were not walked."""

    node: Node
    cut: Cut

    @property
    def number(self) -> str:
        return f"{self.cut.total - self.cut.shown:,}"


@login_required
def timeline(request: HttpRequest, pk: int) -> HttpResponse:
    """Show everything around a node that has a date, the newest first."""
    user = reader(request)
    node = node_of(user, pk)
    allowed = _allowed(user, node)
    order = OLDEST if request.GET.get("order") == OLDEST else NEWEST
    found = timeline_of(
        allowed,
        node.pk,
        project=node.project,
        limit=PAGE,
        order=order,
        after=_place(request),
    )
    about = _shown(allowed, [moment.node_id for moment in found.moments])
    context = {
        "node": node,
        "order": order,
        "entries": [
            Entry(moment, about[moment.node_id], label_of(moment))
            for moment in found.moments
            if moment.node_id in about
        ],
        "next": found.next.cursor if found.next else "",
        "is_first": "after" not in request.GET,
    }
    return render(request, "graph/timeline.html", context)


@login_required
def paths(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the best ways from a node to another, which is named by key or id."""
    user = reader(request)
    node = node_of(user, pk)
    named = request.GET.get("to", "").strip()[:KEY_CHARACTERS]
    context: dict[str, Any] = {"node": node, "to": named, "depth": DEPTH}
    if named:
        allowed = _allowed(user, node)
        context |= {"searched": True, "end": None}
        if end := _named(allowed, named):
            found = best_paths(
                allowed,
                node.pk,
                end.pk,
                project=node.project,
                depth=DEPTH,
                limit=WAYS,
                fan_out=FAN_OUT,
            )
            context |= {"end": end, **_ways(allowed, found)}
            context["summary"] = summary(node, end, found, DEPTH)
    return render(request, "graph/paths.html", context)


def label_of(moment: Moment) -> str:
    """Return what happened in a few words, as seen from the node of the timeline."""
    if not moment.relation:
        return KINDS[moment.kind].rstrip(".")
    name = label_of_relation(moment.relation, "out" if moment.forward else "in")
    happened = {"edge_began": " from here on", "edge_ended": " until here"}
    return f"{name}{happened.get(moment.kind, '')}"


def _allowed(user: User, node: Node) -> NodeQuerySet:
    rows = Node.objects.visible_to(user).of(node.project).current()
    return rows.as_of(timezone.now())


def _place(request: HttpRequest) -> Place | None:
    cursor = request.GET.get("after", "")
    try:
        return Place.of_cursor(cursor) if cursor else None
    except ValueError:
        raise Http404("There is no such page.") from None


def _shown(allowed: NodeQuerySet, ids: Sequence[int]) -> dict[int, Node]:
    names = ("key", "node_type", "title", "content", "occurred_at", "gone_at")
    return allowed.only(*names).in_bulk(list(set(ids)))


def _named(allowed: NodeQuerySet, named: str) -> Node | None:
    wanted = Q(key=clean_key(named))
    if named.isascii() and named.isdigit() and int(named) <= LARGEST_ID:
        wanted |= Q(pk=int(named))
    return allowed.filter(wanted).order_by("pk").first()


def _ways(allowed: NodeQuerySet, found: Paths) -> dict[str, Any]:
    cut = found.cut[:CUTS_SHOWN]
    on_ways = [pk for path in found.paths for pk in path.nodes]
    nodes = _shown(allowed, [*on_ways, *(each.node_id for each in cut)])
    return {
        "ways": [
            Way(_stops(path, nodes), explained(path, nodes))
            for path in found.paths
            if set(path.nodes) <= nodes.keys()
        ],
        "left_out": [
            LeftOut(nodes[each.node_id], each) for each in cut if each.node_id in nodes
        ],
        "is_complete": found.is_complete,
    }


def _stops(path: Path, nodes: dict[int, Node]) -> tuple[Stop, ...]:
    stops = [Stop(nodes[path.nodes[0]])]
    for hop in path.hops:
        name = hop.relation.replace("_", " ")
        stops.append(Stop(nodes[hop.far], name, hop.forward))
    return tuple(stops)
