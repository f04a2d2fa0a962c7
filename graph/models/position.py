"""Where nodes lie in the picture of their project's graph."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import F

from graph.models.node import Node
from graph.models.scoped import InProject


class NodePosition(InProject):
    """The place of one node, and its number of `ties`: edges that all who may see the
    node may see too.

    `version` is that of the layout that found the place (`graph.layouts`); 0: it was
    put beside its neighbours when a picture first showed it. A place follows from
    nothing that some reader of the node may not see: it holds while the node is shown
    to `seen_by`, its audience when it was placed, and to nobody else.
    """

    node = models.ForeignKey(
        Node, models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    x = models.FloatField()
    y = models.FloatField()
    ties = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    # No foreign key: it keeps no audience, and of one that is gone it says nothing.
    seen_by = models.BigIntegerField(default=0)

    class Meta:
        db_table = "graph_node_positions"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "node"), name="graph_node_positions_node"
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                "tenant",
                "project",
                F("ties").desc(),
                "node",
                include=("version",),
                name="graph_node_positions_ties",
            ),
        )

    def __str__(self) -> str:
        return f"{self.node_id} at ({self.x:.0f}, {self.y:.0f})"
