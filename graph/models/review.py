"""What people should look at again, what they decided, and what they put away."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from connections.models import User
from graph.models.node import Node
from graph.models.scoped import InProject, Scoped
from graph.querysets import ScopedQuerySet


class StaleThreshold(InProject):
    """After how many days a project looks at a type of node again; None: never.

    A type without a row has the published threshold (`graph.staleness`).
    """

    node_type = models.CharField(max_length=32)
    days = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    changed_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "graph_stale_thresholds"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "node_type"),
                name="graph_stale_thresholds_type",
            ),
            models.CheckConstraint(
                condition=Q(days=None) | Q(days__gte=1),
                name="graph_stale_thresholds_days",
            ),
        )

    def __str__(self) -> str:
        return f"{self.node_type}: {self.days or 'never'}"


class ReviewItem(Scoped):
    """One thing of one kind that asks for a decision, once.

    `subject` names it within its kind; `fingerprint` stands for the evidence it was
    flagged on: what was decided comes back only with another one. `version` rises with
    every change, so that a decision on what somebody no longer sees is refused.
    """

    class State(models.TextChoices):
        OPEN = "open"
        SNOOZED = "snoozed"
        DECIDED = "decided"
        WITHDRAWN = "withdrawn", "its cause is gone"

    kind = models.CharField(max_length=32)
    subject = models.CharField(max_length=600)
    node = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        null=True,
        related_name="review_items",
        db_index=False,
        db_constraint=False,
    )
    other = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    fingerprint = models.CharField(max_length=64)
    why = models.TextField()
    detail = models.JSONField(default=dict, blank=True)
    age_days = models.PositiveIntegerField(null=True)
    threshold = models.PositiveIntegerField(null=True)
    uses = models.PositiveIntegerField(default=0)
    priority = models.FloatField(default=0)
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    snoozed_until = models.DateTimeField(null=True, blank=True)
    assigned_to = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    held_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    held_until = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=0)
    flagged_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = ScopedQuerySet["ReviewItem"].as_manager()

    class Meta:
        db_table = "graph_review_items"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "kind", "subject"),
                name="graph_review_items_subject",
            ),
            models.UniqueConstraint(
                fields=("tenant", "project", "id"), name="graph_review_items_scope"
            ),
            models.CheckConstraint(
                condition=Q(state__in=("open", "snoozed", "decided", "withdrawn")),
                name="graph_review_items_state",
            ),
            models.CheckConstraint(
                condition=Q(state="snoozed") ^ Q(snoozed_until=None),
                name="graph_review_items_snoozed",
            ),
            models.CheckConstraint(
                condition=Q(held_by=None) | Q(held_until__isnull=False),
                name="graph_review_items_held",
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("tenant", "project", "state", "-priority", "id"),
                include=("audience", "kind"),
                name="graph_review_items_queue",
            ),
            models.Index(
                fields=("tenant", "project", "kind", "state", "-priority", "id"),
                include=("audience",),
                name="graph_review_items_kind",
            ),
            # The other orders; what waits longest is read from the end of the first.
            models.Index(
                fields=("tenant", "project", "-flagged_at", "-id"),
                include=("audience", "kind"),
                condition=Q(state="open"),
                name="graph_review_items_newest",
            ),
            models.Index(
                fields=("tenant", "project", "-uses", "id"),
                include=("audience", "kind"),
                condition=Q(state="open"),
                name="graph_review_items_used",
            ),
            # What waits in several projects of a tenant at once.
            models.Index(
                fields=("tenant", "-priority", "id"),
                include=("project", "audience", "kind"),
                condition=Q(state="open"),
                name="graph_review_items_tenant",
            ),
            models.Index(
                fields=("assigned_to", "state", "-priority", "id"),
                condition=Q(assigned_to__isnull=False),
                name="graph_review_items_assigned",
            ),
            models.Index(
                fields=("tenant", "project", "node"),
                condition=Q(node__isnull=False),
                name="graph_review_items_node",
            ),
            models.Index(
                fields=("tenant", "project", "other"),
                condition=Q(other__isnull=False),
                name="graph_review_items_other",
            ),
            # Of a list of nodes those that wait, newest first.
            models.Index(
                fields=("tenant", "project", "kind", "-node"),
                include=("audience",),
                condition=Q(state="open"),
                name="graph_review_items_flagged",
            ),
            models.Index(
                fields=("snoozed_until",),
                condition=Q(state="snoozed"),
                name="graph_review_items_waking",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}"


class ReviewDecision(InProject):
    """What somebody decided of an item, and whether it was taken back.

    `before` is what an undo puts back; `batch` ties the decisions of one bulk act.
    """

    item = models.ForeignKey(
        ReviewItem,
        models.DO_NOTHING,
        related_name="decisions",
        db_index=False,
        db_constraint=False,
    )
    verb = models.CharField(max_length=16)
    reason = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64)
    before = models.JSONField(default=dict, blank=True)
    batch = models.UUIDField(null=True)
    decided_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    decided_at = models.DateTimeField(auto_now_add=True)
    undone_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    undone_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "graph_review_decisions"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "id"), name="graph_review_decisions_scope"
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "project", "item", "-id"),
                name="graph_review_decisions_item",
            ),
            models.Index(
                fields=("batch",),
                condition=Q(batch__isnull=False),
                name="graph_review_decisions_batch",
            ),
        )

    def __str__(self) -> str:
        return f"{self.verb} {self.item_id}"


class Trashed(Scoped):
    """A pruned node, until it is put back or gone for good.

    `chosen` is the node whose pruning took this one along; its own id where it was
    chosen itself.
    """

    node = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    chosen = models.BigIntegerField()
    decision = models.ForeignKey(
        ReviewDecision,
        models.DO_NOTHING,
        null=True,
        related_name="trashed",
        db_index=False,
        db_constraint=False,
    )
    reason = models.TextField(blank=True)
    trashed_by = models.ForeignKey(
        User, models.SET_NULL, null=True, related_name="+", db_index=False
    )
    trashed_at = models.DateTimeField(auto_now_add=True)
    purge_at = models.DateTimeField()

    objects = ScopedQuerySet["Trashed"].as_manager()

    class Meta:
        db_table = "graph_trash"
        verbose_name_plural = "trash"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "node"), name="graph_trash_node"
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "project", "-trashed_at", "id"),
                name="graph_trash_list",
            ),
            models.Index(
                fields=("tenant", "project", "chosen"), name="graph_trash_chosen"
            ),
            models.Index(fields=("purge_at",), name="graph_trash_due"),
        )

    def __str__(self) -> str:
        return f"node {self.node_id}"
