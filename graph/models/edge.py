"""Edges: typed, weighted, dated relations between nodes."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from graph.models.node import Node
from graph.models.record import Record
from graph.models.scoped import InProject, Scoped
from graph.querysets import EdgeQuerySet


class Edge(Scoped):
    """`source` -relation-> `target`, while valid.

    Composite foreign keys hold both ends in the edge's own project. `weight` is the
    sum of what its evidence weighs. `position` orders the sources of one target (the
    messages of a channel); `scope` is the sequence that a `follows` edge belongs to.
    """

    source = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        related_name="outgoing",
        db_index=False,
        db_constraint=False,
    )
    target = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        related_name="incoming",
        db_index=False,
        db_constraint=False,
    )
    relation = models.CharField(max_length=64)
    scope = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    weight = models.FloatField(default=1.0)
    position = models.DecimalField(
        max_digits=20, decimal_places=6, null=True, blank=True
    )
    origin = models.CharField(max_length=32, default="source")
    occurred_at = models.DateTimeField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EdgeQuerySet.as_manager()

    class Meta:
        db_table = "graph_edges"
        constraints = (
            models.UniqueConstraint(
                fields=(
                    "tenant",
                    "project",
                    "source",
                    "relation",
                    "target",
                    "scope",
                    "valid_from",
                ),
                nulls_distinct=False,
                name="graph_edges_identity",
            ),
            models.UniqueConstraint(
                fields=("tenant", "project", "id"), name="graph_edges_scope"
            ),
            models.CheckConstraint(
                condition=Q(weight__gte=0), name="graph_edges_weight"
            ),
        )
        # The first two hold all that a walk asks of an edge.
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                "tenant",
                "project",
                "source",
                F("weight").desc(),
                F("occurred_at").desc(nulls_last=True),
                "id",
                include=("target", "audience", "relation", "valid_from", "valid_to"),
                name="graph_edges_out",
            ),
            models.Index(
                "tenant",
                "project",
                "target",
                F("weight").desc(),
                F("occurred_at").desc(nulls_last=True),
                "id",
                include=("source", "audience", "relation", "valid_from", "valid_to"),
                name="graph_edges_in",
            ),
            models.Index(
                fields=("tenant", "project", "target", "position"),
                condition=Q(position__isnull=False),
                name="graph_edges_sequence",
            ),
            models.Index(
                fields=("tenant", "project", "scope"),
                condition=Q(scope__isnull=False),
                name="graph_edges_in_scope",
            ),
            # Lists of the admin, newest first.
            models.Index(
                fields=("tenant", "project", "relation", "-id"),
                name="graph_edges_list_relation",
            ),
            models.Index(
                fields=("tenant", "project", "occurred_at"),
                name="graph_edges_list_said",
            ),
            models.Index(
                fields=("tenant", "project", "-id"),
                condition=Q(valid_to__isnull=False),
                name="graph_edges_list_ended",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source_id} -{self.relation}- {self.target_id}"


class PendingEdge(InProject):
    """An edge whose other end has not arrived; it is made when that does."""

    record = models.ForeignKey(
        Record,
        models.CASCADE,
        related_name="pending_edges",
        db_index=False,
        db_constraint=False,
    )
    source_key = models.TextField()
    relation = models.CharField(max_length=64)
    target_key = models.TextField()
    draft = models.JSONField(default=dict)

    class Meta:
        db_table = "graph_pending_edges"
        constraints = (
            models.UniqueConstraint(
                fields=(
                    "tenant",
                    "project",
                    "record",
                    "source_key",
                    "relation",
                    "target_key",
                ),
                name="graph_pending_edges_once",
            ),
        )
        indexes = (
            models.Index(
                fields=("tenant", "project", "source_key"), name="graph_pending_source"
            ),
            models.Index(
                fields=("tenant", "project", "target_key"), name="graph_pending_target"
            ),
        )

    def __str__(self) -> str:
        return f"{self.source_key} -{self.relation}- {self.target_key}"
