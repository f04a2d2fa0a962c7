"""Which keys stand for one node by somebody's word, and what the checks found."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from connections.models import User
from graph.models.scoped import InProject


class Merge(InProject):
    """`key` stands for the node of `target`: both were one thing.

    One that was taken back stays, so that the two are not merged by themselves again.
    `merged_by` is None where equal names were merged.
    """

    key = models.TextField()
    target = models.TextField()
    reason = models.TextField(blank=True)
    merged_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    merged_at = models.DateTimeField(auto_now_add=True)
    undone_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "graph_merges"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "key"),
                condition=Q(undone_at=None),
                name="graph_merges_key",
            ),
            models.CheckConstraint(
                condition=~Q(key=F("target")), name="graph_merges_of_two"
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "project", "target"), name="graph_merges_target"
            ),
            models.Index(
                fields=("tenant", "project", "key", "target"),
                condition=Q(undone_at__isnull=False),
                name="graph_merges_apart",
            ),
        )

    def __str__(self) -> str:
        return f"{self.key} is {self.target}"


class GraphCheck(InProject):
    """What one run of the checks found: `findings` by check, as they were left.

    Each finding has how many there are, out of how many, some by name, how many were
    mended, and how long the check took.
    """

    at = models.DateTimeField()
    seconds = models.FloatField()
    findings = models.JSONField(default=dict)
    faults = models.PositiveIntegerField(default=0)
    repaired = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "graph_checks"
        get_latest_by = "at"
        indexes = (
            models.Index(fields=("tenant", "project", "-at"), name="graph_checks_at"),
        )

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}: {self.faults} faults"
