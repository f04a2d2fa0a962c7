"""Questions, and the conversations they belong to."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers
from rest_framework.exceptions import NotFound
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from connections.api.parameters import JSONBody, ListParameters, project_or_only
from connections.api.permissions import caller
from connections.models import ApiToken, Scope, record_audit
from memory.agent.database import release
from memory.agent.run import Asked, answered
from memory.agent.storing import ask_to_stop
from memory.api.conversations import ConversationChanges
from memory.api.reading import conversation_with_turns, own_conversations
from memory.api.serializers import (
    ChatEvent,
    ChatParameters,
    ChatResponse,
    ConversationResponse,
    ConversationSerializer,
    StopResponse,
)
from memory.api.stream import streamed
from memory.models import Conversation, Turn


class EventStream(JSONRenderer):
    """Lets a client accept server-sent events; what is not a stream stays JSON."""

    media_type = "text/event-stream"
    format = "event-stream"


class ChatView(APIView):
    """An answer to a question with the source of every claim."""

    scope = Scope.ASK
    parser_classes = (JSONBody,)
    renderer_classes = (JSONRenderer, EventStream)

    @extend_schema(
        tags=["chat"],
        request=ChatParameters,
        summary="Ask",
        operation_id="chat",
        responses={
            (200, "application/json"): ChatResponse,
            (200, "text/event-stream"): ChatEvent,
        },
    )
    def post(self, request: Request) -> HttpResponseBase:
        asked = ChatParameters.of_body(request)
        question = _asked(request, asked)
        if (
            asked["stream"]
            or request.accepted_renderer.media_type == EventStream.media_type
        ):
            release()  # a stream may wait before it begins
            return streamed(question)
        return Response(answered(question).as_json())


@extend_schema(tags=["chat"])
class ConversationViewSet(
    ConversationChanges,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
):
    """The caller's own conversations, the newest first."""

    serializer_class = ConversationSerializer
    queryset = Conversation.objects.none()
    lookup_value_converter = "uuid"
    page_by = ("-created_at", "-pk")
    parser_classes = (JSONBody,)
    scopes = dict.fromkeys(("destroy", "partial_update", "end"), Scope.WRITE)

    def get_queryset(self) -> Any:
        if self.action == "list":
            ListParameters.of_query(self.request)
        return own_conversations(self.request)

    @extend_schema(responses=ConversationResponse)
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return Response(conversation_with_turns(self.get_object(), request))

    def perform_destroy(self, instance: Conversation) -> None:
        forget(instance, self.request)


def forget(conversation: Conversation, request: Request) -> None:
    """Delete a conversation with its turns, and note who did."""
    token = request.auth if isinstance(request.auth, ApiToken) else None
    with transaction.atomic():
        record_audit(
            "conversation.deleted",
            target=str(conversation.pk),
            project=conversation.project,
            actor=caller(request),
            token_id=token.pk if token else None,
            turns=conversation.turns.count(),
        )
        conversation.delete()


class StopView(APIView):
    """The end of a running answer, wherever it runs; what came of it is kept."""

    scope = Scope.ASK

    @extend_schema(
        tags=["chat"],
        request=None,
        summary="Stop an answer",
        operation_id="chat_stop",
        responses=StopResponse,
    )
    def post(self, request: Request, turn: int) -> Response:
        mine = Turn.objects.filter(conversation__in=own_conversations(request))
        found = mine.filter(pk=turn).first()
        if found is None:
            raise NotFound(f"You have no turn {turn}.")
        return Response({"turn": found.pk, "state": ask_to_stop(found).value})


def _asked(request: Request, asked: dict[str, Any]) -> Asked:
    """Check what was asked, and return it as the agent takes it."""
    found, project = None, asked.get("project")
    if wanted := asked.get("conversation"):
        found = own_conversations(request).filter(pk=wanted).first()
        if found is None:
            raise NotFound(f"You have no conversation {wanted}.")
        if project is not None and project.pk != found.project_id:
            message = f"That conversation is of the project {found.project.path}."
            raise serializers.ValidationError({"project": [message]})
        project = found.project
    return Asked(
        project=project_or_only(request, project),
        user=caller(request),
        question=asked["question"],
        conversation=found,
        ignore=tuple(asked.get("ignore", ())),
    )
