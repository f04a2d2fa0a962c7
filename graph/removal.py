"""A project with all that it holds, gone."""

from __future__ import annotations

from django.db import transaction

from connections.models import Project, User, record_audit
from graph.copying import execute
from graph.locks import lock_project

# In an order that no foreign key has to cascade through row by row.
TABLES = (
    "graph_checks",
    "graph_merges",
    "graph_daily_figures",
    "graph_erasures",
    "graph_erased_names",
    "graph_node_positions",
    "graph_trash",
    "graph_review_decisions",
    "graph_review_items",
    "graph_stale_thresholds",
    "graph_extracted_texts",
    "graph_extraction_answers",
    "graph_pending_edges",
    "graph_aliases",
    "graph_identities",
    "graph_tombstones",
    "graph_identity_decisions",
    "graph_evidence",
    "graph_edges",
    "graph_refused_texts",
    "graph_nodes",
    "graph_records",
)


def remove_project(project: Project, *, by: User | None = None) -> None:
    """Delete `project` and every row of it; the audit of it stays."""
    with transaction.atomic():
        lock_project(project)
        record_audit("project.removed", target=project.path, project=project, actor=by)
        for table in TABLES:
            of_project = "tenant_id = %s AND project_id = %s"
            statement = f"DELETE FROM {table} WHERE {of_project}"  # noqa: S608 - ours
            execute(statement, [project.tenant_id, project.pk])
        project.sources.all().delete()
        project.delete()
