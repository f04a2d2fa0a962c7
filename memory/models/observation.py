"""What was learned in conversations: typed, sourced, fading.

An observation is a node of the graph (`origin = memory`, key `memory:{node id}`) and a
row here; `memory.observations` writes both, through `graph`, in one transaction.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from connections.models import Audience, User
from graph.models import InProject, Node
from memory.importance import START, Strength
from memory.models.conversation import Conversation, Turn


class MemoryScope(InProject):
    """Whose memory it is: one user's of a project, or with no user the project's own.

    `ticks` counts what memory fades by: the scope's conversations, or its days with
    one (FABRIC_DECAY_TICK).
    """

    user = models.ForeignKey(
        User, models.CASCADE, null=True, related_name="+", db_index=False
    )
    ticks = models.BigIntegerField(default=0)
    last_tick_on = models.DateField(null=True)

    class Meta:
        db_table = "memory_scopes"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "user"),
                name="memory_scopes_one_each",
                nulls_distinct=False,
            ),
        )

    def __str__(self) -> str:
        return f"{self.user or 'shared'}: {self.ticks}"


class Observation(InProject):
    """One thing learned, with its node, its source and how strong it is.

    `strength` was its importance at the tick `counted_at`; now it is
    `strength * 0.9 ** (scope.ticks - counted_at)`, unless it is pinned. At the tick
    `leaves_at` it is below 0.05 and leaves; None: it stays.
    """

    class Type(models.TextChoices):
        FACT = "fact"
        DECISION = "decision"
        COMMITMENT = "commitment"
        RISK = "risk"
        INSIGHT = "insight"
        PATTERN = "pattern"

    class Left(models.TextChoices):
        """Why it is out of memory."""

        NOT = "", "-"
        FADED = "faded"
        UNSUPPORTED = "unsupported", "nothing supports it any more"
        SUPERSEDED = "superseded", "what superseded it is gone"

    class Status(models.TextChoices):
        NONE = "", "-"
        OPEN = "open"
        DONE = "done"
        DROPPED = "dropped"

    node = models.OneToOneField(
        Node,
        models.DO_NOTHING,
        primary_key=True,
        related_name="observation",
        db_constraint=False,
    )
    scope = models.ForeignKey(
        MemoryScope, models.CASCADE, related_name="observations", db_index=False
    )
    observation_type = models.CharField(max_length=16, choices=Type)
    conversation = models.ForeignKey(
        Conversation, models.SET_NULL, null=True, related_name="observations"
    )
    turn = models.ForeignKey(
        Turn, models.SET_NULL, null=True, related_name="observations"
    )
    words_hash = models.CharField(
        max_length=64, help_text="SHA-256 of the normalised text: the same said again."
    )
    subject = models.TextField(
        blank=True, help_text="What it is about, normalised: a newer one supersedes."
    )
    rationale = models.TextField(blank=True)
    who = models.TextField(blank=True, help_text="Of a commitment: who made it.")
    due_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(
        max_length=16, choices=Status, default=Status.NONE, blank=True
    )
    strength = models.FloatField(default=START)
    counted_at = models.BigIntegerField(default=0)
    leaves_at = models.BigIntegerField(null=True)
    is_pinned = models.BooleanField(default=False)
    is_protected = models.BooleanField(
        default=False, help_text="It fades, but does not leave."
    )
    is_shared = models.BooleanField(default=False)
    owner = models.ForeignKey(
        User,
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="Who made it; its scope is theirs until it is shared.",
    )
    evidence_audience = models.ForeignKey(
        Audience,
        models.RESTRICT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="Who may see all that it rests on; it never becomes wider. "
        "None: it rests on nothing but its owner's word.",
    )
    conversations = models.PositiveIntegerField(
        default=0, help_text="In how many ended conversations it was referenced."
    )
    origin = models.CharField(
        max_length=200, default="rules", help_text="rules, a model's name, or hand."
    )
    superseded_by = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="supersedes",
        db_constraint=False,
    )
    left_at = models.DateTimeField(
        null=True, help_text="When it left memory; restorable for 30 days."
    )
    left_because = models.CharField(
        max_length=16, choices=Left, default=Left.NOT, blank=True
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "observations"
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(strength__gt=0) & Q(strength__lte=1),
                name="observations_strength",
            ),
            models.CheckConstraint(
                condition=Q(
                    observation_type__in=(
                        "fact",
                        "decision",
                        "commitment",
                        "risk",
                        "insight",
                        "pattern",
                    )
                ),
                name="observations_type",
            ),
            # The same is not remembered twice while it is current.
            models.UniqueConstraint(
                fields=("scope", "observation_type", "words_hash"),
                condition=Q(superseded_by=None, left_at=None),
                name="observations_said_once",
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("scope", "leaves_at"),
                condition=Q(left_at=None, leaves_at__isnull=False),
                name="observations_leaving",
            ),
            models.Index(
                fields=("scope", "subject"),
                condition=~Q(subject=""),
                name="observations_subject",
            ),
            models.Index(
                fields=("left_at",),
                condition=Q(left_at__isnull=False),
                name="observations_left",
            ),
        )

    def __str__(self) -> str:
        return f"{self.observation_type} memory:{self.node_id}"

    @property
    def counted(self) -> Strength:
        """Return how strong it was when it was counted."""
        return Strength(
            strength=self.strength,
            counted_at=self.counted_at,
            is_pinned=self.is_pinned,
            is_protected=self.is_protected,
        )

    @counted.setter
    def counted(self, counted: Strength) -> None:
        self.strength, self.counted_at = counted.strength, counted.counted_at
        self.is_pinned, self.is_protected = counted.is_pinned, counted.is_protected
        self.leaves_at = counted.leaves_at


class Reference(models.Model):
    """A conversation that an observation was pulled into: it counts once."""

    observation = models.ForeignKey(
        Observation,
        models.CASCADE,
        related_name="references",
        db_index=False,
        db_constraint=False,
    )
    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="references"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "observation_references"
        constraints = (
            models.UniqueConstraint(
                fields=("observation", "conversation"),
                name="observation_references_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.observation_id} in {self.conversation_id}"


class ReferencedPair(models.Model):
    """In how many ended conversations two observations were referenced together.

    `one` is the one with the lesser id.
    """

    one = models.ForeignKey(
        Observation,
        models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    other = models.ForeignKey(
        Observation, models.DO_NOTHING, related_name="+", db_constraint=False
    )
    together = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "observation_pairs"
        constraints = (
            models.UniqueConstraint(
                fields=("one", "other"), name="observation_pairs_once"
            ),
            models.CheckConstraint(
                condition=Q(one__lt=models.F("other")), name="observation_pairs_order"
            ),
        )

    def __str__(self) -> str:
        return f"{self.one_id} and {self.other_id}: {self.together}"


class Feedback(models.Model):
    """What a reader thought of an answer; staff work through the open ones."""

    class Verdict(models.TextChoices):
        GOOD = "good"
        WRONG = "wrong"
        MISSING = "missing", "missing source"
        OUTDATED = "outdated", "out of date"
        OTHER = "other"

    class State(models.TextChoices):
        OPEN = "open"
        RESOLVED = "resolved"

    turn = models.ForeignKey(Turn, models.CASCADE, related_name="feedback")
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    verdict = models.CharField(max_length=16, choices=Verdict)
    note = models.TextField(blank=True, max_length=2000)
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        db_table = "turn_feedback"
        constraints = (
            models.UniqueConstraint(
                fields=("turn", "user"), name="turn_feedback_one_each"
            ),
        )

    def __str__(self) -> str:
        return f"{self.verdict}: turn {self.turn_id}"
