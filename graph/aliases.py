"""Keys that stand for others: which thread a mail belongs to, whatever came first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from graph import identity_sql, ingest_sql
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.edges import EdgeClaim, GraphScope, Places, settle_edges, write_edges
from graph.merged import describe

ALIAS_COLUMNS = ("id", "tenant_id", "project_id", "record_id", "key", "target", "own")


def follow(best: Mapping[str, str], key: str) -> str:
    """Return what `key` finally stands for; of a cycle, its smallest key."""
    path = [key]
    while (target := best.get(path[-1])) is not None:
        if target in path:
            return min(path[path.index(target) :])
        path.append(target)
    return path[-1]


def canonical(scope: GraphScope, keys: Iterable[str]) -> dict[str, str]:
    """Return what each of `keys` stands for, where that is another key."""
    wanted = list(set(keys))
    best = dict(
        fetch(
            identity_sql.BEST_ALIASES,
            {"keys": wanted, "tenant": scope.key[0], "project": scope.key[1]},
        )
    )
    found = {key: follow(best, key) for key in wanted if key in best}
    return {key: target for key, target in found.items() if key != target}


def write_aliases(
    scope: GraphScope,
    claims: Mapping[int, Mapping[str, tuple[str, bool]]],
    changed_records: Iterable[int],
) -> set[str]:
    """Write each record's claims; return every key whose meaning may have changed."""
    changed = list(changed_records)
    touched = {key for said in claims.values() for key in said}
    if changed:
        touched |= {
            row[0]
            for row in fetch(
                "DELETE FROM graph_aliases WHERE tenant_id = %s AND project_id = %s"
                " AND record_id = ANY(%s) RETURNING key",
                [*scope.key, changed],
            )
        }
    rows = [
        (record, key, target, own)
        for record, said in claims.items()
        for key, (target, own) in said.items()
    ]
    ids = new_ids("graph_aliases", len(rows))
    copy_rows(
        "graph_aliases",
        ALIAS_COLUMNS,
        ((i, *scope.key, *row) for i, row in zip(ids, rows, strict=True)),
    )
    if not touched:
        return set()
    return {
        row[0]
        for row in fetch(
            identity_sql.ALIASED_TO,
            {"keys": list(touched), "tenant": scope.key[0], "project": scope.key[1]},
        )
    }


@dataclass(frozen=True, slots=True)
class DraftedEvidence:
    """Evidence of an edge, in the order of `EDGE_EVIDENCE_DRAFTED_AS`; `source` and
    `target` are the keys its record drafted."""

    id: int
    record_id: int
    edge_id: int
    source_id: int
    relation: str
    target_id: int
    scope_id: int | None
    weight: float
    occurred_at: datetime | None
    position: Decimal | None
    valid_from: datetime | None
    audience_id: int
    source: str
    target: str
    via_source: str
    via_target: str

    def claim(
        self, source_id: int, target_id: int, via_source: str, via_target: str
    ) -> EdgeClaim:
        """Return what it claims, moved to other ends."""
        return EdgeClaim(
            evidence_id=self.id,
            record_id=self.record_id,
            source_id=source_id,
            relation=self.relation,
            target_id=target_id,
            scope_id=self.scope_id,
            weight=self.weight,
            occurred_at=self.occurred_at,
            position=self.position,
            valid_from=self.valid_from,
            audience_id=self.audience_id,
            via_source=via_source,
            via_target=via_target,
        )


def repoint(
    scope: GraphScope,
    keys: Iterable[str],
    node_of: Callable[[str], int],
    key_of: Callable[[str], str],
    places: Places,
    *,
    move_nodes: bool,
) -> None:
    """Move what was drafted under `keys` to the nodes they stand for now.

    `node_of` gives the node for a drafted key, `key_of` that node's own key. With
    `move_nodes` the evidence of nodes moves too, and a node left without any goes.
    """
    moving = frozenset(keys)
    wanted = list(moving)
    params: dict[str, Any] = {
        "keys": wanted,
        "tenant": scope.key[0],
        "project": scope.key[1],
        "nodes": [],
    }
    left: set[int] = set()
    if move_nodes:
        left = _move_nodes(scope, params, node_of, key_of)
        params["nodes"] = list(_nodes_of(scope, wanted))

    def via(drafted: str, before: str) -> str:
        if drafted not in moving:
            return before
        return drafted if key_of(drafted) != drafted else ""

    claims, emptied = [], set()
    for row in fetch(identity_sql.EDGE_EVIDENCE_DRAFTED_AS, params):
        said = DraftedEvidence(*row)
        source = node_of(said.source) if said.source in moving else said.source_id
        target = node_of(said.target) if said.target in moving else said.target_id
        if (source, target) == (said.source_id, said.target_id):
            continue
        emptied.add(said.edge_id)
        places.add(said.source_id, said.target_id, said.position)
        claims.append(
            said.claim(
                source,
                target,
                via(said.source, said.via_source),
                via(said.target, said.via_target),
            )
        )
    write_edges(scope, claims, places)
    settle_edges(scope, emptied, places, forget=True)
    if left:
        bare = fetch(ingest_sql.NODES_WITHOUT_EVIDENCE, [list(left), *scope.key])
        gone = [node for (node,) in bare]
        execute("DELETE FROM graph_nodes WHERE id = ANY(%s)", [gone])


def _nodes_of(scope: GraphScope, keys: list[str]) -> set[int]:
    rows = fetch(
        "SELECT n.id FROM graph_nodes n"
        " WHERE n.tenant_id = %s AND n.project_id = %s AND n.key = ANY(%s)",
        [*scope.key, keys],
    )
    return {row[0] for row in rows}


def _move_nodes(
    scope: GraphScope,
    params: dict[str, Any],
    node_of: Callable[[str], int],
    key_of: Callable[[str], str],
) -> set[int]:
    """Move evidence of nodes; return the nodes it left, after describing all anew."""
    moves = [
        (evidence, old, node_of(drafted), drafted)
        for evidence, old, drafted in fetch(
            identity_sql.NODE_EVIDENCE_DRAFTED_AS, params
        )
        if node_of(drafted) != old
    ]
    if not moves:
        return set()
    left = {old for _, old, _, _ in moves}
    described = list(left | {new for _, _, new, _ in moves})
    execute(ingest_sql.KEEP_ASSERTIONS, [described])
    execute(
        identity_sql.MOVE_NODE_EVIDENCE,
        [
            [evidence for evidence, _, _, _ in moves],
            [new for _, _, new, _ in moves],
            [drafted if key_of(drafted) != drafted else "" for *_, drafted in moves],
        ],
    )
    describe(scope.project, described)
    return left
