"""Discovered schemas in the graph: tables and columns as nodes that search finds.

What staff hide is deleted, not only marked as gone: what is gone can still be read.
A table that the server no longer has is gone as a deleted file is.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from django.db import transaction

from connections.databases.discovery import after_discovery
from connections.databases.snapshot import schema_of
from connections.models import (
    Database,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
    Source,
    SyncRun,
)
from connections.sources.base import SourceBusy
from connections.sources.database import KIND, column_key, records, table_key
from graph import databases_sql
from graph.batch import Counts
from graph.copying import execute
from graph.ingest import ingest, read_records
from graph.locks import lock_project

# Another run of the same schema is over within seconds, unless it is a large one.
PATIENCE_SECONDS = 60.0


def source_of(database: Database) -> Source:
    """Return the source of a database's schema, with its name and audience."""
    wanted = {
        "name": f"database:{database.name}",
        "audience_id": database.audience_id,
    }
    source, made = Source.objects.get_or_create(
        tenant_id=database.tenant_id,
        project_id=database.project_id,
        kind=KIND,
        location=str(database.pk),
        defaults=wanted,
    )
    if not made and any(getattr(source, name) != to for name, to in wanted.items()):
        Source.objects.filter(pk=source.pk).update(**wanted)
        source.refresh_from_db()
    return source


def sync_database(database: Database, tables: Collection[int] | None = None) -> Counts:
    """Bring the nodes of a schema up to date with its snapshot; return the counts.

    With `tables`, only theirs and those of the tables that refer to them. Raises
    `SourceBusy` where another run does not end.
    """
    source = source_of(database)
    _forget_hidden(database, source)
    if tables is None:
        run = _patiently(source)
        counts = Counts(**{name: getattr(run, name) for name in Counts.__slots__})
    else:
        counts = _sync_some(database, source, tables)
    # A run that had begun before something was hidden may have written it since.
    _forget_hidden(database, source)
    return counts


def _patiently(source: Source) -> SyncRun:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ingest(source)
        except SourceBusy:
            if time.monotonic() > end:
                raise
        time.sleep(0.2)


def _sync_some(database: Database, source: Source, tables: Collection[int]) -> Counts:
    run = SyncRun.objects.create(source=source)
    chosen = set(
        DatabaseTable.objects.filter(database=database, pk__in=tables).values_list(
            "schema", "name"
        )
    )
    draft = source.audience_draft
    if draft is None:
        raise ValueError(f"{source} has no audience.")
    counts = read_records(
        source,
        run,
        records(
            database.name,
            schema_of(database),
            draft,
            title=str(database),
            only=chosen | _referring(database, chosen),
        ),
    )
    run.state = SyncRun.State.FINISHED
    run.save()
    return counts


def _referring(
    database: Database, chosen: Collection[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Return the tables whose text or edges name one of `chosen`, hidden or not."""
    rows = DatabaseKey.objects.filter(table__database=database).values_list(
        "target__schema", "target__name", "table__schema", "table__name"
    )
    return {(row[2], row[3]) for row in rows if (row[0], row[1]) in chosen}


def _forget_hidden(database: Database, source: Source) -> None:
    """Delete the records and nodes of what may not be seen."""
    name = database.name
    hidden = DatabaseTable.objects.filter(
        database=database, exposure=DatabaseTable.Exposure.HIDDEN
    )
    tables = [table_key(name, *path) for path in hidden.values_list("schema", "name")]
    columns = DatabaseColumn.objects.filter(
        table__database=database, exposure=DatabaseColumn.Exposure.HIDDEN
    )
    paths = columns.values_list("table__schema", "table__name", "name")
    _delete(source, tables, [column_key(name, *path) for path in paths])


def _delete(source: Source, tables: list[str], columns: Iterable[str]) -> None:
    of_project = [source.tenant_id, source.project_id]
    with transaction.atomic():
        lock_project(source.project)
        execute(databases_sql.DELETE_NODES_OF, [*of_project, source.pk, tables])
        execute(databases_sql.DELETE_NODES, [*of_project, list(columns)])
        execute(databases_sql.DELETE_RECORDS, [*of_project, source.pk, tables])


def on_deletion(sender: object, instance: Database, **_: object) -> None:
    """Let the nodes of a database go with it."""
    forget_database(instance)


def forget_database(database: Database) -> None:
    """Delete the source of a database that is deleted, and every node of it."""
    for source in Source.objects.filter(
        project_id=database.project_id, kind=KIND, location=str(database.pk)
    ).select_related("project"):
        with transaction.atomic():
            lock_project(source.project)
            of_source = [source.tenant_id, source.project_id, source.pk]
            execute(databases_sql.DELETE_NODES_OF_SOURCE, of_source)
            source.delete()


after_discovery.add("graph", sync_database)
