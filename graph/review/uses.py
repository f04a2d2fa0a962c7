"""How much a node is used: what of it every layer counts, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from connections.models import Project
from graph.copying import fetch
from graph.review import finding_sql
from graph.review.kinds import usage_counts

MOST_EDGES = 500


def uses_of(project: Project, nodes: Sequence[int]) -> Counter[int]:
    """Return how often each of `nodes` is used, of every registered sort."""
    total: Counter[int] = Counter()
    if nodes:
        for count in usage_counts.values():
            total.update(count(project, nodes))
    return total


@usage_counts.register("edges")
def live_edges(project: Project, nodes: Sequence[int]) -> Mapping[int, int]:
    """Return the live edges of nodes; those of a hub up to a bound."""
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
        "most": MOST_EDGES,
    }
    return dict(fetch(finding_sql.LIVE_EDGES, values))
