"""What is remembered: listed, read, written by hand, corrected, forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import JSONBody, project_or_only
from connections.api.permissions import caller
from connections.models import Scope
from graph.api.reading import evidence_of
from graph.api.serializers import EvidenceSerializer
from graph.api.trails import FORWARD, ForwardSerializer, ProvenanceParameters
from graph.trails import caused_by_node
from memory.api.observation_fields import (
    ContextParameters,
    ContextResponse,
    CorrectParameters,
    ObservationParameters,
    ObservationSerializer,
    ObservationWhole,
    RememberedResponse,
    RememberParameters,
    SyncParameters,
    SyncResponse,
)
from memory.api.remembered import (
    observation_with_evidence,
    observations_asked,
    seen_observations,
    session_context,
)
from memory.by_hand import correct_by_hand, remember_by_hand
from memory.models import Observation
from memory.observations import forget, pin, restore, set_status, share
from memory.syncing import sync

CHANGES: dict[str, Callable[..., Any]] = {
    "text": lambda row, value, by: correct_by_hand(row, value, by=by),
    "status": lambda row, value, by: set_status(row, value, by=by),
    "pinned": lambda row, value, by: pin(row, by=by, pinned=value),
    "shared": lambda row, value, by: share(row, by=by, shared=value),
}


@extend_schema(tags=["memory"])
class ObservationViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet
):
    """What the caller's conversations left behind, and what is shared with them."""

    serializer_class = ObservationSerializer
    queryset = Observation.objects.none()
    parser_classes = (JSONBody,)
    lookup_value_converter = "int"
    page_by = ("-pk",)
    scopes = dict.fromkeys(
        ("create", "partial_update", "destroy", "restore"), Scope.WRITE
    )

    def get_queryset(self) -> Any:
        if self.action == "list":
            asked = ObservationParameters.of_query(self.request)
            return observations_asked(self.request, asked)
        return seen_observations(self.request)

    @extend_schema(parameters=[ObservationParameters], summary="What is remembered")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(responses=ObservationWhole, summary="One, with what it rests on")
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return self._shown(self.get_object())

    @extend_schema(
        request=RememberParameters,
        responses={200: RememberedResponse, 201: RememberedResponse},
        summary="Remember by hand",
    )
    def create(self, request: Request) -> Response:
        asked = RememberParameters.of_body(request)
        project = project_or_only(request, asked.pop("project", None))
        found = remember_by_hand(project, caller(request), **asked)
        row = seen_observations(request).get(pk=found.observation.pk)
        shown = ObservationSerializer(row, context={"request": request}).data
        status = 200 if found.outcome == "reinforced" else 201
        return Response({"outcome": found.outcome, "observation": shown}, status)

    @extend_schema(
        request=CorrectParameters,
        responses=ObservationWhole,
        summary="Correct, pin, share, or settle a commitment",
    )
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        asked = CorrectParameters.of_body(request)
        row = self.get_object()
        with transaction.atomic():
            for name, value in asked.items():
                CHANGES[name](
                    seen_observations(request).get(pk=row.pk), value, caller(request)
                )
        return self._shown(self.get_object())

    @extend_schema(summary="Forget for good")
    def destroy(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        forget(self.get_object(), by=caller(request))
        return Response(status=204)

    @extend_schema(request=None, responses=ObservationWhole, summary="Bring back")
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        restore(self.get_object(), by=caller(request))
        return self._shown(self.get_object())

    @extend_schema(
        parameters=[ProvenanceParameters],
        responses=EvidenceSerializer(many=True),
        summary="What it rests on, or, with direction=forward, what came of it",
    )
    @action(detail=True)
    def provenance(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        asked = ProvenanceParameters.of_query(request)
        node = self.get_object().node
        if asked["direction"] == FORWARD:
            found = caused_by_node(node, caller(request))
            return Response(ForwardSerializer({"caused": found}).data)
        rows = self.paginate_queryset(evidence_of(node, request))
        return self.get_paginated_response(EvidenceSerializer(rows, many=True).data)

    def _shown(self, row: Observation) -> Response:
        return Response(observation_with_evidence(row, self.request))


class ContextView(APIView):
    """What a session should start with."""

    @extend_schema(
        tags=["memory"],
        parameters=[ContextParameters],
        responses=ContextResponse,
        operation_id="memory_context",
        summary="What a session should start with",
    )
    def get(self, request: Request) -> Response:
        asked = ContextParameters.of_query(request)
        project = project_or_only(request, asked.get("project"))
        return Response(session_context(request, project, asked["limit"]))


class SyncView(APIView):
    """Brings memory and graph up to date; asked twice it changes nothing more."""

    scope = Scope.WRITE
    parser_classes = (JSONBody,)

    @extend_schema(
        tags=["memory"],
        request=SyncParameters,
        responses=SyncResponse,
        operation_id="memory_sync",
        summary="Remember what waits, and write what it names into the graph",
    )
    def post(self, request: Request) -> Response:
        asked = SyncParameters.of_body(request)
        project = project_or_only(request, asked.get("project"))
        synced = sync(project, caller(request))
        return Response({"turns": synced.turns, "texts": synced.texts})
