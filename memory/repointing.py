"""Citations and proofs of nodes that were merged: they name the node that was kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connections.models import Project
from connections.records import JSON
from graph.copying import execute, fetch
from graph.merged import Repointer, repointers
from memory import repointing_sql as sql


def repoint(project: Project, into: Mapping[int, int]) -> JSON:
    """Let citations and proofs name the nodes that others became; return which did."""
    values: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(into),
        "into": list(into.values()),
    }
    cited = fetch(sql.CITE, values)
    proofs = fetch(sql.NAME_PROOFS, values)
    return {
        "citations": [list(row) for row in cited],
        "proofs": [list(row) for row in proofs],
    }


def put_back(project: Project, held: JSON) -> None:
    """Let them name the nodes again that they named before."""
    was: dict[str, Any] = dict(held) if isinstance(held, dict) else {}
    citations = [list(column) for column in zip(*was["citations"], strict=True)]
    if citations:
        execute(sql.CITE_AS_BEFORE, citations)
    proofs = [list(column) for column in zip(*was["proofs"], strict=True)]
    if proofs:
        execute(sql.NAME_PROOFS_AS_BEFORE, proofs)


repointers.add("memory", Repointer(repoint, put_back))
