"""Questions, answers and conversations as the API reads and shows them."""

from __future__ import annotations

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from connections.api.parameters import Parameters, ProjectField
from memory.models import Conversation

QUESTION_CHARACTERS = 4000


class ChatParameters(Parameters):
    """A question, in a conversation or anew."""

    project = ProjectField(required=False)
    question = serializers.CharField(max_length=QUESTION_CHARACTERS)
    conversation = serializers.UUIDField(
        required=False, allow_null=True, help_text="Of an earlier answer, to go on."
    )
    stream = serializers.BooleanField(
        default=False,
        help_text="Answer as server-sent events: status, filters, sources, delta, "
        "citation, done (the whole answer), error, ping.",
    )


class ConversationSerializer(serializers.ModelSerializer):
    """A conversation without its turns."""

    project = serializers.CharField(source="project.path")

    class Meta:
        model = Conversation
        fields = (
            "id",
            "project",
            "title",
            "is_pinned",
            "ended_at",
            "created_at",
            "updated_at",
        )


def _text() -> serializers.CharField:
    return serializers.CharField(allow_blank=True)


_Citation = inline_serializer(
    "Citation",
    {
        "n": serializers.IntegerField(help_text="Its number in the answer, as [n]."),
        "key": serializers.CharField(),
        "node_id": serializers.IntegerField(allow_null=True),
        "type": _text(),
        "title": _text(),
        "context": _text(),
        "url": _text(),
        "quote": _text(),
        "timestamp": serializers.DateTimeField(allow_null=True),
        "gone": serializers.BooleanField(help_text="It vanished at its source."),
    },
    many=True,
)
_Call = inline_serializer(
    "Call",
    {
        "name": serializers.CharField(),
        "arguments": serializers.DictField(),
        "took_ms": serializers.FloatField(),
        "result_count": serializers.IntegerField(),
        "error": _text(),
    },
    many=True,
)
_ANSWER: dict[str, serializers.Field] = {
    "turn": serializers.IntegerField(allow_null=True),
    "answer": _text(),
    "grounded": serializers.BooleanField(help_text="The sources hold an answer."),
    "citations": _Citation,
    "sql": serializers.ListField(child=serializers.DictField()),
    "calls": _Call,
    "lambda": serializers.IntegerField(help_text="The effort it took."),
    "model": _text(),
}
ChatResponse = inline_serializer(
    "ChatAnswer", {"conversation": serializers.UUIDField(allow_null=True), **_ANSWER}
)
_Turn = inline_serializer(
    "Turn",
    {
        **_ANSWER,
        "question": serializers.CharField(),
        "created_at": serializers.DateTimeField(),
        "withheld": serializers.BooleanField(
            help_text="A source of it is closed to the caller by now; so is the answer."
        ),
    },
    many=True,
)
ChatEvent = inline_serializer(
    "ChatEvent",
    {
        "event": serializers.ChoiceField(
            choices=[
                "status",
                "filters",
                "sources",
                "delta",
                "citation",
                "done",
                "error",
                "ping",
            ]
        ),
        "data": serializers.CharField(help_text="An object, as JSON."),
    },
)
ConversationResponse = inline_serializer(
    "ConversationWithTurns",
    {
        "id": serializers.UUIDField(),
        "project": serializers.CharField(),
        "title": _text(),
        "is_pinned": serializers.BooleanField(),
        "ended_at": serializers.DateTimeField(allow_null=True),
        "created_at": serializers.DateTimeField(),
        "updated_at": serializers.DateTimeField(),
        "turns": _Turn,
    },
)
