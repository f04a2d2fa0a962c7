"""How much a graph holds, counted over what one may see of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min, QuerySet

from graph.querysets import EdgeQuerySet, NodeQuerySet


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts; `first_at` and `last_at` are when the earliest and latest was said."""

    nodes: int
    edges: int
    records: int
    nodes_by_type: dict[str, int]
    nodes_by_source: dict[str, int]
    edges_by_relation: dict[str, int]
    first_at: datetime | None
    last_at: datetime | None


def count_graph(
    nodes: NodeQuerySet, edges: EdgeQuerySet, records: QuerySet
) -> Statistics:
    """Return the counts of these nodes, edges and records."""
    by_type, by_source = _counts(nodes, "node_type"), _counts(nodes, "source_kind")
    by_relation = _counts(edges, "relation")
    said = nodes.aggregate(first=Min("occurred_at"), last=Max("occurred_at"))
    return Statistics(
        nodes=sum(by_type.values()),
        edges=sum(by_relation.values()),
        records=records.count(),
        nodes_by_type=by_type,
        nodes_by_source=by_source,
        edges_by_relation=by_relation,
        first_at=said["first"],
        last_at=said["last"],
    )


def _counts(rows: QuerySet, name: str) -> dict[str, int]:
    counted = rows.order_by().values(name).annotate(number=Count("pk"))
    return {row[name]: row["number"] for row in counted.order_by("-number", name)}
