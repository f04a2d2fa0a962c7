"""The trail of an answer: each citation, back to its source."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import Parameters
from connections.api.permissions import caller
from graph.api.trails import TrailSerializer
from memory.api.reading import own_conversations
from memory.models import Turn
from memory.trails import trail_of_turn


class TurnTrailResponse(serializers.Serializer):
    """What an answer rests on, citation by citation."""

    turn = serializers.IntegerField()
    question = serializers.CharField()
    claims = TrailSerializer(many=True)


class TurnProvenanceView(APIView):
    """What an answer of the caller's own rests on."""

    @extend_schema(
        tags=["memory"],
        summary="What an answer rests on, back to the sources",
        operation_id="memory_turn_provenance",
        responses=TurnTrailResponse,
    )
    def get(self, request: Request, turn: int) -> Response:
        Parameters.of_query(request)
        mine = Turn.objects.filter(conversation__in=own_conversations(request))
        found = mine.filter(pk=turn).first()
        if found is None:
            raise NotFound(f"You have no turn {turn}.")
        answer = {
            "turn": found.pk,
            "question": found.question,
            "claims": trail_of_turn(found, caller(request)),
        }
        return Response(TurnTrailResponse(answer).data)
