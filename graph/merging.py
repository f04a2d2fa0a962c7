"""Several nodes made one, and taken apart again.

Their edges and evidence become those of the node that is kept, under the names that
records know them by; these names go on to stand for it, so that the same graph comes
of any order of merging and reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from connections.models import Project, User, record_audit
from graph import ingest_sql
from graph import merging_sql as sql
from graph.audiences import Audiences
from graph.claims import CLAIM_TYPES
from graph.copying import execute, fetch
from graph.edges import GraphScope
from graph.locks import lock_project
from graph.merged import (
    Merged,
    MergeRefused,
    Repointer,
    describe,
    repointers,
    resolved,
    scope_values,
)
from graph.merged_edges import carry_out, dropped_rows, plan_edges
from graph.models import Merge, Node
from graph.models.node import MEMORY, OF_ITS_SOURCE
from graph.review.find_orphans import queue_orphans
from graph.unmerging import unmerge

__all__ = [
    "MergeRefused",
    "Merged",
    "Repointer",
    "merge_nodes",
    "repointers",
    "resolved",
    "unmerge",
]
DESCRIBED = ("tags", "metadata", "audience_id")
MOMENTS = ("last_evidence_at", "confirmed_at", "occurred_at")


def merge_nodes(
    project: Project,
    keep: int,
    others: Sequence[int],
    *,
    by: User | None,
    reason: str = "",
) -> Merged:
    """Make `others` the node `keep`; `by` is None where their names are equal.

    Raises `MergeRefused` where they cannot be one thing.
    """
    scope = GraphScope(project, Audiences(project), timezone.now())
    with transaction.atomic():
        lock_project(project)
        kept, gone = _nodes(project, keep, others)
        ids = [node.pk for node in gone]
        last = fetch(sql.LAST_EVIDENCE, [])[0][0]
        merges = [
            Merge.objects.create(
                tenant_id=project.tenant_id,
                project=project,
                key=node.key,
                target=kept.key,
                reason=reason,
                merged_by=by,
            ).pk
            for node in gone
        ]
        before: dict[str, Any] = {"keep": keep, "merges": merges, "last": last}
        before["others"] = [[n.pk, n.key, _iso(n.valid_to)] for n in gone]
        before |= carry_out(scope, plan_edges(scope, dict.fromkeys(ids, keep)), ids)
        before |= _join_nodes(scope, kept, gone, before.pop("dropped"))
        execute(sql.END_NODES, [scope.now, ids])
        before["repointed"] = {
            name: each.repoint(project, dict.fromkeys(ids, keep))
            for name, each in sorted(repointers.items())
        }
        record_audit(
            "nodes.merged",
            target=f"node:{keep}",
            project=project,
            actor=by,
            kept=kept.key,
            merged=[node.key for node in gone],
            reason=reason,
        )
        queue_orphans(project, [keep])
    return Merged(keep, before)


def _nodes(
    project: Project, keep: int, others: Sequence[int]
) -> tuple[Node, list[Node]]:
    """Return the node to keep and those to merge into it, or say why not."""
    wanted = [keep, *dict.fromkeys(others)]
    if len(wanted) < 2 or keep in wanted[1:]:
        raise MergeRefused("Choose a node to keep, and one or more others.")
    rows = Node.objects.select_for_update(of=("self",)).filter(
        tenant_id=project.tenant_id, project_id=project.pk, pk__in=wanted
    )
    found = {node.pk: node for node in rows.defer("embedding").order_by("pk")}
    if missing := [node for node in wanted if node not in found]:
        raise MergeRefused(f"There is no node {missing[0]} in {project}.")
    nodes = [found[node] for node in wanted]
    if not nodes[0].is_current:
        raise MergeRefused(f"{nodes[0]} was pruned or has ended: keep another one.")
    for node in nodes:
        _refuse(node, nodes[0])
    return nodes[0], nodes[1:]


def _refuse(node: Node, kept: Node) -> None:
    if node.node_type in ("person", "address", "account", "name"):
        raise MergeRefused(f"{node} is a person: merge persons under Identities.")
    if node.origin == MEMORY:
        raise MergeRefused(f"{node} is an observation: correct it in memory.")
    if node.node_type in OF_ITS_SOURCE:
        raise MergeRefused(
            f"{node} is what its source said ({node.node_type}); it is not merged."
        )
    if node.node_type != kept.node_type:
        raise MergeRefused(
            f"{node} is a {node.node_type}, {kept} a {kept.node_type}: "
            "only nodes of one type are merged."
        )
    if node.trashed_at is not None:
        raise MergeRefused(f"{node} was pruned: put it back first.")


def _join_nodes(
    scope: GraphScope, kept: Node, gone: Sequence[Node], dropped: list[dict[str, Any]]
) -> dict[str, Any]:
    """Give what proves and describes `gone` to the node that is kept."""
    ids = [node.pk for node in gone]
    values = {**scope_values(scope.project), "keep": kept.pk, "nodes": ids}
    execute(ingest_sql.KEEP_ASSERTIONS, [[kept.pk, *ids]])
    dropped += dropped_rows(fetch(sql.DROP_DOUBLE_NODE_EVIDENCE, values))
    moved = fetch(sql.MOVE_NODE_EVIDENCE, values)
    united = _united(scope, kept, gone)
    united["metadata"] = Jsonb(united["metadata"])
    execute(sql.KEEP_NODE, {**united, "id": kept.pk})
    describe(scope.project, [kept.pk])
    after = Node.objects.values(*DESCRIBED).get(pk=kept.pk)
    return {
        "dropped": dropped,
        "evidence": [list(row) for row in moved],
        "was": {name: getattr(kept, name) for name in DESCRIBED}
        | {name: _iso(getattr(kept, name)) for name in MOMENTS},
        "became": after,
    }


def _united(scope: GraphScope, kept: Node, gone: Sequence[Node]) -> dict[str, Any]:
    nodes = [kept, *gone]
    metadata: dict[str, Any] = {}
    for node in reversed(nodes):
        metadata |= node.metadata
    first = _least(node.occurred_at for node in nodes)
    return {
        "tags": sorted({tag for node in nodes for tag in node.tags}),
        "metadata": metadata,
        "audience": scope.audiences.any_of({node.audience_id for node in nodes}),
        "last_evidence_at": _most(node.last_evidence_at for node in nodes),
        "confirmed_at": _most(node.confirmed_at for node in nodes),
        "occurred_at": first if kept.node_type in CLAIM_TYPES else kept.occurred_at,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _least(moments: Iterable[datetime | None]) -> datetime | None:
    return min((moment for moment in moments if moment), default=None)


def _most(moments: Iterable[datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment), default=None)
