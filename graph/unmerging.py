"""A merge taken back: every node with what it had, and with what came since."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from connections.models import Project, User, record_audit
from connections.records import JSON
from graph import ingest_sql
from graph import merging_sql as sql
from graph.aliases import canonical, repoint
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.edge_writer import EdgeWriter
from graph.edges import GraphScope, Places, settle_edges
from graph.known import Lookup
from graph.locks import lock_project
from graph.merged import MergeRefused, describe, repointers, resolved, scope_values
from graph.models import Edge, Merge, Node
from graph.models.node import MEMORY


def unmerge(project: Project, before: Mapping[str, JSON], by: User | None) -> None:
    """Take a merge back, by what it returned; equal names stay apart from now on.

    What was said since under a merged name goes to that node, too. Raises
    `MergeRefused` where the merge was taken back already, or the nodes are gone.
    """
    said: dict[str, Any] = dict(before)
    scope = GraphScope(project, Audiences(project), timezone.now())
    with transaction.atomic():
        lock_project(project)
        keep = _undo_rows(project, said, by)
        others = {key: node for node, key, _ in said["others"]}
        execute(sql.REVIVE_NODES, _columns([(n, m) for n, _, m in said["others"]], 2))
        names = _names(project, said["keep"], others)
        _give_nodes_back(scope, said, names, others)
        touched = _give_edges_back(scope, said, names)
        _claim_waiting(scope, {keep.key: keep.pk, **others})
        _settle(scope, touched)
        execute(sql.READ_AGAIN, {**scope_values(project), **_since(said)})
        _describe_apart(scope, said, keep)
        for name, held in said.get("repointed", {}).items():
            if name in repointers:
                repointers[name].put_back(project, held)
        record_audit(
            "nodes.unmerged",
            target=f"node:{keep.pk}",
            project=project,
            actor=by,
            kept=keep.key,
            apart=sorted(others),
        )


def _undo_rows(project: Project, said: Mapping[str, Any], by: User | None) -> Node:
    of_project = {"tenant_id": project.tenant_id, "project_id": project.pk}
    undone = Merge.objects.filter(
        **of_project, pk__in=said["merges"], undone_at=None
    ).update(undone_at=timezone.now(), undone_by=by)
    if undone != len(said["merges"]):
        raise MergeRefused("This merge was taken back already.")
    wanted = [said["keep"], *(node for node, _, _ in said["others"])]
    found = Node.objects.filter(**of_project, pk__in=wanted)
    nodes = {node.pk: node for node in found.defer("embedding")}
    if len(nodes) != len(wanted):
        raise MergeRefused("A node of this merge is gone for good: it stays as it is.")
    return nodes[said["keep"]]


def _names(
    project: Project, keep: int, others: Mapping[str, int]
) -> dict[str, tuple[int, str]]:
    """Return the names under which the kept node is known that are another's now, each
    with the id and key of that other."""
    rows = fetch(sql.NAMES_ON, {**scope_values(project), "keep": keep})
    known = {row[0] for row in rows} | set(others)
    stands = resolved(project, known)
    owner = {name: stands.get(name, name) for name in known}
    return {n: (others[key], key) for n, key in owner.items() if key in others}


def _give_nodes_back(
    scope: GraphScope,
    said: Mapping[str, Any],
    names: Mapping[str, tuple[int, str]],
    others: Mapping[str, int],
) -> None:
    values = {
        **scope_values(scope.project),
        "keep": said["keep"],
        "names": list(names),
        "owners": [node for node, _ in names.values()],
        "own": [name in others for name in names],
    }
    execute(ingest_sql.KEEP_ASSERTIONS, [[said["keep"], *others.values()]])
    execute(sql.GIVE_BACK_SAID, values)
    execute(sql.GIVE_BACK_DERIVED, [*_columns(said["evidence"], 2), said["keep"]])


def _give_edges_back(
    scope: GraphScope, said: Mapping[str, Any], names: Mapping[str, tuple[int, str]]
) -> set[int]:
    """Give edges and their evidence back; return those to weigh anew."""
    project = scope.project
    execute(sql.GIVE_BACK_EDGE_EVIDENCE, _columns(said["edge_evidence"], 2))
    execute(sql.SET_EDGE_ENDS_OF_TIME, _columns(said["ended"], 2))
    dropped = {**scope_values(project), "rows": json.dumps(said["dropped"])}
    execute(sql.PUT_BACK_EVIDENCE, dropped)
    moved = {row[0]: row for row in said["moved"]}
    asked = {
        **scope_values(project),
        "edges": list(moved),
        "last": said["last"],
        "names": list(names),
    }
    back = [row[0] for row in fetch(sql.UNTOUCHED_SINCE, asked)]
    execute(sql.MOVE_EDGES, _columns([moved[edge] for edge in back], 3))
    own = back + [edge for edge, _ in said["ended"]]
    execute(sql.FORGET_NAMES_OF_ENDS, {**scope_values(project), "edges": own})
    repoint(
        scope,
        names,
        lambda name: names[name][0],
        lambda name: names[name][1],
        Places(),
        move_nodes=False,
    )
    return {*own, *said["into"], *moved}


def _settle(scope: GraphScope, edges: set[int]) -> None:
    """Weigh and show `edges` by their evidence; memory itself says who sees its own."""
    of_memory = Edge.objects.filter(pk__in=edges, origin=MEMORY)
    others = edges - set(of_memory.values_list("pk", flat=True))
    settle_edges(scope, others, Places(), forget=False)


def _claim_waiting(scope: GraphScope, nodes: Mapping[str, int]) -> None:
    """Draw the edges that waited because both of their ends were one node."""
    waiting = fetch(
        "SELECT p.source_key, p.target_key FROM graph_pending_edges p"
        " WHERE p.tenant_id = %s AND p.project_id = %s"
        "   AND (p.source_key = ANY(%s) OR p.target_key = ANY(%s))",
        [*scope.key, list(nodes), list(nodes)],
    )
    named = {key for row in waiting for key in row}
    lookup = Lookup(scope, canonical(scope, named))
    lookup.load({lookup.key_of(key) for key in named})
    lookup.fresh = {k.id for key, k in lookup.known.items() if key in nodes}
    writer = EdgeWriter(scope, lookup, Places())
    claims = writer.arrived()
    lookup.fresh = set()
    writer.draw(claims)


def _describe_apart(scope: GraphScope, said: Mapping[str, Any], keep: Node) -> None:
    """Describe and show each as what proves it says; the kept one as it was, where
    nobody changed it since."""
    project, ids = scope.project, [keep.pk, *(node for node, _, _ in said["others"])]
    now = Node.objects.values("tags", "metadata").get(pk=keep.pk)
    if now == {name: said["became"][name] for name in now}:
        was = said["was"]
        execute(
            "UPDATE graph_nodes SET tags = %s, metadata = %s, last_evidence_at = %s,"
            " confirmed_at = %s, occurred_at = %s, updated_at = now() WHERE id = %s",
            [
                was["tags"],
                Jsonb(was["metadata"]),
                *(_moment(was[n]) for n in ("last_evidence_at", "confirmed_at")),
                _moment(was["occurred_at"]),
                keep.pk,
            ],
        )
    describe(project, ids)
    shown = dict(fetch(sql.AUDIENCES_OF_EVIDENCE, [*scope.key, ids]))
    shown.setdefault(keep.pk, [said["was"]["audience_id"]])
    for node, audiences in shown.items():
        shared = scope.audiences.any_of(audiences)
        Node.objects.filter(pk=node).exclude(audience_id=shared).update(
            audience_id=shared
        )


def _since(said: Mapping[str, Any]) -> dict[str, int]:
    return {"keep": said["keep"], "last": said["last"]}


def _columns(rows: Any, count: int) -> list[list[Any]]:
    return [[row[n] for row in rows] for n in range(count)]


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
