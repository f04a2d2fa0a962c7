"""A graph without its ids and times of writing: equal for equal graphs."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.db import connection

from connections.models import Audience, Project
from graph.copying import fetch
from graph.models import Edge, Evidence, Identity, Node, PendingEdge

GRAPH_TABLES = (
    "graph_records",
    "graph_nodes",
    "graph_edges",
    "graph_evidence",
    "graph_aliases",
    "graph_identities",
    "graph_pending_edges",
    "graph_tombstones",
    "graph_identity_decisions",
    "graph_extracted_texts",
    "graph_extraction_answers",
)


def snapshot(project: Project) -> dict[str, Any]:
    """Return the current graph of `project`, by keys alone."""
    names = _Names(project)
    return {
        "nodes": {n.key: names.node(n) for n in names.nodes.values() if not n.valid_to},
        "edges": {names.edge(e): names.details(e) for e in names.edges.values()},
        "evidence": Counter(filter(None, map(names.evidence, names.said))),
        "persons": {
            i.key: (
                names.nodes[i.person_id].key,
                i.side,
                i.address,
                tuple(i.names),
                tuple(sorted(map(str, i.reasons))),
                i.names_stale,
            )
            for i in Identity.objects.filter(project=project)
        },
        "pending": {
            (p.record.key, p.source_key, p.relation, p.target_key)
            for p in PendingEdge.objects.filter(project=project).select_related(
                "record"
            )
        },
    }


class _Names:
    def __init__(self, project: Project) -> None:
        scope = {"project": project}
        nodes = Node.objects.filter(**scope).select_related("record__source")
        self.nodes = {n.pk: n for n in nodes.defer("embedding")}
        self.edges = {e.pk: e for e in Edge.objects.filter(**scope, valid_to=None)}
        self.said = list(
            Evidence.objects.filter(**scope).select_related("record__source")
        )
        self.audiences = {
            a.pk: a for a in Audience.objects.filter(**scope).prefetch_related("parts")
        }

    def audience(self, pk: int) -> tuple:
        found = self.audiences[pk]
        parts = tuple(sorted((p.kind, p.key) for p in found.parts.all()))
        return (found.combines, parts) if parts else (found.kind, found.key)

    def node(self, n: Node) -> tuple:
        # Of an identity that several records name, any may have come first.
        is_shared = n.node_type in ("address", "account", "name", "person", "domain")
        by = (n.record.source.name, n.record.key) if n.record else None
        return (
            n.node_type,
            n.title,
            n.content,
            n.context,
            n.language,
            tuple(n.tags),
            str(sorted(n.metadata.items())),
            n.origin,
            n.occurred_at,
            n.precedence,
            n.gone_at is None,
            n.trashed_at is None,
            self.audience(n.audience_id),
            None if is_shared else (n.source_kind, by),
            None if is_shared else n.last_evidence_at,
            n.search_vector,
        )

    def edge(self, e: Edge) -> tuple:
        scope = self.nodes[e.scope_id].key if e.scope_id else None
        return (
            self.nodes[e.source_id].key,
            e.relation,
            self.nodes[e.target_id].key,
            scope,
            e.valid_from,
        )

    def details(self, e: Edge) -> tuple:
        return (
            round(e.weight, 6),
            e.position,
            e.origin,
            e.occurred_at,
            self.audience(e.audience_id),
        )

    def evidence(self, v: Evidence) -> tuple | None:
        if v.edge_id and v.edge_id not in self.edges:
            return None
        of = (
            self.edge(self.edges[v.edge_id]) if v.edge_id else self.nodes[v.node_id].key
        )
        # What is derived rests on any one of the records that would do.
        by = (v.record.source.name, v.record.key) if v.kind == "said" else None
        return (
            of,
            v.kind,
            v.part,
            v.start,
            v.end,
            v.quote,
            v.weight,
            v.via_source,
            v.via_target,
            by,
            _described(v.assertion),
        )


def _described(assertion: dict[str, Any] | None) -> str:
    if assertion is None:
        return ""
    if "precedence" not in assertion:  # of an edge: the ends it would have had
        return str(sorted(assertion.items()))
    rank = round(float(assertion["precedence"]), 6)
    return str(sorted({**assertion, "precedence": rank}.items()))


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return what differs between two snapshots, a line each."""
    lines = []
    for part in one:
        a, b = one[part], other[part]
        if isinstance(a, set):
            lines += [f"{part}: {x}" for x in a ^ b]
            continue
        lines += [
            f"{part} {k}:\n    {a.get(k)}\n    {b.get(k)}"
            for k in {**a, **b}
            if a.get(k) != b.get(k)
        ]
    return lines


def writes() -> dict[str, tuple[int, int, int]]:
    """Return rows inserted, updated and deleted so far in each graph table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
    fetch("SELECT 1", [])
    rows = fetch(
        "SELECT relname, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables"
        " WHERE relname = ANY(%s)",
        [list(GRAPH_TABLES)],
    )
    return {row[0]: tuple(row[1:]) for row in rows}
