"""What is done to a conversation besides asking in it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from memory.api.observation_fields import ConversationParameters, EndedResponse
from memory.api.serializers import ConversationSerializer
from memory.endings import end_conversation
from memory.models import Conversation
from retrieval.results import utc


class ConversationChanges(GenericViewSet):
    """Renaming, pinning and ending the caller's own conversations."""

    @extend_schema(
        request=ConversationParameters,
        responses=ConversationSerializer,
        summary="Rename or pin",
    )
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        asked = ConversationParameters.of_body(request)
        found: Conversation = self.get_object()
        found.title = asked.get("title", found.title)
        found.is_pinned = asked.get("pinned", found.is_pinned)
        found.save(update_fields=("title", "is_pinned"))
        return Response(ConversationSerializer(found).data)

    @extend_schema(
        request=None,
        responses=EndedResponse,
        summary="End: what it used grows stronger, once",
    )
    @action(detail=True, methods=["post"])
    def end(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        found: Conversation = self.get_object()
        ended = end_conversation(found)
        found.refresh_from_db(fields=("ended_at",))
        at = utc(found.ended_at or timezone.now())
        return Response({"ended_at": at, "referenced": ended.referenced})
