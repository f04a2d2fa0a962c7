"""A batch of records gone, with all that only they support; the rest is told anew.

It is what ingest does for a record that says nothing any more, but where ingest ends
what is not said, this deletes it: afterwards the graph is as if the records had never
been read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from connections.models import Project
from graph import erasing_sql, extraction_sql, ingest_sql
from graph.aliases import canonical, repoint, write_aliases
from graph.audiences import Audiences
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.edges import GraphScope, Places, refresh_follows, settle_edges
from graph.erased_views import forget_views_of
from graph.erasers import Going, tell_changed, tell_going
from graph.known import Lookup
from graph.locks import lock_project

MADE_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "key",
    "audience_id",
    "node_type",
    "language",
    "origin",
    "created_at",
    "updated_at",
)
AMONG = 0  # no source has this id: nothing is doomed by its source


@dataclass(frozen=True, slots=True, kw_only=True)
class Doomed:
    """What else is going in later batches: it waits for nothing that goes now.

    With `wait`, edges of others to what goes wait for its return, as those do whose
    end never came; without, they go for good.
    """

    source_id: int = AMONG
    records: Sequence[int] = ()
    wait: bool = True


def remove_records(
    project: Project, records: Sequence[int], doomed: Doomed
) -> Counter[str]:
    """Remove `records` and what only they support; return rows that went, by table.

    Call it in a transaction: it holds the project's graph until that ends.
    """
    with transaction.atomic():
        lock_project(project)
        return _Removal(project, records, doomed).run()


class _Removal:
    """One batch; an instance a transaction."""

    def __init__(
        self, project: Project, records: Sequence[int], doomed: Doomed
    ) -> None:
        self.scope = GraphScope(project, Audiences(project), timezone.now())
        self.doomed = doomed
        self.places = Places()
        self.counts: Counter[str] = Counter()
        self.params: dict[str, Any] = {
            "tenant": project.tenant_id,
            "project": project.pk,
            "records": list(records),
            "source": doomed.source_id,
            "doomed": list(doomed.records),
        }

    def run(self) -> Counter[str]:
        records = self.params["records"]
        moved = write_aliases(self.scope, {}, records)
        touched = [row[0] for row in fetch(erasing_sql.TOUCHED_NODES, self.params)]
        edges = fetch(erasing_sql.TOUCHED_EDGES, self.params)
        self._delete("graph_evidence", erasing_sql.FORGET_EVIDENCE)
        self.params["nodes"] = touched
        gone = [row[0] for row in fetch(erasing_sql.GONE_NODES, self.params)]
        changed = sorted(set(touched) - set(gone))
        self._undraw(gone)
        self._settle_edges(edges)
        self.counts += tell_going(
            Going(
                project=self.scope.project,
                records=records,
                nodes=gone,
                changed=changed,
            )
        )
        self.counts["saved_views"] += forget_views_of(self.scope.project, gone, records)
        self._delete("audit_details", erasing_sql.DETAILS_OF_REVIEW)
        self._delete("graph_review_items", erasing_sql.REVIEW_OF)
        self._delete("audit_details", erasing_sql.DETAILS_NAMING_GOING, gone)
        self._delete("graph_edges", erasing_sql.FORGET_ENDED_EDGES)
        self.params["nodes"] = gone
        self._delete("graph_tombstones", erasing_sql.TOMBSTONES_OF)
        self._delete("graph_identity_decisions", erasing_sql.DECISIONS_OF)
        self._delete("graph_nodes", erasing_sql.DELETE_NODES)
        kept = sorted({*changed, *self._repoint(moved)})
        self._tell_anew(kept)
        self.counts += tell_changed(self.scope.project, kept)
        refresh_follows(self.scope, self.places)
        self._delete("graph_records", erasing_sql.DELETE_RECORDS)
        return self.counts

    def _delete(self, table: str, statement: str, gone: Sequence[int] = ()) -> None:
        self.counts[table] += execute(statement, self.params | {"gone": list(gone)})

    def _undraw(self, gone: Collection[int]) -> None:
        """Let what others say of edges at `gone` wait for it, as before it came."""
        rows = fetch(erasing_sql.UNDRAWN, self.params | {"gone": list(gone)})
        if not rows:
            return
        waiting = [row for row in rows if row[3] and self.doomed.wait]
        execute(
            erasing_sql.WAIT_AGAIN,
            self.params
            | {
                "record_ids": [row[2] for row in waiting],
                "source_keys": [row[4] for row in waiting],
                "relations": [row[5] for row in waiting],
                "target_keys": [row[6] for row in waiting],
                "drafts": [_draft(*row[7:]) for row in waiting],
            },
        )
        execute(
            "DELETE FROM graph_evidence WHERE id = ANY(%s)", [[row[0] for row in rows]]
        )
        edges = {row[1] for row in rows}
        self.counts["graph_edges"] += len(edges)
        settle_edges(self.scope, edges, self.places, forget=True)

    def _settle_edges(self, edges: Sequence[tuple[Any, ...]]) -> None:
        for _, source, target, position in edges:
            self.places.add(source, target, position)
        before = _count_edges([row[0] for row in edges])
        settle_edges(self.scope, [row[0] for row in edges], self.places, forget=True)
        self.counts["graph_edges"] += before - _count_edges([r[0] for r in edges])

    def _tell_anew(self, nodes: Sequence[int]) -> None:
        """Describe `nodes` by what is left of them, for those who may see that."""
        if not nodes:
            return
        self.params["nodes"] = list(nodes)
        execute(ingest_sql.DESCRIBE, [*self.scope.key, list(nodes)])
        execute(erasing_sql.UNDESCRIBE, self.params)
        execute(erasing_sql.LONE_ASSERTIONS, self.params)
        execute(ingest_sql.RENAME_IDENTITIES, [list(nodes)])
        for node, audience, found in fetch(
            ingest_sql.AUDIENCES_OF_NODES, [list(nodes)]
        ):
            if (shared := self.scope.audiences.any_of(found)) != audience:
                execute(
                    "UPDATE graph_nodes SET audience_id = %s WHERE id = %s",
                    [shared, node],
                )
        self._settle_extracted(nodes)
        execute(ingest_sql.OPEN_FOLLOWS, [*self.scope.key, list(nodes)])
        for source, target, position in fetch(erasing_sql.PLACES_OF, self.params):
            self.places.add(source, target, position)

    def _settle_extracted(self, nodes: Sequence[int]) -> None:
        rows = [
            (node, self.scope.audiences.any_of(audiences), first, latest)
            for node, pieces, latest, first, audiences in fetch(
                extraction_sql.SETTLE_NODES, [list(nodes)]
            )
            if pieces
        ]
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            execute(extraction_sql.DESCRIBE_NODES, columns)

    def _repoint(self, moved: set[str]) -> set[int]:
        """Move what was drafted under `moved` to what these keys stand for now; return
        those nodes."""
        if not moved:
            return set()
        lookup = Lookup(self.scope, canonical(self.scope, moved))
        wanted = {lookup.key_of(key) for key in moved}
        node_ids = lookup.ids_of(wanted)
        node_ids |= self._make_nodes(wanted - node_ids.keys(), moved, lookup)
        repoint(
            self.scope,
            {key for key in moved if lookup.key_of(key) in node_ids},
            lambda key: node_ids[lookup.key_of(key)],
            lookup.key_of,
            self.places,
            move_nodes=True,
        )
        return set(node_ids.values())

    def _make_nodes(
        self, missing: set[str], moved: set[str], lookup: Lookup
    ) -> dict[str, int]:
        """Make the nodes that stand for themselves again; their evidence describes
        them once it has moved there."""
        drafted = fetch(erasing_sql.DRAFTED_ELSEWHERE, self.params | {"keys": [*moved]})
        rows: dict[str, tuple[Any, ...]] = {}
        for key, *values in drafted:
            if (own := lookup.key_of(key)) in missing:
                rows.setdefault(own, tuple(values))
        ids = dict(zip(rows, new_ids("graph_nodes", len(rows)), strict=True))
        copy_rows(
            "graph_nodes",
            MADE_COLUMNS,
            (
                (ids[key], *self.scope.key, key, *values, "source", now, now)
                for key, values in rows.items()
                for now in (self.scope.now,)
            ),
        )
        return ids


def _count_edges(edges: Sequence[int]) -> int:
    found = fetch("SELECT count(*) FROM graph_edges WHERE id = ANY(%s)", [list(edges)])
    return int(found[0][0])


def _draft(
    weight: float,
    quote: str,
    position: str | None,
    occurred_at: datetime | None,
    valid_from: datetime | None,
    otherwise: str,
) -> str:
    """Return what a claim says besides its ends, as one that waits is kept."""
    values = {
        "weight": weight,
        "quote": quote,
        "otherwise": json.loads(otherwise),
        "position": position and str(Decimal(position).normalize()),
        "occurred_at": occurred_at.isoformat() if occurred_at else None,
        "valid_from": valid_from.isoformat() if valid_from else None,
    }
    return json.dumps(values)
