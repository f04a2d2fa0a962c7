"""Observations as the API reads and shows them."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, inline_serializer
from rest_framework import serializers

from connections.api.parameters import (
    LARGEST_ID,
    ListParameters,
    Parameters,
    ProjectField,
)
from memory.learned import MOST_CHARACTERS
from memory.models import Observation

STATES = ("current", "left", "superseded")
QUERY_CHARACTERS = 400
MOST_EVIDENCE = 20
SETTABLE = [value for value in Observation.Status.values if value]


class ObservationParameters(ListParameters):
    """Which observations a list holds."""

    project = ProjectField(required=False)
    type = serializers.ChoiceField(choices=Observation.Type.choices, required=False)
    state = serializers.ChoiceField(
        choices=STATES,
        default="current",
        help_text="current: in memory; left: faded out; superseded: replaced.",
    )
    q = serializers.CharField(
        required=False, max_length=QUERY_CHARACTERS, help_text="Words of its text."
    )
    conversation = serializers.UUIDField(
        required=False, help_text="The caller's own; what was learned in it."
    )


class EvidenceParameters(Parameters):
    """A node that says so, and its words."""

    node = serializers.IntegerField(min_value=1, max_value=LARGEST_ID)
    quote = serializers.CharField(
        max_length=MOST_CHARACTERS, help_text="As it stands in the node."
    )


class RememberParameters(Parameters):
    """What to remember by hand."""

    project = ProjectField(required=False)
    type = serializers.ChoiceField(choices=Observation.Type.choices)
    text = serializers.CharField(max_length=MOST_CHARACTERS)
    subject = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=200,
        help_text="What it is about: one of this type and subject is replaced by it.",
    )
    why = serializers.CharField(
        default="", allow_blank=True, max_length=MOST_CHARACTERS
    )
    who = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="Of a commitment."
    )
    due_at = serializers.DateTimeField(
        default=None, allow_null=True, help_text="Of a commitment."
    )
    shared = serializers.BooleanField(
        default=False, help_text="For the project's members who may see its evidence."
    )
    evidence = serializers.ListField(
        child=EvidenceParameters(), default=list, max_length=MOST_EVIDENCE
    )

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if attrs["type"] != Observation.Type.COMMITMENT:
            for name in ("who", "due_at"):
                if attrs[name]:
                    message = f"Only a commitment has one, not a {attrs['type']}."
                    raise serializers.ValidationError({name: [message]})
        return attrs


class CorrectParameters(Parameters):
    """What to change; what is not named stays."""

    text = serializers.CharField(required=False, max_length=MOST_CHARACTERS)
    status = serializers.ChoiceField(
        choices=SETTABLE, required=False, help_text="Of a commitment."
    )
    pinned = serializers.BooleanField(required=False)
    shared = serializers.BooleanField(required=False)

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if not attrs:
            raise serializers.ValidationError(
                "Name what to change: text, status, pinned or shared."
            )
        return attrs


class ObservationSerializer(serializers.ModelSerializer):
    """An observation without its evidence."""

    id = serializers.IntegerField(source="node_id")
    key = serializers.CharField(source="node.key")
    project = serializers.CharField(source="project.path")
    type = serializers.CharField(source="observation_type")
    text = serializers.CharField(source="node.content")
    why = serializers.CharField(source="rationale")
    state = serializers.SerializerMethodField()
    importance = serializers.SerializerMethodField(
        help_text="From 0 to 1, as it is now."
    )
    fades_in = serializers.SerializerMethodField(
        help_text="After so many conversations it leaves memory; null: it stays."
    )
    own = serializers.SerializerMethodField(help_text="The caller made it.")
    valid_from = serializers.DateTimeField(source="node.valid_from", allow_null=True)
    valid_to = serializers.DateTimeField(source="node.valid_to", allow_null=True)

    class Meta:
        model = Observation
        fields = (
            "id",
            "key",
            "project",
            "type",
            "text",
            "subject",
            "why",
            "who",
            "due_at",
            "status",
            "state",
            "importance",
            "fades_in",
            "own",
            "is_pinned",
            "is_protected",
            "is_shared",
            "origin",
            "conversation",
            "turn",
            "superseded_by",
            "valid_from",
            "valid_to",
            "left_at",
            "created_at",
            "updated_at",
        )

    @extend_schema_field(serializers.ChoiceField(choices=STATES))
    def get_state(self, row: Observation) -> str:
        if row.superseded_by_id is not None:
            return "superseded"
        has_left = row.left_at is not None or row.counted.has_left(row.scope.ticks)
        return "left" if has_left else "current"

    @extend_schema_field(OpenApiTypes.DOUBLE)
    def get_importance(self, row: Observation) -> float:
        return round(row.counted.at(row.scope.ticks), 6)

    @extend_schema_field(serializers.IntegerField(allow_null=True))
    def get_fades_in(self, row: Observation) -> int | None:
        leaves_at = row.counted.leaves_at
        if leaves_at is None or self.get_state(row) != "current":
            return None
        return max(0, leaves_at - row.scope.ticks)

    @extend_schema_field(OpenApiTypes.BOOL)
    def get_own(self, row: Observation) -> bool:
        caller = self.context["request"].user
        return bool(row.owner_id == caller.pk or row.scope.user_id == caller.pk)

    def to_representation(self, instance: Observation) -> dict[str, object]:
        shown = super().to_representation(instance)
        if not shown["own"]:
            # Somebody else's conversation is theirs, also where they shared this.
            shown["conversation"] = shown["turn"] = None
        return shown


_EvidenceOf = inline_serializer(
    "ObservationEvidence",
    {
        "node_id": serializers.IntegerField(),
        "key": serializers.CharField(),
        "type": serializers.CharField(),
        "title": serializers.CharField(allow_blank=True),
        "url": serializers.CharField(allow_blank=True),
        "quote": serializers.CharField(allow_blank=True),
        "timestamp": serializers.DateTimeField(allow_null=True),
    },
    many=True,
)
_ReferenceOf = inline_serializer(
    "ObservationReference",
    {
        "conversation": serializers.UUIDField(),
        "title": serializers.CharField(allow_blank=True),
        "at": serializers.DateTimeField(),
    },
    many=True,
)


class ObservationWhole(ObservationSerializer):
    """An observation with what it rests on and where it was used."""

    evidence = _EvidenceOf
    references = _ReferenceOf
    supersedes = serializers.ListField(child=serializers.IntegerField())

    class Meta:
        model = Observation
        fields: ClassVar[tuple[str, ...]] = (
            *ObservationSerializer.Meta.fields,
            "evidence",
            "references",
            "supersedes",
        )


RememberedResponse = inline_serializer(
    "Remembered",
    {
        "outcome": serializers.ChoiceField(
            choices=["added", "reinforced", "superseded"],
            help_text="superseded: it replaced an older one.",
        ),
        "observation": ObservationSerializer(),
    },
)


class ContextParameters(Parameters):
    """Whose memory, and how much of it."""

    project = ProjectField(required=False)
    limit = serializers.IntegerField(default=10, min_value=1, max_value=50)


ContextResponse = inline_serializer(
    "MemoryContext",
    {
        "project": serializers.CharField(),
        "pinned": ObservationSerializer(many=True),
        "commitments": ObservationSerializer(many=True),
        "strongest": ObservationSerializer(many=True),
        "latest": ObservationSerializer(many=True),
    },
)


class SyncParameters(Parameters):
    """Which project's memory is brought up to date."""

    project = ProjectField(required=False)


SyncResponse = inline_serializer(
    "MemorySync",
    {
        "turns": serializers.IntegerField(help_text="Sent to be remembered."),
        "texts": serializers.IntegerField(help_text="Read for names and relations."),
    },
)


class ConversationParameters(Parameters):
    """What to change of a conversation."""

    title = serializers.CharField(required=False, max_length=200)
    pinned = serializers.BooleanField(required=False)

    def validate(self, attrs: dict[str, object]) -> dict[str, object]:
        if not attrs:
            raise serializers.ValidationError("Name what to change: title or pinned.")
        return attrs


EndedResponse = inline_serializer(
    "ConversationEnd",
    {
        "ended_at": serializers.DateTimeField(),
        "referenced": serializers.IntegerField(
            help_text="How many observations grew stronger by it."
        ),
    },
)
