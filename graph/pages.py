"""The page of a node: what it says, why it is there, and what it is tied to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.contrib.auth.decorators import login_required
from django.db.models import Count, F, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from connections.models import User
from connections.records import node_types, relations
from graph.models import Edge, Evidence, Identity, Node, Record
from graph.pruned import out_of_trash
from graph.relation_labels import label_of_relation
from graph.staleness import age_of, in_words, thresholds_of

Direction = Literal["out", "in"]
FEW, PAGE = 6, 50
EVIDENCE_SHOWN = 20
# A hub may have a million edges; its strongest are counted, and the page says so.
EDGES_COUNTED = 20_000
MOST_PAGES = 2_000

IN_SEQUENCE = frozenset({"thread", "channel", "meeting"})
SEQUENCE_RELATIONS = ("in_thread", "posted_in", "part_of")


@dataclass(frozen=True, slots=True)
class Flag:
    """Something a reader must know before relying on a node."""

    label: str
    explained: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node one edge away, with the edge."""

    node: Node
    edge: Edge


@dataclass(frozen=True, slots=True)
class Group:
    """The neighbours over one relation in one direction; the strongest are shown."""

    relation: str
    direction: Direction
    label: str
    meaning: str
    count: int
    shown: Sequence[Neighbour]

    @property
    def left_out(self) -> str:
        """Return how many are not shown; empty where all are."""
        number = self.count - len(self.shown)
        return f"{number:,}" if number > 0 else ""


@dataclass(frozen=True, slots=True)
class Item:
    """A node in the sequence of another, and who wrote or said it."""

    node: Node
    author: Node | None


@dataclass(frozen=True, slots=True)
class Paged:
    """One page of a list whose length is not counted."""

    rows: Sequence[Any]
    number: int
    has_next: bool


