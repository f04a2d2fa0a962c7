"""Questions, answers and conversations as the API reads and shows them."""

from __future__ import annotations

from typing import get_args

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from connections.api.parameters import Parameters, ProjectField
from memory.agent.events import Name
from memory.models import Conversation, Turn

QUESTION_CHARACTERS = 4000
NAME_CHARACTERS, NAMES_MOST = 600, 50


class ChatParameters(Parameters):
    """A question, in a conversation or anew."""

    project = ProjectField(required=False)
    question = serializers.CharField(max_length=QUESTION_CHARACTERS)
    conversation = serializers.UUIDField(
        required=False, allow_null=True, help_text="Of an earlier answer, to go on."
    )
    stream = serializers.BooleanField(
        default=False,
        help_text="Answer as server-sent events: status, filters, call, sources, delta, "
        "citation, sql, chart, followups, done (the whole answer), error, ping.",
    )
    ignore = serializers.ListField(
        child=serializers.CharField(max_length=NAME_CHARACTERS),
        required=False,
        max_length=NAMES_MOST,
        help_text="What not to read from the question: time, people, channel, type, or "
        "the name of a guess, as the event `filters` gives it.",
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
        "stale": inline_serializer(
            "StaleCitation",
            {
                "is_stale": serializers.BooleanField(),
                "days": serializers.IntegerField(
                    allow_null=True,
                    help_text="Since it was said, confirmed or met again.",
                ),
                "threshold": serializers.IntegerField(
                    allow_null=True, help_text="Days allowed its type; null: any."
                ),
            },
        ),
        "age": serializers.CharField(
            allow_blank=True,
            help_text='As a person says it, "7 months"; empty where it is not stale.',
        ),
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
    "state": serializers.ChoiceField(choices=Turn.State.choices),
    "support": inline_serializer(
        "SupportedSentence",
        {
            "text": serializers.CharField(),
            "numbers": serializers.ListField(
                child=serializers.IntegerField(),
                help_text="The citations that bear it out; none: nothing does.",
            ),
        },
        many=True,
    ),
}
ChatResponse = inline_serializer(
    "ChatAnswer", {"conversation": serializers.UUIDField(allow_null=True), **_ANSWER}
)
StopResponse = inline_serializer(
    "StoppedTurn",
    {
        "turn": serializers.IntegerField(),
        "state": serializers.ChoiceField(
            choices=Turn.State.choices,
            help_text="stopped: it ends within a second; done or failed: it had ended.",
        ),
    },
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
        "error": _text(),
    },
    many=True,
)
ChatEvent = inline_serializer(
    "ChatEvent",
    {
        "event": serializers.ChoiceField(choices=list(get_args(Name))),
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
