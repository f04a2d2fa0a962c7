"""Observations that conversations reference together, as weighted edges.

The weight is the conversations with both over those with either, of those that ended,
to within one percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from connections.models import Project
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.models.node import MEMORY
from graph.written import WrittenEdge, write_edges
from memory import observation_sql

CO_OCCURS = "co_occurs"
LEAST_TOGETHER = 3
# A weight is written again once it is off by more than this share of itself.
DRIFT = 0.01
# A conversation that pulled in more counts the pairs of the first ones only.
MOST_REFERENCED = 20


def count_together(nodes: Sequence[int], *, now: datetime) -> None:
    """Count that one conversation referenced `nodes` together, and weigh anew those of
    their edges that are off; call it once a conversation, after the nodes were
    counted."""
    if len(nodes) > 1:
        pairs = {"nodes": sorted(nodes)[:MOST_REFERENCED]}
        execute(observation_sql.COUNT_PAIRS, pairs)
    rows = fetch(
        observation_sql.UNWEIGHED_PAIRS,
        {
            "nodes": list(nodes),
            "least": LEAST_TOGETHER,
            "relation": CO_OCCURS,
            "drift": DRIFT,
        },
    )
    if not rows:
        return
    project = Project.objects.get(pk=rows[0][0])
    audiences = Audiences(project)
    edges = [
        WrittenEdge(
            source_id=one,
            relation=CO_OCCURS,
            target_id=other,
            origin=MEMORY,
            audience_id=audiences.all_of({first, second}),
            weight=weight,
            occurred_at=now,
        )
        for _, one, other, weight, first, second in rows
    ]
    write_edges(project, edges, now=now)
