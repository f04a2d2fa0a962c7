"""Memory as a graph, and what it runs on."""

from __future__ import annotations

import time
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import Parameters, project_or_only
from connections.api.permissions import caller, token_of
from memory.api.gk_serializers import (
    EnvironmentResponse,
    MemoryGraphParameters,
    MemoryGraphResponse,
)
from memory.environments import environment
from memory.gk import memory_graph
from retrieval.auditing import note_search


class NoParameters(Parameters):
    """A call that takes no parameters; any is an error."""


class MemoryGraphView(APIView):
    """What the caller remembers of a project, or was shared with them, as a graph."""

    @extend_schema(
        tags=["memory"],
        parameters=[MemoryGraphParameters],
        responses=MemoryGraphResponse,
        summary="Memory as a graph",
        operation_id="memory_graph",
    )
    def get(self, request: Request) -> Response:
        started = time.perf_counter()
        asked = MemoryGraphParameters.of_query(request)
        project = project_or_only(request, asked.pop("project", None))
        view = memory_graph(caller(request), project, **asked)
        if query := asked.get("query", "").strip():
            note_search(
                project,
                caller(request),
                query,
                view.node_ids,
                through="memory",
                found=len(view.shape.nodes),
                token_id=token_of(request),
            )
        return _timed(view.as_json(), started)


class EnvironmentsView(APIView):
    """Providers, models, dimensions, versions and limits; never a secret."""

    @extend_schema(
        tags=["memory"],
        responses=EnvironmentResponse,
        summary="What memory runs on",
        operation_id="memory_environments",
    )
    def get(self, request: Request) -> Response:
        started = time.perf_counter()
        NoParameters.of_query(request)
        return _timed(environment(), started)


def _timed(answer: dict[str, Any], started: float) -> Response:
    """Return an answer with the milliseconds it took, for the page that shows them."""
    took = (time.perf_counter() - started) * 1000
    return Response(answer, headers={"Server-Timing": f"total;dur={took:.1f}"})
