"""Nodes, edges and the ways between them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.pagination import PageParameters
from connections.api.parameters import JSONBody, ListParameters, project_or_only
from connections.api.permissions import caller, visible
from connections.models import Scope
from graph.api.changing import (
    CHANGED,
    IF_MATCH,
    EdgeChangeParameters,
    NodeChangeParameters,
    author,
    seen_version,
    with_version,
)
from graph.api.parameters import (
    EdgeParameters,
    EdgeWriteParameters,
    NodeParameters,
    NodeWriteParameters,
    PathParameters,
    StatisticsParameters,
    TimelineParameters,
    WalkParameters,
    find_node,
)
from graph.api.reading import (
    EDGE_COLUMNS,
    connection,
    edges_asked,
    evidence_of,
    neighbourhood,
    nodes_asked,
    with_shown,
)
from graph.api.serializers import (
    EdgeSerializer,
    EvidencePageSerializer,
    EvidenceSerializer,
    NeighboursSerializer,
    NodeSerializer,
    PathsAnswer,
    StatisticsAnswer,
    TimelineSerializer,
    WrittenEdgeSerializer,
    WrittenNodeSerializer,
)
from graph.api.timelines import moments, page_of
from graph.api.trails import FORWARD, ForwardSerializer, ProvenanceParameters
from graph.by_hand import NodeByHand, write_node_by_hand
from graph.changed_by_hand import (
    NodeChange,
    change_node_by_hand,
    delete_node_by_hand,
)
from graph.edges_by_hand import EdgeByHand, write_edge_by_hand
from graph.edges_changed_by_hand import (
    EdgeChange,
    change_edge_by_hand,
    end_edge_by_hand,
)
from graph.hand import Written
from graph.models import Edge, Node, Record
from graph.querysets import EdgeQuerySet, NodeQuerySet
from graph.statistics import count_graph
from graph.trails import caused_by_node


def answer_written(written: Written, **shown: Any) -> Response:
    outcome = "created" if written.is_new else "merged"
    return Response({"outcome": outcome, **shown}, 201 if written.is_new else 200)


class WithProvenance(viewsets.ReadOnlyModelViewSet):
    """Rows whose evidence can be read, and that a token may write."""

    lookup_value_converter = "int"
    parser_classes = (JSONBody,)
    scopes: ClassVar[dict[str, Scope]] = dict.fromkeys(
        ("create", "partial_update", "destroy"), Scope.WRITE
    )

    @extend_schema(parameters=[CHANGED])
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.get_object()
        return with_version(Response(self.get_serializer(row).data), row)

    @extend_schema(
        responses=EvidenceSerializer(many=True), summary="Why it exists: its evidence"
    )
    @action(detail=True)
    def provenance(self, request: Request, pk: int) -> Response:
        ListParameters.of_query(request)
        return self.backward(self.get_object())

    def backward(self, row: Node | Edge) -> Response:
        """Return a page of the evidence of `row`."""
        rows = self.paginate_queryset(evidence_of(row, self.request))
        return self.get_paginated_response(EvidenceSerializer(rows, many=True).data)


@extend_schema(tags=["graph"])
class NodeViewSet(WithProvenance):
    serializer_class = NodeSerializer
    queryset = Node.objects.none()

    def get_queryset(self) -> NodeQuerySet:
        rows = with_shown(visible(Node.objects.current(), self.request))
        return nodes_asked(rows, self.request) if self.action == "list" else rows

    @extend_schema(parameters=[NodeParameters], summary="Nodes, by what they are")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request=NodeWriteParameters,
        responses={200: WrittenNodeSerializer, 201: WrittenNodeSerializer},
        summary="Write a node; one of that name is met",
    )
    def create(self, request: Request) -> Response:
        asked = NodeWriteParameters.of_body(request)
        project = project_or_only(request, asked.pop("project", None))
        draft = NodeByHand(node_type=asked.pop("type"), **asked)
        written = write_node_by_hand(project, draft, author(request))
        row = with_shown(visible(Node.objects.all(), request)).get(pk=written.id)
        answer = answer_written(written, node=NodeSerializer(row).data)
        return with_version(answer, row)

    @extend_schema(
        parameters=[IF_MATCH, CHANGED],
        request=NodeChangeParameters,
        responses=NodeSerializer,
        summary="Let a node that was written by hand say something else",
        description="Only what people, agents and tokens wrote; a 409 says where else "
        "it is changed. A 412: somebody changed it since it was read.",
    )
    def partial_update(self, request: Request, pk: int) -> Response:
        row = self.get_object()
        change = NodeChange(**NodeChangeParameters.of_body(request))
        seen = seen_version(request, row.project_id)
        change_node_by_hand(row.project, pk, change, author(request), version=seen)
        return self.retrieve(request, pk=pk)

    @extend_schema(
        parameters=[IF_MATCH],
        responses={204: None},
        summary="Put a node that was written by hand in the trash, for 30 days",
        description="Only one that no source speaks of and on which nothing that was "
        "remembered rests alone. Its edges are seen again when it is put back.",
    )
    def destroy(self, request: Request, pk: int) -> Response:
        row = self.get_object()
        seen = seen_version(request, row.project_id)
        delete_node_by_hand(row.project, pk, author(request), version=seen)
        return Response(status=204)

    @extend_schema(
        parameters=[ProvenanceParameters, PageParameters],
        responses=PolymorphicProxySerializer(
            component_name="NodeProvenance",
            serializers=[EvidencePageSerializer, ForwardSerializer],
            resource_type_field_name=None,
            many=False,
        ),
        filters=False,
        summary="Why it exists, or, with direction=forward, what came of it",
        description="With direction=forward: an object with the list `caused`, of "
        "each sort its `title`, `count`, `hidden` and a few `examples`.",
    )
    @action(detail=True)
    def provenance(self, request: Request, pk: int) -> Response:  # type: ignore[override] # an action of its own
        asked = ProvenanceParameters.of_query(request)
        node = self.get_object()
        if asked["direction"] == FORWARD:
            found = caused_by_node(node, caller(request))
            return Response(ForwardSerializer({"caused": found}).data)
        return self.backward(node)

    @extend_schema(
        parameters=[WalkParameters],
        responses=NeighboursSerializer,
        filters=False,
        summary="What lies around a node, nearest first",
    )
    @action(detail=True, pagination_class=None)
    def neighbours(self, request: Request, pk: int) -> Response:
        asked = WalkParameters.of_query(request)
        return Response(neighbourhood(self.get_object(), request, **asked))

    @extend_schema(
        parameters=[TimelineParameters, PageParameters],
        responses=TimelineSerializer,
        filters=False,
        summary="Everything around a node that has a date, in order",
    )
    @action(detail=True, pagination_class=None)
    def timeline(self, request: Request, pk: int) -> Response:
        asked = TimelineParameters.of_query(request)
        page = page_of(request)
        return Response(moments(self.get_object(), request, page, **asked))


@extend_schema(tags=["graph"])
class EdgeViewSet(WithProvenance):
    serializer_class = EdgeSerializer
    queryset = Edge.objects.none()

    def get_queryset(self) -> EdgeQuerySet:
        rows = visible(Edge.objects.all(), self.request).select_related(
            "source", "target", "project__tenant"
        )
        rows = rows.only(*EDGE_COLUMNS)
        return edges_asked(rows, self.request) if self.action == "list" else rows

    @extend_schema(parameters=[EdgeParameters], summary="Edges, by their ends")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request=EdgeWriteParameters,
        responses={200: WrittenEdgeSerializer, 201: WrittenEdgeSerializer},
        summary="Write an edge; missing ends are made where their type is given",
    )
    def create(self, request: Request) -> Response:
        asked = EdgeWriteParameters.of_body(request)
        project = project_or_only(request, asked.pop("project", None))
        written = write_edge_by_hand(project, EdgeByHand(**asked), author(request))
        row = self.get_queryset().get(pk=written.id)
        shown = EdgeSerializer(row).data
        answer = answer_written(written, implied=list(written.implied), edge=shown)
        return with_version(answer, row)

    @extend_schema(
        parameters=[IF_MATCH, CHANGED],
        request=EdgeChangeParameters,
        responses=EdgeSerializer,
        summary="Draw an edge that was written by hand otherwise",
        description="With another end or relation it is another edge, which is "
        "answered, and the former ends. A 409 says where else it is changed; a 412: "
        "somebody changed it since it was read.",
    )
    def partial_update(self, request: Request, pk: int) -> Response:
        row = self.get_object()
        change = EdgeChange(**EdgeChangeParameters.of_body(request))
        seen = seen_version(request, row.project_id)
        now = change_edge_by_hand(
            row.project, pk, change, author(request), version=seen
        )
        drawn = self.get_queryset().get(pk=now)
        return with_version(Response(EdgeSerializer(drawn).data), drawn)

    @extend_schema(
        parameters=[IF_MATCH],
        responses={204: None},
        summary="End an edge that was written by hand",
    )
    def destroy(self, request: Request, pk: int) -> Response:
        row = self.get_object()
        seen = seen_version(request, row.project_id)
        end_edge_by_hand(row.project, pk, author(request), version=seen)
        return Response(status=204)


class PathsView(APIView):
    """The shortest or the best ways between two nodes, over edges either way."""

    @extend_schema(
        tags=["graph"],
        parameters=[PathParameters],
        responses=PathsAnswer,
        summary="How two nodes hang together",
        operation_id="graph_paths",
    )
    def get(self, request: Request) -> Response:
        asked = PathParameters.of_query(request)
        start = find_node(request, asked.pop("from"), asked.pop("project", None))
        end = find_node(request, asked.pop("to"), start.project)
        return Response(connection(start, end, request, **asked))


class StatisticsView(APIView):
    """Counts of what the caller may see of a project."""

    @extend_schema(
        tags=["graph"],
        parameters=[StatisticsParameters],
        responses=StatisticsAnswer,
        summary="How much there is",
        operation_id="graph_statistics",
    )
    def get(self, request: Request) -> Response:
        asked = StatisticsParameters.of_query(request)
        project = project_or_only(request, asked.get("project"))
        user = request.user
        counted = count_graph(
            Node.objects.visible_to(user).of(project).current(),
            Edge.objects.visible_to(user).of(project).live(),
            Record.objects.visible_to(user)
            .of(project)
            .filter(counted=True, gone_at=None),
        )
        return Response({"project": project.path, **asdict(counted)})
