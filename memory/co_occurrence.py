"""Observations that conversations reference together, as weighted edges.

The weight is the conversations with both over those with either, of those that ended.
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
# A conversation that pulled in more counts the pairs of the first ones only.
MOST_REFERENCED = 20


def count_together(nodes: Sequence[int], *, now: datetime) -> None:
    """Count that one conversation referenced `nodes` together, and weigh anew the
    edges of each; call it once a conversation, after the nodes were counted."""
    if len(nodes) > 1:
        pairs = {"nodes": sorted(nodes)[:MOST_REFERENCED]}
        execute(observation_sql.COUNT_PAIRS, pairs)
    rows = fetch(
        observation_sql.PAIRS_OF, {"nodes": list(nodes), "least": LEAST_TOGETHER}
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
            weight=together / either,
            occurred_at=now,
        )
        for _, one, other, together, either, first, second in rows
    ]
    write_edges(project, edges, now=now)
