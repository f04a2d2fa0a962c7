"""What the graph's views read, beginning with what the caller may see."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone
from rest_framework.request import Request

from connections.api.permissions import visible
from connections.models import Audience
from connections.records import clean_key
from graph.api.parameters import EdgeParameters, NodeParameters, find_node
from graph.api.serializers import EndSerializer, NeighboursSerializer
from graph.matching import matching
from graph.models import Edge, Evidence, Node
from graph.paths import Path, nearest, shortest_paths
from graph.querysets import EdgeQuerySet, NodeQuerySet

EDGES_MOST = 1000
EDGE_COLUMNS = (
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
    return related.defer("embedding", "search_vector", "record__body")


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
    related = rows.select_related("record__source", "record__run")
    return related.defer("record__body", "assertion")


def neighbourhood(
    node: Node,
    request: Request,
    *,
    depth: int,
    limit: int,
    relation: list[str] | None = None,
    as_of: datetime | None = None,
) -> dict[str, Any]:
    """Return `node`, what lies around it, and the edges among all of that."""
    allowed = visible(Node.objects.all(), request).of(node.project).current()
    allowed = allowed.as_of(as_of or timezone.now())
    around = nearest(
        allowed,
        node.pk,
        project=node.project,
        depth=depth,
        limit=limit,
        relations=relation,
        as_of=as_of,
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


def connection(start: Node, end: Node, request: Request, depth: int) -> dict[str, Any]:
    """Return the shortest paths between two nodes, the steps named."""
    project = start.project
    allowed = visible(Node.objects.all(), request).of(project).current()
    found = shortest_paths(
        allowed.as_of(timezone.now()), start.pk, end.pk, project=project, depth=depth
    )
    seen = {pk for path in found.paths for pk in path.nodes} | {start.pk, end.pk}
    nodes = allowed.only("key", "node_type", "title").in_bulk(list(seen))
    edges = (
        Edge.objects.visible_to(request.user)
        .of(project)
        .in_bulk(list({pk for path in found.paths for pk in path.edges}))
    )
    return {
        "from": EndSerializer(nodes[start.pk]).data,
        "to": EndSerializer(nodes[end.pk]).data,
        "max_depth": depth,
        "length": len(found.paths[0].edges) if found.paths else None,
        "paths": list(_shown(found.paths, nodes, edges)),
        "is_complete": found.is_complete,
    }


def _shown(
    paths: Iterable[Path], nodes: dict[int, Node], edges: dict[int, Edge]
) -> Iterable[dict[str, Any]]:
    """Yield the paths all of whose parts are still there."""
    for path in paths:
        if set(path.nodes) <= nodes.keys() and set(path.edges) <= edges.keys():
            yield {
                "nodes": EndSerializer(
                    [nodes[pk] for pk in path.nodes], many=True
                ).data,
                "edges": [
                    _step(edges[pk], *ends)
                    for pk, *ends in zip(
                        path.edges, path.nodes[:-1], path.nodes[1:], strict=True
                    )
                ],
            }


def _step(edge: Edge, leaves: int, reaches: int) -> dict[str, Any]:
    return {
        "id": edge.pk,
        "from": leaves,
        "relation": edge.relation,
        "to": reaches,
        "forward": edge.source_id == leaves,
        "weight": edge.weight,
    }
