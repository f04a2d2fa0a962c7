"""A part of the graph with places for its nodes, to be drawn."""

from __future__ import annotations

import time
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import project_or_only
from connections.api.permissions import caller
from connections.models import Project
from graph.api.parameters import find_node
from graph.api.picture_serializers import (
    PictureAnswer,
    PictureParameters,
    PicturePathAnswer,
    PicturePathParameters,
)
from graph.models import Node
from graph.picture_data import connection_data, picture_data
from graph.pictures import (
    Picture,
    connection_of,
    picture_around,
    picture_beyond,
    picture_of_all,
)
from graph.surroundings import View


class PictureView(APIView):
    """What lies around a node, or the best tied of a project, each at its place."""

    @extend_schema(
        tags=["graph"],
        parameters=[PictureParameters],
        responses=PictureAnswer,
        summary="A part of the graph, to be drawn",
        operation_id="graph_picture",
    )
    def get(self, request: Request) -> Response:
        started = time.perf_counter()
        asked = PictureParameters.of_query(request)
        node = None
        if named := asked.get("node"):
            node = find_node(request, named, asked.get("project"))
        project = node.project if node else _project(request, asked)
        picture = _picture(_view(request, project, asked), node, asked)
        return _timed(picture_data(project, node, picture), started)


class PicturePathView(APIView):
    """The best ways between two nodes, to be drawn and in words."""

    @extend_schema(
        tags=["graph"],
        parameters=[PicturePathParameters],
        responses=PicturePathAnswer,
        summary="How two nodes hang together, to be drawn",
        operation_id="graph_picture_path",
    )
    def get(self, request: Request) -> Response:
        started = time.perf_counter()
        asked = PicturePathParameters.of_query(request)
        start = find_node(request, asked["from"], asked.get("project"))
        end = find_node(request, asked["to"], start.project)
        found = connection_of(_view(request, start.project, asked), start, end)
        return _timed(connection_data(found), started)


def _picture(view: View, node: Node | None, asked: dict[str, Any]) -> Picture:
    if node is None:
        return picture_of_all(view, limit=asked["limit"])
    if number := asked.get("expand"):
        relations = asked.get("relation", [])
        return picture_beyond(
            view,
            node,
            drawn=asked.get("drawn", []),
            number=number,
            relation=relations[0] if len(relations) == 1 else "",
            direction=asked.get("direction"),
        )
    return picture_around(view, node, depth=asked["depth"], limit=asked["limit"])


def _view(request: Request, project: Project, asked: dict[str, Any]) -> View:
    return View(
        user=caller(request),
        project=project,
        as_of=asked.get("as_of"),
        types=asked.get("type", []),
        relations=asked.get("relation", []),
    )


def _project(request: Request, asked: dict[str, Any]) -> Project:
    return project_or_only(request, asked.get("project"))


def _timed(answer: Any, started: float) -> Response:
    took = (time.perf_counter() - started) * 1000
    return Response(answer, headers={"Server-Timing": f"graph;dur={took:.1f}"})
