"""One batch of records into the graph, in one transaction.

Records that are stored as they are cost one look-up. The others are written with
their nodes, edges and evidence; what a changed record no longer asserts loses that
evidence, and what has none left ends. One batch of a project is written at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction

from connections.records import Record, clean_key
from graph import ingest_sql
from graph.aliases import canonical, repoint, write_aliases
from graph.context import RunContext
from graph.copying import copy_rows, execute, fetch, new_ids
from graph.drafted import Drafted
from graph.edge_writer import EdgeWriter
from graph.edges import Places, refresh_follows
from graph.erased_names import Barrier
from graph.known import Lookup
from graph.locks import lock_project
from graph.node_writer import NodeWriter
from graph.parts import clean_text, sane
from graph.pruned import bring_back_changed, without_pruned

RECORD_COLUMNS = (
    "id",
    "tenant_id",
    "project_id",
    "audience_id",
    "source_id",
    "run_id",
    "key",
    "kind",
    "body",
    "content_hash",
    "raw_sha256",
    "permalink",
    "occurred_at",
    "version",
    "counted",
    "moved_to",
    "first_fetched_at",
)


@dataclass(slots=True)
class Counts:
    """Counted records of a run: what was seen, and what came of it."""

    seen: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    failed: int = 0

    def add(self, other: Counts) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as the database has it."""

    id: int
    content_hash: str
    version: int
    is_gone: bool


@dataclass(slots=True)
class Sorted:
    """The records of a batch by what has to be done with them."""

    new: list[Record] = field(default_factory=list)
    changed: list[tuple[int, Record]] = field(default_factory=list)
    returned: list[int] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)


def write_batch(context: RunContext, records: Sequence[Record]) -> Counts:
    """Write `records`, all or none, and return what was counted."""
    with transaction.atomic():
        lock_project(context.scope.project)
        barrier = Barrier.of(context.scope.project)
        allowed = barrier.passed(records) if barrier else records
        work = _sort(context, allowed)
        left_out = sum(r.counted for r in records) - sum(r.counted for r in allowed)
        work.counts.seen += left_out
        work.counts.unchanged += left_out
        if work.returned:
            _bring_back(work.returned)
        if work.new or work.changed:
            _write(context, work)
    return work.counts


def _sort(context: RunContext, records: Sequence[Record]) -> Sorted:
    by_key: dict[str, Record] = {}
    work = Sorted()
    counts = work.counts
    for record in records:
        counts.seen += record.counted
        key = clean_key(record.key)
        known = by_key.get(key)
        if known is not None:
            counts.unchanged += record.counted
            if (record.version, record.content_hash) < (
                known.version,
                known.content_hash,
            ):
                continue
        by_key[key] = record
    scope, keys = context.scope, list(by_key)
    stored = {
        row[0]: Stored(*row[1:5])
        for row in fetch(
            ingest_sql.STORED_RECORDS, [*scope.key, context.source.pk, keys]
        )
    }
    missing = [key for key in keys if key not in stored]
    pruned = (
        dict(fetch(ingest_sql.TOMBSTONES, [*scope.key, missing])) if missing else {}
    )
    for key, record in by_key.items():
        _sort_one(work, record, stored.get(key), pruned.get(key))
    return work


def _sort_one(
    work: Sorted, record: Record, stored: Stored | None, pruned: str | None
) -> None:
    counts, counted = work.counts, record.counted
    if stored is None and pruned == record.content_hash:
        counts.unchanged += counted
    elif stored is None:
        counts.created += counted
        work.new.append(record)
    elif stored.version > record.version:
        counts.unchanged += counted
    elif stored.content_hash != record.content_hash:
        counts.updated += counted
        work.changed.append((stored.id, record))
    elif stored.is_gone:
        counts.updated += counted
        work.returned.append(stored.id)
    else:
        counts.unchanged += counted


def _bring_back(records: list[int]) -> None:
    execute(
        "UPDATE graph_records SET gone_at = NULL, moved_to = '' WHERE id = ANY(%s)",
        [records],
    )
    execute(
        "UPDATE graph_nodes n SET gone_at = NULL, valid_to = NULL FROM graph_evidence v"
        " WHERE v.record_id = ANY(%s) AND v.kind = 'said' AND v.node_id = n.id"
        " AND (n.gone_at IS NOT NULL OR n.valid_to IS NOT NULL)",
        [records],
    )


def _write(context: RunContext, work: Sorted) -> None:
    scope, places = context.scope, Places()
    changed = [record_id for record_id, _ in work.changed]
    drafted = [
        *_insert_records(context, work.new),
        *_update_records(context, work.changed),
    ]
    drafted = without_pruned(scope.key, drafted)
    bring_back_changed(scope.project, drafted)
    moved = write_aliases(
        scope, {d.record_id: _claims(d.record) for d in drafted}, changed
    )
    keys = {key for d in drafted for key in d.named()} | moved
    aliases = canonical(scope, keys)
    lookup = Lookup(scope, aliases)
    if changed:
        lookup.load_said(changed)
        drafted = [d if d.new else lookup.keep_part_keys(d) for d in drafted]
    lookup.load({lookup.key_of(key) for d in drafted for key in d.named()})
    nodes = NodeWriter(context, lookup)
    nodes.write(drafted)
    EdgeWriter(scope, lookup, places).write(drafted, changed)
    unsaid = nodes.end_unsaid()
    if changed or nodes.revived:
        nodes.settle_audiences(drafted, unsaid)
    if moved:
        node_ids = lookup.ids_of({lookup.key_of(key) for key in moved})
        repoint(
            scope,
            {key for key in moved if lookup.key_of(key) in node_ids},
            lambda key: node_ids[lookup.key_of(key)],
            lookup.key_of,
            places,
            move_nodes=True,
        )
    refresh_follows(scope, places)


def _claims(record: Record) -> dict[str, tuple[str, bool]]:
    return {
        clean_key(alias.key): (clean_key(alias.target), alias.own)
        for alias in sorted(record.aliases, key=lambda a: a.own)
        if alias.key != alias.target
    }


def _insert_records(context: RunContext, records: Sequence[Record]) -> list[Drafted]:
    scope = context.scope
    ids = new_ids("graph_records", len(records))
    drafted = [
        Drafted.of(record_id, record, scope.audiences.id_of(record.audience), new=True)
        for record_id, record in zip(ids, records, strict=True)
    ]
    copy_rows(
        "graph_records",
        RECORD_COLUMNS,
        (
            (
                d.record_id,
                *scope.key,
                d.audience_id,
                context.source.pk,
                context.run.pk,
                clean_key(d.record.key),
                d.record.kind,
                clean_text(d.record.body),
                d.record.content_hash,
                d.record.raw_sha256,
                clean_text(d.record.permalink),
                sane(d.record.occurred_at),
                d.record.version,
                d.record.counted,
                "",
                scope.now,
            )
            for d in drafted
        ),
    )
    return drafted


def _update_records(
    context: RunContext, records: Sequence[tuple[int, Record]]
) -> list[Drafted]:
    drafted = []
    for record_id, record in records:
        audience = context.scope.audiences.id_of(record.audience)
        execute(
            ingest_sql.UPDATE_RECORD,
            [
                record.kind,
                clean_text(record.body),
                record.content_hash,
                record.raw_sha256,
                clean_text(record.permalink),
                sane(record.occurred_at),
                record.version,
                record.counted,
                audience,
                context.run.pk,
                record_id,
            ],
        )
        drafted.append(Drafted.of(record_id, record, audience, new=False))
    return drafted
