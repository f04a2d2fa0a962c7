"""After how many days a type is looked at again: read by members, set by admins."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from connections.api.parameters import (
    JSONBody,
    Parameters,
    ProjectField,
    project_or_only,
)
from connections.api.permissions import caller
from connections.models import Project, Scope
from graph.thresholds import (
    MOST_DAYS,
    Threshold,
    reset_threshold,
    set_threshold,
    thresholds_listed,
)

TYPE_CHARACTERS = 32
TYPE_HELP = "A node type, or `default`: every type without a threshold of its own."


class ThresholdsParameters(Parameters):
    project = ProjectField(required=False)


class ResetParameters(ThresholdsParameters):
    type = serializers.CharField(max_length=TYPE_CHARACTERS, help_text=TYPE_HELP)


class SetParameters(ResetParameters):
    days = serializers.IntegerField(
        min_value=1,
        max_value=MOST_DAYS,
        allow_null=True,
        help_text="Stale when older than this; null: never.",
    )


class ThresholdSerializer(serializers.Serializer):
    type = serializers.CharField(source="node_type", help_text=TYPE_HELP)
    days = serializers.IntegerField(allow_null=True, help_text="Null: never.")
    published = serializers.IntegerField(
        allow_null=True, help_text="What holds where the project sets nothing."
    )
    is_own = serializers.BooleanField(help_text="The project set it.")
    changed_by = serializers.CharField(allow_blank=True)
    changed_at = serializers.DateTimeField(allow_null=True)


@extend_schema_serializer(many=False)
class ThresholdsAnswer(serializers.Serializer):
    project = serializers.CharField()
    thresholds = ThresholdSerializer(many=True)


@extend_schema(tags=["review"])
class ThresholdsViewSet(viewsets.ViewSet):
    """Thresholds of a project, by type."""

    parser_classes = (JSONBody,)
    scopes = dict.fromkeys(("update", "destroy"), Scope.ADMIN)

    @extend_schema(
        parameters=[ThresholdsParameters],
        responses=ThresholdsAnswer,
        operation_id="review_thresholds",
        summary="After how many days each type is looked at again",
    )
    def list(self, request: Request) -> Response:
        asked = ThresholdsParameters.of_query(request)
        project = project_or_only(request, asked.get("project"))
        listed = [_shown(one) for one in thresholds_listed(project)]
        return Response({"project": project.path, "thresholds": listed})

    @extend_schema(
        request=SetParameters,
        responses=ThresholdSerializer,
        operation_id="review_thresholds_set",
        summary="Set the threshold of a type; for admins of the project",
    )
    def update(self, request: Request) -> Response:
        asked = SetParameters.of_body(request)
        project = project_or_only(request, asked.get("project"))
        set_threshold(project, asked["type"], asked["days"], by=caller(request))
        return Response(_of_type(project, asked["type"]))

    @extend_schema(
        parameters=[ResetParameters],
        responses=ThresholdSerializer,
        operation_id="review_thresholds_reset",
        summary="Go back to the published threshold; for admins of the project",
    )
    def destroy(self, request: Request) -> Response:
        asked = ResetParameters.of_query(request)
        project = project_or_only(request, asked.get("project"))
        reset_threshold(project, asked["type"], by=caller(request))
        return Response(_of_type(project, asked["type"]))


def _of_type(project: Project, name: str) -> dict[str, Any]:
    listed = {one.node_type: one for one in thresholds_listed(project)}
    return _shown(listed[name])


def _shown(one: Threshold) -> dict[str, Any]:
    shown: dict[str, Any] = ThresholdSerializer(asdict(one)).data
    return shown
