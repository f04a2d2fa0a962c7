"""What must hold of a graph after every run."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection, connections

from connections.models import Project
from graph import sql
from graph.copying import fetch

TABLES = ("graph_records", "graph_nodes", "graph_edges", "graph_evidence")


class Unproven(Exception):
    """The graph holds nodes or edges that no record supports."""


@dataclass(frozen=True, slots=True)
class Gaps:
    """Keys of current nodes, and names of current edges, without evidence."""

    nodes: tuple[str, ...]
    edges: tuple[str, ...]


def find_gaps(project: Project) -> Gaps:
    scope = [project.tenant_id, project.pk]
    return Gaps(
        tuple(row[0] for row in fetch(sql.NODES_UNPROVEN, scope)),
        tuple(row[0] for row in fetch(sql.EDGES_UNPROVEN, scope)),
    )


def check_evidence(project: Project) -> None:
    """Raise `Unproven` if a current node or edge of `project` has no evidence."""
    gaps = find_gaps(project)
    if gaps.nodes or gaps.edges:
        raise Unproven(
            f"{len(gaps.nodes)} nodes and {len(gaps.edges)} edges of {project} have no "
            f"evidence, first {[*gaps.nodes, *gaps.edges][:3]}. "
            "This is a fault of Fabric; please report it."
        )


def analyze() -> None:
    """Refresh the planner's statistics: without them it scans whole tables."""
    if connection.in_atomic_block:
        return
    with connections["owner"].cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ANALYZE {table}")
