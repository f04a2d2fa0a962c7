"""Items of the review, and what is decided of them, as the API shows and takes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from connections.api.parameters import (
    LARGEST_ID,
    ListParameters,
    Parameters,
    ProjectField,
)
from connections.models import User
from graph.api.serializers import EvidenceSerializer, NodeSerializer
from graph.models import ReviewDecision, ReviewItem, Trashed
from graph.review.kinds import Verb, review_kinds
from graph.review.reading import ORDERS

REASON_MOST, TEXT_MOST, TITLE_MOST, TOKEN_MOST = 2000, 20_000, 500, 400
ME, NOBODY = "me", "nobody"


class KindField(serializers.CharField):
    """A registered kind of items; another is an error that lists them."""

    def to_internal_value(self, data: Any) -> str:
        return review_kinds[super().to_internal_value(data)].name


class ItemParameters(ListParameters):
    """Which items are listed, and in which order."""

    project = ProjectField(required=False)
    kind = KindField(required=False, max_length=32)
    state = serializers.ChoiceField(
        choices=("any", *ReviewItem.State.values),
        default=ReviewItem.State.OPEN.value,
    )
    assigned = serializers.ChoiceField(
        choices=(ME, NOBODY), required=False, help_text="Left out: anybody."
    )
    order = serializers.ChoiceField(
        choices=tuple(ORDERS),
        default="priority",
        help_text="`priority` is use times age.",
    )


class VersionParameters(Parameters):
    """The item as it was seen."""

    version = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text="The item's `version` that was looked at: another one is a 409. "
        "Left out: whatever it is now.",
    )


class ReasonParameters(VersionParameters):
    reason = serializers.CharField(
        max_length=REASON_MOST, required=False, allow_blank=True, default=""
    )


class KeepParameters(VersionParameters):
    reason = serializers.CharField(max_length=REASON_MOST)


class PruneParameters(KeepParameters):
    confirm = serializers.CharField(
        max_length=TOKEN_MOST,
        required=False,
        default="",
        help_text="The token of the consequences. Without it nothing is changed: they "
        "are answered, with their token.",
    )
    into = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        help_text="Of two that contradict each other the node that holds; the other "
        "one is pruned.",
    )


class SnoozeParameters(ReasonParameters):
    until = serializers.DateTimeField(help_text="In the future, at most a year.")


class MergeParameters(ReasonParameters):
    into = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        help_text="The node that both become; left out: the item's own.",
    )


class EditParameters(ReasonParameters):
    title = serializers.CharField(
        max_length=TITLE_MOST, required=False, allow_blank=True
    )
    text = serializers.CharField(max_length=TEXT_MOST, required=False, allow_blank=True)


class AssignParameters(ReasonParameters):
    assignee = serializers.EmailField(
        allow_null=True, help_text="A reviewer by address; null: nobody."
    )

    def validate_assignee(self, value: str | None) -> User | None:
        if value is None:
            return None
        found = User.objects.filter(email__iexact=value, is_active=True).first()
        # No different from somebody who is there and is no reviewer of the project.
        return found or User(email=value, is_active=False)


class UndoParameters(Parameters):
    decision = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_ID,
        help_text="Left out: the latest one.",
    )


class TrashParameters(ListParameters):
    project = ProjectField(required=False)


class ReportParameters(Parameters):
    project = ProjectField(required=False)


class ReviewItemSerializer(serializers.ModelSerializer):
    """An item of the queue; `name` is of what it is about."""

    project = serializers.CharField(source="project.path")
    name = serializers.SerializerMethodField()
    type = serializers.SerializerMethodField()
    node = serializers.IntegerField(source="node_id", allow_null=True)
    other = serializers.IntegerField(source="other_id", allow_null=True)
    detail = serializers.DictField()
    assigned_to = serializers.CharField(allow_null=True)
    held_by = serializers.CharField(allow_null=True)
    verbs = serializers.SerializerMethodField()

    class Meta:
        model = ReviewItem
        fields = (
            "id",
            "project",
            "kind",
            "subject",
            "name",
            "type",
            "node",
            "other",
            "why",
            "detail",
            "age_days",
            "threshold",
            "uses",
            "priority",
            "state",
            "snoozed_until",
            "assigned_to",
            "held_by",
            "held_until",
            "version",
            "verbs",
            "flagged_at",
        )

    def get_name(self, item: ReviewItem) -> str:
        return str(item.node) if item.node else item.subject

    def get_type(self, item: ReviewItem) -> str:
        return item.node.node_type if item.node else ""

    def get_verbs(self, item: ReviewItem) -> list[str]:
        return [verb.value for verb in review_kinds[item.kind].verbs]


class DecisionSerializer(serializers.ModelSerializer):
    """What somebody decided, and who took it back."""

    verb = serializers.ChoiceField(choices=Verb.choices)
    decided_by = serializers.CharField(allow_null=True)
    undone_by = serializers.CharField(allow_null=True)

    class Meta:
        model = ReviewDecision
        fields = (
            "id",
            "verb",
            "reason",
            "batch",
            "decided_by",
            "decided_at",
            "undone_by",
            "undone_at",
        )


class ExampleSerializer(serializers.Serializer):
    text = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    def get_text(self, pair: tuple[str, str]) -> str:
        return pair[0]

    def get_url(self, pair: tuple[str, str]) -> str:
        return pair[1]


class RelianceSerializer(serializers.Serializer):
    """What relies on it, of one sort; `hidden` are closed to the caller."""

    name = serializers.CharField()
    count = serializers.IntegerField()
    hidden = serializers.IntegerField()
    examples = ExampleSerializer(many=True)


class GoingSerializer(serializers.Serializer):
    node_id = serializers.IntegerField()
    key = serializers.CharField()
    type = serializers.CharField(source="node_type")
    title = serializers.CharField()


class ConsequencesSerializer(serializers.Serializer):
    """What a prune would do: what goes, what goes along, what relies on it."""

    chosen = GoingSerializer(many=True)
    along = GoingSerializer(many=True)
    edges = serializers.IntegerField(help_text="So many end with it.")
    reliances = RelianceSerializer(many=True)
    hidden = serializers.IntegerField(help_text="More that the caller may not see.")
    confirm = serializers.CharField(
        source="token", help_text="Good for half an hour, as long as this is so."
    )
    asks_again = serializers.BooleanField()


class PrunedSerializer(serializers.Serializer):
    """What came of it. `done` false: nothing was changed, and `why` says so."""

    done = serializers.BooleanField()
    why = serializers.CharField(allow_blank=True)
    consequences = ConsequencesSerializer(allow_null=True)
    decision = DecisionSerializer(allow_null=True)


class AgeSerializer(serializers.Serializer):
    days = serializers.IntegerField(allow_null=True)
    threshold = serializers.IntegerField(allow_null=True)
    is_stale = serializers.BooleanField()


class LastSaidSerializer(serializers.Serializer):
    text = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)


class DetailSerializer(serializers.Serializer):
    """An item with all that its decision needs."""

    item = ReviewItemSerializer()
    meaning = serializers.CharField(source="kind.meaning")
    claim = NodeSerializer(allow_null=True)
    other = NodeSerializer(allow_null=True)
    evidence = EvidenceSerializer(many=True)
    age = AgeSerializer(allow_null=True)
    last_observation = LastSaidSerializer(allow_null=True)
    reliances = RelianceSerializer(many=True)
    history = DecisionSerializer(many=True)
    facts = serializers.SerializerMethodField()

    def get_facts(self, detail: Any) -> list[dict[str, str]]:
        return [{"name": name, "text": text} for name, text in detail.facts]


class DecidedSerializer(serializers.Serializer):
    """The decision, and the item after it."""

    decision = DecisionSerializer()
    item = ReviewItemSerializer()


class TrashedSerializer(serializers.ModelSerializer):
    """Something in the trash; what went along comes back with it."""

    project = serializers.CharField(source="project.path")
    node = serializers.IntegerField(source="node_id")
    key = serializers.CharField(source="node.key")
    type = serializers.CharField(source="node.node_type")
    title = serializers.CharField(source="node.__str__")
    trashed_by = serializers.CharField(allow_null=True)

    class Meta:
        model = Trashed
        fields = (
            "id",
            "project",
            "node",
            "key",
            "type",
            "title",
            "reason",
            "trashed_by",
            "trashed_at",
            "purge_at",
        )


class RestoredSerializer(serializers.Serializer):
    nodes = serializers.ListField(
        child=serializers.IntegerField(), help_text="All that came back."
    )


class ReportLineSerializer(serializers.Serializer):
    """A stale claim, for those who decide outside."""

    name = serializers.CharField()
    type = serializers.CharField()
    age = serializers.CharField(help_text="As in `120 days`.")
    lastObservation = serializers.CharField(help_text="`none` where there is none.")
