"""What the graph's views read, beginning with what the caller may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Left
from django.utils import timezone
from django.utils.text import Truncator
from rest_framework.request import Request

from connections.api.permissions import visible
from connections.models import Audience, Project
from connections.records import clean_key
from graph.api.parameters import EdgeParameters, NodeParameters, find_node
from graph.api.serializers import CutSerializer, EndSerializer, NeighboursSerializer
from graph.best_paths import best_paths
from graph.explanations import explained, left_out, summary
from graph.matching import matching
from graph.models import Edge, Evidence, Node
from graph.paths import Path, Paths, nearest, shortest_paths
from graph.pruned import out_of_trash
from graph.querysets import EdgeQuerySet, NodeQuerySet
from graph.steps import Hop

EDGES_MOST, NAME_CHARACTERS = 1000, 60
CUTS_TOLD, SAID_CHARACTERS = 5, 200
SHORTEST, BEST = "shortest", "best"
EDGE_COLUMNS = (
    "audience",
    "relation",
    "weight",
    "origin",
    "occurred_at",
    "valid_from",
    "valid_to",
    "project__slug",
    "project__tenant__slug",
    *(
        f"{end}__{name}"
        for end in ("source", "target")
        for name in ("key", "node_type", "title")
    ),
)


def with_shown(rows: NodeQuerySet) -> NodeQuerySet:
    """Load with `rows` what a node is shown with, and not its vectors."""
    related = rows.select_related("record", "project__tenant")
    return related.defer(
        "embedding", "search_vector", "metadata_vector", "record__body"
    )


def nodes_asked(rows: NodeQuerySet, request: Request) -> NodeQuerySet:
    asked = NodeParameters.of_query(request)
    if project := asked.get("project"):
        rows = rows.filter(tenant_id=project.tenant_id, project_id=project.pk)
    if node_type := asked.get("type"):
        rows = rows.filter(node_type=node_type)
    if key := asked.get("key"):
        rows = rows.filter(key=clean_key(key))
    if tag := asked.get("tag"):
        rows = rows.filter(tags__contains=[tag])
    if text := asked.get("q"):
        rows = rows.filter(matching(text, project))
    if moment := asked.get("as_of"):
        rows = rows.as_of(moment)
    return rows


def edges_asked(rows: EdgeQuerySet, request: Request) -> EdgeQuerySet:
    asked = EdgeParameters.of_query(request)
    project = asked.get("project")
    for end in ("source", "target"):
        if named := asked.get(end):
            node = find_node(request, named, project)
            project = node.project
            rows = rows.filter(Q((f"{end}_id", node.pk)))
    if project:
        rows = rows.filter(tenant_id=project.tenant_id, project_id=project.pk)
    if relation := asked.get("relation"):
        rows = rows.filter(relation=relation)
    return rows.live(asked.get("as_of"))


def evidence_of(row: Node | Edge, request: Request) -> QuerySet[Evidence]:
    """Return the evidence of `row` whose record the caller may see."""
    audiences = Audience.objects.ids_of(request.user)
    of_row = Q(node=row) if isinstance(row, Node) else Q(edge=row)
    rows = Evidence.objects.filter(
        of_row,
        Q(record=None) | Q(record__audience_id__in=audiences),
        tenant_id=row.tenant_id,
        project_id=row.project_id,
    )
    related = out_of_trash(rows).select_related("record__source", "record__run")
    return related.defer("record__body", "assertion")


def neighbourhood(
    node: Node,
    request: Request,
    *,
    depth: int,
    limit: int,
    fan_out: int,
    relation: list[str] | None = None,
    as_of: datetime | None = None,
) -> dict[str, Any]:
    """Return `node`, what lies around it, and the edges among all of that."""
    allowed = allowed_in(node.project, request, as_of)
    around = nearest(
        allowed,
        node.pk,
        project=node.project,
        depth=depth,
        limit=limit,
        relations=relation,
        as_of=as_of,
        fan_out=fan_out,
    )
    near = around.distances
    rows = with_shown(allowed).in_bulk(list(near))
    found = [rows[pk] for pk in near if pk in rows]
    edges = _among([node.pk, *near], node, request, relation, as_of)
    answer = NeighboursSerializer(
        {
            "node": node,
            "nodes": found,
            "edges": edges[:EDGES_MOST],
            "cut": around.cut,
            "is_complete": around.is_complete and len(edges) <= EDGES_MOST,
        },
        context={"distances": near},
    )
    return dict(answer.data)


def _among(
    ids: list[int],
    node: Node,
    request: Request,
    relation: list[str] | None,
    as_of: datetime | None,
) -> list[Edge]:
    edges = Edge.objects.visible_to(request.user).of(node.project).live(as_of)
    edges = edges.filter(source_id__in=ids, target_id__in=ids)
    if relation:
        edges = edges.filter(relation__in=relation)
    return list(edges.order_by("-weight", "pk")[: EDGES_MOST + 1])


def allowed_in(
    project: Project, request: Request, as_of: datetime | None
) -> NodeQuerySet:
    """Return the nodes of `project` that the caller may see, valid then or now."""
    rows = visible(Node.objects.all(), request).of(project).current()
    return rows.as_of(as_of or timezone.now())


def connection(
    start: Node,
    end: Node,
    request: Request,
    *,
    max_depth: int,
    kind: str,
    fan_out: int,
    as_of: datetime | None = None,
    learned: bool = False,
) -> dict[str, Any]:
    """Return the shortest or the best paths between two nodes, the steps named."""
    allowed = allowed_in(start.project, request, as_of)
    asked: dict[str, Any] = {
        "project": start.project,
        "depth": max_depth,
        "as_of": as_of,
        "fan_out": fan_out,
    }
    if kind == BEST:
        found = best_paths(allowed, start.pk, end.pk, learned=learned, **asked)
    else:
        found = shortest_paths(allowed, start.pk, end.pk, **asked)
    nodes = _on_the_way(found, request, start, end)
    return {
        "from": EndSerializer(nodes[start.pk]).data,
        "to": EndSerializer(nodes[end.pk]).data,
        "kind": kind,
        "max_depth": max_depth,
        "length": min((len(path.hops) for path in found.paths), default=None),
        "summary": summary(nodes[start.pk], nodes[end.pk], found, max_depth),
        "paths": list(_shown(found.paths, nodes)),
        "cut": CutSerializer(found.cut, many=True).data,
        "left_out": [left_out(cut, nodes) for cut in found.cut[:CUTS_TOLD]],
        "is_complete": found.is_complete,
    }


def _on_the_way(
    found: Paths, request: Request, start: Node, end: Node
) -> dict[int, Node]:
    """Return the nodes that paths come by, and the hubs that were cut."""
    seen = {pk for path in found.paths for pk in path.nodes}
    hubs = [cut.node_id for cut in found.cut[:CUTS_TOLD]]
    rows = visible(Node.objects.current(), request).annotate(
        begins=Left("content", SAID_CHARACTERS)
    )
    wanted = rows.only("key", "node_type", "title")
    nodes = wanted.in_bulk([*seen, *hubs, start.pk, end.pk])
    for node in nodes.values():
        node.content = node.begins  # type: ignore[attr-defined] # annotated
    return nodes


def _shown(paths: Iterable[Path], nodes: dict[int, Node]) -> Iterable[dict[str, Any]]:
    """Yield the paths all of whose nodes are still there."""
    for path in paths:
        if set(path.nodes) <= nodes.keys():
            along = [nodes[pk] for pk in path.nodes]
            yield {
                "text": told(path, nodes),
                "explanation": explained(path, nodes).there,
                "explanation_back": explained(path, nodes).back,
                "cost": round(path.cost, 4),
                "nodes": EndSerializer(along, many=True).data,
                "edges": [_step(hop) for hop in path.hops],
            }


def told(path: Path, nodes: Mapping[int, Node]) -> str:
    """Return a path in words: `Ann <-sent_by- Re: launch -in_thread-> Launch`."""
    words = [name_of(nodes[path.nodes[0]])]
    for hop in path.hops:
        arrow = f"-{hop.relation}->" if hop.forward else f"<-{hop.relation}-"
        words += [arrow, name_of(nodes[hop.far])]
    return " ".join(words)


def name_of(node: Node) -> str:
    """Return what a node is called in a line: its title, else its key."""
    return Truncator(" ".join(node.title.split()) or node.key).chars(NAME_CHARACTERS)


def _step(hop: Hop) -> dict[str, Any]:
    return {
        "id": hop.edge,
        "from": hop.near,
        "relation": hop.relation,
        "to": hop.far,
        "forward": hop.forward,
        "weight": hop.weight,
    }
