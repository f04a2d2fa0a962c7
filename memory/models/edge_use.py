"""How often edges led to what was cited: the graph's weights as learned from use."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from graph.models import Edge, InProject


class EdgeUse(InProject):
    """How often an edge led to a cited source: `uses` as they were at `last_used_at`.

    They halve with every FABRIC_EDGE_HALF_LIFE days; what an edge weighs by its
    evidence is untouched.
    """

    edge = models.OneToOneField(
        Edge,
        models.DO_NOTHING,
        primary_key=True,
        related_name="use",
        db_constraint=False,
    )
    uses = models.FloatField()
    last_used_at = models.DateTimeField()

    class Meta:
        db_table = "edge_uses"
        constraints = (
            models.CheckConstraint(condition=Q(uses__gt=0), name="edge_uses_positive"),
        )
        indexes = (
            models.Index(fields=("tenant", "project"), name="edge_uses_project"),
        )

    def __str__(self) -> str:
        return f"edge {self.edge_id}: {self.uses:.2f}"
