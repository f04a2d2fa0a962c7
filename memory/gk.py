"""The Gk view: a user's memory of a project as a graph, computed when it is asked for.

Facts and episodes are nodes; so are the agents that made them, the topics they are
about and where they come from.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from connections.models import Project, User
from connections.records import JSON
from memory.gk_reading import get_facts, list_sessions
from memory.gk_shape import NODE_TYPES, Shape, shape_of

__all__ = [
    "LIMIT",
    "LIMIT_MOST",
    "MIN_DEGREE_MOST",
    "NODE_TYPES",
    "GkView",
    "get_facts",
    "list_sessions",
    "memory_graph",
]

LIMIT, LIMIT_MOST = 200, 5_000
MIN_DEGREE_MOST = 1_000


@dataclass(frozen=True, slots=True)
class GkView:
    """A graph of memory; `truncated` where there is more than the limit let in."""

    shape: Shape
    truncated: bool

    @property
    def node_ids(self) -> list[int]:
        """Return the ids of the graph's nodes that it shows."""
        told = (node.metadata.get("node_id") for node in self.shape.nodes)
        return [node for node in told if isinstance(node, int)]

    def as_json(self) -> dict[str, JSON]:
        return {
            "nodes": [node.as_json() for node in self.shape.nodes],
            "edges": [edge.as_json() for edge in self.shape.edges],
            "statistics": self.shape.statistics(truncated=self.truncated),
        }


def memory_graph(
    user: User,
    project: Project,
    *,
    query: str = "",
    limit: int = LIMIT,
    min_degree: int = 0,
    types: Collection[str] = (),
) -> GkView:
    """Return the graph of at most `limit` facts and as many episodes.

    With a query, of those it finds. Then of nodes of `types` only (none: all), and of
    what has at least `min_degree` edges to others that have.
    """
    facts = get_facts(user, project, query, limit + 1)
    sessions = list_sessions(user, project, limit + 1, query)
    whole = shape_of(facts[:limit], sessions[:limit], project.tenant.slug)
    kept = whole.only(types).at_least(min_degree)
    return GkView(kept, truncated=len(facts) > limit or len(sessions) > limit)
