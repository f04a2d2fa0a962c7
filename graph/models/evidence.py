"""Why a node or an edge exists."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from graph.models.edge import Edge
from graph.models.node import Node
from graph.models.record import Record
from graph.models.scoped import InProject


class Evidence(InProject):
    """What a record says of a node or an edge.

    `via_source` and `via_target` are the keys the record itself named where another
    node stands for them: an account for its person, a mail's thread for that of its
    root. `assertion` keeps how this record describes a node that others describe too.
    """

    class Kind(models.TextChoices):
        SAID = "said", "said by the record"
        DERIVED = "derived", "follows from the record"
        IMPLIED = "implied", "made for an edge, not yet met in a source"

    record = models.ForeignKey(
        Record,
        models.DO_NOTHING,
        null=True,
        related_name="evidence",
        db_index=False,
        db_constraint=False,
    )
    node = models.ForeignKey(
        Node,
        models.DO_NOTHING,
        null=True,
        related_name="evidence",
        db_index=False,
        db_constraint=False,
    )
    edge = models.ForeignKey(
        Edge,
        models.DO_NOTHING,
        null=True,
        related_name="evidence",
        db_index=False,
        db_constraint=False,
    )
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.SAID)
    part = models.TextField(blank=True)
    start = models.IntegerField(null=True)
    end = models.IntegerField(null=True)
    quote = models.TextField(blank=True)
    weight = models.FloatField(default=1.0)
    via_source = models.TextField(blank=True)
    via_target = models.TextField(blank=True)
    assertion = models.JSONField(null=True)

    class Meta:
        db_table = "graph_evidence"
        verbose_name_plural = "evidence"
        constraints = (
            models.UniqueConstraint(
                fields=(
                    "tenant",
                    "project",
                    "record",
                    "node",
                    "edge",
                    "part",
                    "via_source",
                    "via_target",
                ),
                nulls_distinct=False,
                name="graph_evidence_once",
            ),
            models.CheckConstraint(
                condition=Q(node__isnull=False) ^ Q(edge__isnull=False),
                name="graph_evidence_of_one",
            ),
            models.CheckConstraint(
                condition=Q(record__isnull=False) | Q(kind="implied"),
                name="graph_evidence_has_record",
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("tenant", "project", "node"),
                condition=Q(node__isnull=False),
                name="graph_evidence_node",
            ),
            models.Index(
                fields=("tenant", "project", "edge"),
                condition=Q(edge__isnull=False),
                name="graph_evidence_edge",
            ),
            models.Index(
                fields=("tenant", "project", "via_source"),
                condition=~Q(via_source=""),
                name="graph_evidence_via_source",
            ),
            models.Index(
                fields=("tenant", "project", "via_target"),
                condition=~Q(via_target=""),
                name="graph_evidence_via_target",
            ),
        )

    def __str__(self) -> str:
        return self.quote or f"record {self.record_id}"
