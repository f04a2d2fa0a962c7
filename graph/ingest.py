"""A run: from a source's records to the graph, whatever breaks on the way.

Every batch is one transaction, and a batch that breaks is halved until the item that
breaks it stands alone and is recorded. Killed anywhere and run again, a run ends in
the same graph; run twice, it writes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from connections.models import Source, SyncError, SyncRun, record_audit
from connections.records import Failure, Record, clean_key
from connections.registry import Registry
from connections.sources.base import Pull, SourceBusy, SourceError, connectors
from graph import embed, ingest_sql
from graph.audiences import Audiences
from graph.batch import Counts, write_batch
from graph.context import RunContext
from graph.copying import copy_rows, execute, fetch
from graph.edges import GraphScope
from graph.extraction import extract_texts
from graph.identity import refresh_persons
from graph.integrity import analyze, check_evidence
from graph.stand_ins import draw_stand_ins
from graph.touched import remembering, touch

logger = logging.getLogger(__name__)

BATCH_RECORDS = 1000
BATCH_CHARACTERS = 4_000_000
SEEN_TABLE = "seen_by_run"
# A load outgrows the planner's statistics: they are renewed at this many new records,
# and each time there are four times as many.
ANALYZE_FIRST = 1000
# A mount that is gone looks like a folder whose files were all deleted.
VANISHED_SHARE, VANISHED_LEAST = 0.2, 50

Progress: TypeAlias = Callable[[Counts], None]

# What higher layers do once a run has changed a project: name -> function(project).
after_runs: Registry[Callable] = Registry("step after a run")


@dataclass(slots=True)
class _Batch:
    """Records that wait to be written together."""

    most_nodes: int
    records: list[Record] = field(default_factory=list)
    nodes: int = 0
    characters: int = 0

    def add(self, record: Record) -> bool:
        """Take `record`; say whether the batch is full."""
        self.records.append(record)
        self.nodes += len(record.nodes)
        self.characters += len(record.body)
        return (
            len(self.records) >= BATCH_RECORDS
            or self.nodes >= self.most_nodes
            or self.characters >= BATCH_CHARACTERS
        )


def ingest(source: Source, *, progress: Progress | None = None) -> SyncRun:
    """Read `source` once and return the finished run.

    Raises `SourceError` when the source cannot be read at all, and `SourceBusy` when
    a run of it is at work; the run's row says so too.
    """
    with only_run_of(source):
        _close_killed_runs(source)
        run = SyncRun.objects.create(source=source)
        record_audit(
            "source.read",
            target=source.name,
            project=source.project,
            actor=source.owner,
            run=run.pk,
        )
        try:
            with embed.bulk_vectors() as is_empty, remembering():
                _read(source, run, embed_now=is_empty, progress=progress)
        except BaseException as error:
            _finish(run, SyncRun.State.FAILED, str(error) or type(error).__name__)
            raise
        _finish(run, SyncRun.State.FINISHED)
    return run


@contextmanager
def only_run_of(source: Source) -> Iterator[None]:
    """Hold the source by a session lock, which the server drops if we are killed."""
    free = fetch("SELECT pg_try_advisory_lock(%s, %s)", [0x736F_7263, source.pk])[0][0]
    if not free:
        raise SourceBusy(f"{source.name} is being read by another run; wait for it.")
    try:
        yield
    finally:
        fetch("SELECT pg_advisory_unlock(%s, %s)", [0x736F_7263, source.pk])


def _close_killed_runs(source: Source) -> None:
    source.runs.filter(state=SyncRun.State.RUNNING).update(
        state=SyncRun.State.FAILED,
        finished_at=timezone.now(),
        error="The run was killed; what it had written stays.",
    )


def _finish(run: SyncRun, state: SyncRun.State, error: str = "") -> None:
    run.state, run.error, run.finished_at = state, error, timezone.now()
    run.save()


def _read(
    source: Source, run: SyncRun, *, embed_now: bool, progress: Progress | None
) -> None:
    connector = connectors[source.kind]()
    context = _context(source, run, embed_now)
    request = Pull(
        location=Path(source.location),
        source=source.name,
        file_prefix=source.file_prefix,
        audience=source.audience_draft,
    )
    with _seen_table(connector.complete) as seen:
        writer = _Writer(context, seen, progress)
        for item in connector.pull(request):
            writer.take(item)
        writer.flush()
        if seen:
            certain = getattr(connector, "certain", False)
            writer.counts.deleted += _mark_vanished(source, run, certain=certain)
    writer.show()
    broke_off = _broke_off(source, run)
    if writer.changed or writer.counts.deleted or broke_off:
        # Nobody remembers what a run that broke off took away.
        with remembering(is_known=not broke_off):
            _after(source)


def _context(source: Source, run: SyncRun, embed_now: bool) -> RunContext:
    _, model = embed.active_embedder()
    names = fetch("SELECT cfgname FROM pg_ts_config", [])
    return RunContext(
        scope=GraphScope(source.project, Audiences(source.project), timezone.now()),
        source=source,
        run=run,
        languages=frozenset(row[0] for row in names),
        model_id=model.pk,
        embed=embed.embed_texts if embed_now else None,
    )


def _broke_off(source: Source, run: SyncRun) -> bool:
    """Return whether the run before this may have left out what comes after it."""
    before = source.runs.filter(pk__lt=run.pk).order_by("-pk").first()
    return before is not None and before.state != SyncRun.State.FINISHED


def _after(source: Source) -> None:
    """Bring up to date what is derived from the whole project."""
    analyze()
    refresh_persons(source.project)
    draw_stand_ins(source.project)
    extract_texts(source.project)
    check_evidence(source.project)
    for step in after_runs.values():
        step(source.project)


class _Writer:
    """Takes items, writes batches, counts, and isolates what breaks."""

    def __init__(
        self, context: RunContext, seen: bool, progress: Progress | None
    ) -> None:
        self.context = context
        self.seen = seen
        self.progress = progress
        self.counts = Counts()
        self.changed = False
        self.analyze_at = ANALYZE_FIRST
        self.batch = _Batch(settings.FABRIC["INGEST_BATCH_NODES"])

    def take(self, item: Record | Failure) -> None:
        if isinstance(item, Failure):
            self.counts.seen += 1
            self._fail(item.item, item.error)
            if self.seen:
                copy_rows(SEEN_TABLE, ("key",), ((key,) for key in item.keys))
                source = self.context.source
                for key in item.keys:
                    execute(ingest_sql.SEEN_BELOW, [source.pk, f"{key}/"])
            return
        for warning in item.warnings:
            self._note(item.key, warning, is_warning=True)
        if self.batch.add(item):
            self.flush()

    def flush(self) -> None:
        records = self.batch.records
        self.batch = _Batch(self.batch.most_nodes)
        if not records:
            return
        if self.seen:
            copy_rows(SEEN_TABLE, ("key",), ((clean_key(r.key),) for r in records))
        self._write(records)
        self.show()

    def show(self) -> None:
        """Put the counts where a page sees them."""
        run, counts = self.context.run, self.counts
        for name in Counts.__slots__:
            setattr(run, name, getattr(counts, name))
        with transaction.atomic():
            # A crash may lose a count on a page, which is not worth waiting for.
            execute("SET LOCAL synchronous_commit TO off", [])
            run.save()
        if self.progress:
            self.progress(counts)

    def _write(self, records: list[Record]) -> None:
        try:
            counts = write_batch(self.context, records)
        except (
            DatabaseError,
            ValueError,
            TypeError,
            UnicodeError,
            ArithmeticError,
        ) as error:
            # The session holds the source's lock and the scratch table: keep it.
            if not connection.in_atomic_block and not connection.is_usable():
                connection.close()
            self.context.scope.audiences.forget()
            if len(records) == 1:
                self.counts.seen += records[0].counted
                self._fail(records[0].key, str(error).strip() or type(error).__name__)
                return
            middle = len(records) // 2
            self._write(records[:middle])
            self._write(records[middle:])
            return
        self.changed = self.changed or bool(counts.created or counts.updated)
        self.counts.add(counts)
        if self.counts.created >= self.analyze_at:
            self.analyze_at *= 4
            analyze()

    def _fail(self, item: str, error: str) -> None:
        self.counts.failed += 1
        self._note(item, error, is_warning=False)

    def _note(self, item: str, error: str, *, is_warning: bool) -> None:
        SyncError.objects.create(
            run=self.context.run,
            item=item.replace("\x00", "\ufffd")[:600],
            error=error.replace("\x00", "\ufffd")[:5000],
            is_warning=is_warning,
        )


@contextmanager
def _seen_table(wanted: bool) -> Iterator[bool]:
    if not wanted:
        yield False
        return
    execute(f"CREATE TEMPORARY TABLE {SEEN_TABLE} (key text NOT NULL)", [])
    try:
        yield True
    finally:
        if connection.is_usable():
            execute(f"DROP TABLE IF EXISTS {SEEN_TABLE}", [])


def _mark_vanished(source: Source, run: SyncRun, *, certain: bool) -> int:
    """Mark what a complete walk did not see as gone; return how many counted.

    Unless the walk is `certain`, many at once look like a broken source.
    """
    scope = [source.tenant_id, source.project_id, source.pk]
    present, missing = fetch(ingest_sql.COUNT_VANISHED, scope)[0]
    many = missing > VANISHED_LEAST and missing > VANISHED_SHARE * present
    if missing and not certain and (many or missing == present):
        raise SourceError(
            f"{missing} of {present} files are missing at {source.location}. If they "
            "were deleted on purpose, delete the source; if not, mend the folder "
            "(a mount?) and read again. Nothing was marked as vanished."
        )
    with transaction.atomic():
        rows = fetch(ingest_sql.MARK_VANISHED, scope)
        gone = [row[0] for row in rows]
        execute(ingest_sql.MARK_MOVED, [run.pk, source.pk, gone])
        where = [source.tenant_id, source.project_id, gone]
        execute(ingest_sql.MARK_NODES_GONE, where)
        touch(row[0] for row in fetch(ingest_sql.NODES_SAID_BY, where))
    return sum(row[1] for row in rows)


def read_records(
    source: Source, run: SyncRun, records: Iterable[Record | Failure]
) -> Counts:
    """Write records that do not come from a connector: tests, benchmarks, pushes."""
    writer = _Writer(_context(source, run, embed_now=False), seen=False, progress=None)
    with remembering():
        for record in records:
            writer.take(record)
        writer.flush()
        _after(source)
    return writer.counts
