"""Edges of a batch: claimed, waiting for an end, arrived, no longer said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from psycopg.types.json import Jsonb

from connections.records import EdgeDraft, clean_key
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.drafted import Drafted
from graph.edges import EdgeClaim, GraphScope, Places, settle_edges, write_edges
from graph.known import Known, Lookup

PENDING_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "record_id",
    "source_key",
    "relation",
    "target_key",
    "draft",
)


class EdgeWriter:
    """Writes what the drafted records say of edges; one instance a batch."""

    def __init__(self, scope: GraphScope, lookup: Lookup, places: Places) -> None:
        self.scope = scope
        self.lookup = lookup
        self.places = places

    def write(self, drafted: Sequence[Drafted], changed: Sequence[int]) -> None:
        if changed:
            execute(
                "DELETE FROM graph_pending_edges WHERE tenant_id = %s"
                " AND project_id = %s AND record_id = ANY(%s)",
                [*self.scope.key, list(changed)],
            )
        claims, waiting = [], []
        for d in drafted:
            for draft in d.edges:
                claim = self.claim(d.record_id, d.audience_id, draft)
                if claim is None:
                    waiting.append((d.record_id, draft))
                elif not self._is_said(claim):
                    claims.append(claim)
        claims += self.arrived()
        self._end_unsaid_edges(changed)
        self.draw(claims)
        ids = new_ids("graph_pending_edges", len(waiting))
        copy_rows(
            "graph_pending_edges",
            PENDING_COLUMNS,
            (
                (
                    i,
                    *self.scope.key,
                    record,
                    draft.source,
                    draft.relation,
                    draft.target,
                    Jsonb(_edge_json(draft)),
                )
                for i, (record, draft) in zip(ids, waiting, strict=True)
            ),
        )

    def draw(self, claims: Sequence[EdgeClaim]) -> None:
        """Write `claims` whose ends have both arrived."""
        write_edges(self.scope, claims, self.places, frozenset(self.lookup.fresh))

    def claim(
        self, record: int, audience: int, draft: EdgeDraft, *, origin: str = "source"
    ) -> EdgeClaim | None:
        """Return what a record says of an edge, or None where it has to wait."""
        source = self.lookup.known.get(self.lookup.key_of(draft.source))
        target = self.lookup.known.get(self.lookup.key_of(draft.target))
        if source is None or target is None:
            return None
        if source.id == target.id and draft.source != draft.target:
            return None  # Its ends were merged: it waits until they are apart.
        source_id, via_source = self._end(source, draft.source)
        target_id, via_target = self._end(target, draft.target)
        return EdgeClaim(
            record_id=record,
            source_id=source_id,
            relation=draft.relation,
            target_id=target_id,
            audience_id=audience,
            weight=draft.weight,
            occurred_at=draft.occurred_at,
            position=draft.position,
            valid_from=draft.valid_from,
            quote=draft.quote,
            origin=origin,
            via_source=via_source,
            via_target=via_target,
            otherwise=tuple(clean_key(key) for key in draft.otherwise),
        )

    def _end(self, known: Known, drafted: str) -> tuple[int, str]:
        if known.person_id is not None:
            return known.person_id, drafted
        return known.id, drafted if self.lookup.key_of(drafted) != drafted else ""

    def _is_said(self, claim: EdgeClaim) -> bool:
        identity = (
            claim.record_id,
            claim.source_id,
            claim.relation,
            claim.target_id,
            claim.valid_from,
            claim.via_source,
            claim.via_target,
        )
        known = self.lookup.said.get(identity)
        same = known is not None and (known.quote, known.weight, known.position) == (
            claim.quote,
            claim.weight,
            claim.position,
        )
        if same:
            del self.lookup.said[identity]
        return same

    def arrived(self) -> list[EdgeClaim]:
        """Take the waiting edges whose ends are both here now."""
        keys = [
            key
            for key, known in self.lookup.known.items()
            if known.id in self.lookup.fresh
        ]
        if not keys:
            return []
        rows = fetch(
            "SELECT p.id, p.record_id, r.audience_id, p.source_key, p.relation,"
            "       p.target_key, p.draft::text"
            "  FROM graph_pending_edges p JOIN graph_records r ON r.id = p.record_id"
            " WHERE p.tenant_id = %s AND p.project_id = %s"
            "   AND (p.source_key = ANY(%s) OR p.target_key = ANY(%s))",
            [*self.scope.key, keys, keys],
        )
        self.lookup.load({key for row in rows for key in (row[3], row[5])})
        claims, done = [], []
        for pending, record, audience, source, relation, target, said in rows:
            draft = _edge_from_json(source, relation, target, said)
            if claim := self.claim(record, audience, draft):
                claims.append(claim)
                done.append(pending)
        execute("DELETE FROM graph_pending_edges WHERE id = ANY(%s)", [done])
        return claims

    def _end_unsaid_edges(self, changed: Sequence[int]) -> None:
        unsaid = [s for s in self.lookup.said.values() if s.edge_id is not None]
        execute(
            "DELETE FROM graph_evidence WHERE id = ANY(%s)", [[s.id for s in unsaid]]
        ) if unsaid else None
        edges = {s.edge_id for s in unsaid if s.edge_id is not None}
        settle_edges(self.scope, edges, self.places, forget=False)


def _edge_json(draft: EdgeDraft) -> dict[str, Any]:
    return {
        "weight": draft.weight,
        "quote": draft.quote,
        "otherwise": [clean_key(key) for key in draft.otherwise],
        "position": str(draft.position) if draft.position is not None else None,
        "occurred_at": draft.occurred_at.isoformat() if draft.occurred_at else None,
        "valid_from": draft.valid_from.isoformat() if draft.valid_from else None,
    }


def _edge_from_json(source: str, relation: str, target: str, said: str) -> EdgeDraft:
    values = json.loads(said)

    def moment(name: str) -> datetime | None:
        return datetime.fromisoformat(values[name]) if values[name] else None

    position = values["position"]
    return EdgeDraft(
        source=source,
        relation=relation,
        target=target,
        weight=values["weight"],
        quote=values["quote"],
        position=Decimal(position) if position else None,
        occurred_at=moment("occurred_at"),
        valid_from=moment("valid_from"),
        otherwise=tuple(values.get("otherwise", ())),
    )