@login_required
def node(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a node; one that the user may not see does not exist."""
    user = reader(request)
    found = node_of(user, pk)
    context: dict[str, Any] = {
        "node": found,
        "kind": node_types.get(found.node_type),
        "flags": flags(found, thresholds_of(found.project)),
        "original": found.url,
    }
    edges = Edge.objects.visible_to(user).of(found.project).live()
    if relation := request.GET.get("relation", ""):
        direction = request.GET.get("direction", "out")
        return _one_group(request, context, edges, relation, direction)
    context |= {
        "items": _items(request, edges, found),
        "order": _order(request),
        "groups": groups(edges, found),
        "most_counted": EDGES_COUNTED,
        "evidence": _evidence(user, found),
        "identities": _identities(user, found),
    }
    return render(request, "graph/node.html", context)


def reader(request: HttpRequest) -> User:
    """Return who reads a page that asks for a login."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 # login_required; for the type checker
    return user


def node_of(user: User, pk: int) -> Node:
    """Return a node for its pages; one that `user` may not see is a 404."""
    rows = Node.objects.visible_to(user).current()
    return get_object_or_404(rows.select_related("project__tenant", "record"), pk=pk)


def flags(node: Node, thresholds: Mapping[str, int | None]) -> list[Flag]:
    """Return what limits a node's worth, as words with their explanation."""
    found = []
    if node.gone_at:
        found.append(
            Flag(
                "Gone at its source", f"Not there any more since {_day(node.gone_at)}."
            )
        )
    if node.valid_to and node.valid_to <= timezone.now():
        found.append(Flag("Ended", f"Replaced or ended on {_day(node.valid_to)}."))
    kind = node_types.get(node.node_type)
    age = age_of(node, timezone.now(), thresholds)
    if age.is_stale and not (kind and kind.structure):
        found.append(
            Flag(
                f"{in_words(age.days or 0)} old",
                f"Nothing has confirmed it for {age.days} days; a {node.node_type} is "
                f"looked at again after {age.threshold}.",
            )
        )
    return found


def _day(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%-d %B %Y}"


def groups(edges: QuerySet[Edge], node: Node) -> list[Group]:
    """Return a node's neighbours by relation and direction, each with its count."""
    found: list[Group] = []
    is_sequence = node.node_type in IN_SEQUENCE or node.node_type == "file"
    for direction in ("out", "in"):
        ends = _ends(edges, node, direction)
        strongest = ends.order_by("-weight", F("occurred_at").desc(nulls_last=True))
        counted = (
            Edge.objects.filter(pk__in=strongest.values("pk")[:EDGES_COUNTED])
            .order_by()
            .values_list("relation")
            .annotate(count=Count("pk"))
        )
        for relation, count in sorted(counted, key=lambda row: (-row[1], row[0])):
            if is_sequence and direction == "in" and relation in SEQUENCE_RELATIONS:
                continue
            few = strongest.filter(relation=relation)[:FEW]
            found.append(
                _group(relation, direction, count, _neighbours(few, direction))
            )
    return found


def _ends(edges: QuerySet[Edge], node: Node, direction: str) -> QuerySet[Edge]:
    if direction == "out":
        return edges.filter(source=node)
    return edges.filter(target=node)


def _group(
    relation: str, direction: str, count: int, shown: Sequence[Neighbour]
) -> Group:
    known = relations.get(relation)
    return Group(
        relation=relation,
        direction="out" if direction == "out" else "in",
        label=label_of_relation(relation, direction),
        meaning=known.meaning if known else "",
        count=count,
        shown=shown,
    )


def _neighbours(edges: QuerySet[Edge], direction: str) -> list[Neighbour]:
    return _ends_of(edges.select_related(_other_end(direction)), direction)


def _ends_of(edges: Iterable[Edge], direction: str) -> list[Neighbour]:
    end = _other_end(direction)
    return [Neighbour(getattr(edge, end), edge) for edge in edges]


def _other_end(direction: str) -> str:
    return "target" if direction == "out" else "source"


def _one_group(
    request: HttpRequest,
    context: dict[str, Any],
    edges: QuerySet[Edge],
    relation: str,
    direction: str,
) -> HttpResponse:
    """Show all neighbours over one relation, a page at a time."""
    if direction not in ("out", "in"):
        raise Http404("A direction is out or in.")
    ends = _ends(edges, context["node"], direction).filter(relation=relation)
    ordered = ends.order_by("-weight", F("occurred_at").desc(nulls_last=True), "pk")
    page = _page(request, ordered.select_related(_other_end(direction)))
    shown = _ends_of(page.rows, direction)
    context |= {"group": _group(relation, direction, 0, shown), "page": page}
    return render(request, "graph/neighbours.html", context)


def _page(request: HttpRequest, rows: QuerySet[Any]) -> Paged:
    number = page_number(request)
    start = (number - 1) * PAGE
    found = list(rows[start : start + PAGE])
    more = rows.values_list("pk")[start + PAGE : start + PAGE + 1]
    return Paged(found, number, bool(list(more)))


def page_number(request: HttpRequest) -> int:
    """Return the page that was asked for, from 1; raise 404 for what is no page."""
    text = request.GET.get("page", "1")
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= MOST_PAGES:
        raise Http404("There is no such page.")
    return int(text)


def _order(request: HttpRequest) -> str:
    return "newest" if request.GET.get("order") == "newest" else "oldest"


def _items(request: HttpRequest, edges: QuerySet[Edge], node: Node) -> Paged | None:
    """Return a page of what a thread, channel, meeting or file holds, in its order."""
    if node.node_type in IN_SEQUENCE:
        inside = edges.filter(target=node, position__isnull=False)
        order = ("position", "pk")
    elif node.node_type == "file":
        inside = edges.filter(target=node, relation="part_of")
        order = ("source__metadata__position", "pk")
    else:
        return None
    if _order(request) == "newest":
        order = (f"-{order[0]}", f"-{order[1]}")
    page = _page(request, inside.order_by(*order).select_related("source"))
    nodes = [edge.source for edge in page.rows]
    authors = _authors(edges, nodes)
    rows = [Item(found, authors.get(found.pk)) for found in nodes]
    return Paged(rows, page.number, page.has_next)


def _authors(edges: QuerySet[Edge], nodes: Iterable[Node]) -> dict[int, Node]:
    said = edges.filter(source__in=list(nodes), relation="sent_by")
    return {edge.source_id: edge.target for edge in said.select_related("target")}


def _evidence(user: User, node: Node) -> list[Evidence]:
    """Return the newest of what the user may see of why a node exists."""
    readable = Record.objects.visible_to(user).of(node.project)
    rows = Evidence.objects.filter(
        tenant_id=node.tenant_id,
        project_id=node.project_id,
        node=node,
        record__in=readable,
    )
    return list(
        out_of_trash(rows)
        .select_related("record__source", "record__run")
        .order_by("-pk")[: EVIDENCE_SHOWN + 1]
    )


def _identities(user: User, node: Node) -> list[Identity]:
    if node.node_type != "person":
        return []
    visible = Node.objects.visible_to(user).of(node.project).current()
    return list(
        Identity.objects.filter(
            tenant_id=node.tenant_id,
            project_id=node.project_id,
            person=node,
            node__in=visible,
        )
        .select_related("node")
        .order_by("key")[: EVIDENCE_SHOWN * 5]
    )
