"""Discovery: the catalogue is read, values are sampled, the snapshot is stored."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing

from django.conf import settings
from django.utils import timezone

from connections.databases import catalogue_mysql, catalogue_postgres
from connections.databases.base import DatabaseError
from connections.databases.connecting import Opened, open_connection
from connections.databases.driver_errors import driver_errors
from connections.databases.found import Found, FoundTable
from connections.databases.personal import looks_by_name
from connections.databases.sampling import Sampled, Wanted, sample
from connections.databases.snapshot import (
    Discovered,
    Stored,
    count_changes,
    store,
    stored_rows,
)
from connections.models import (
    Database,
    DatabaseChange,
    DatabaseColumn,
    DatabaseTable,
    User,
    record_audit,
)
from connections.registry import Registry

# The catalogue of thousands of tables may take a server this long.
CATALOGUE_SECONDS = 60

# What higher layers do once a schema or its exposure has changed: name ->
# function(database, tables), None for all of them.
after_discovery: Registry[Callable[[Database, list[int] | None], object]] = Registry(
    "step after a discovery"
)


def discover(
    database: Database, *, actor: User | None = None, seconds: float | None = None
) -> Discovered:
    """Read, sample and store the schema of `database`; return how it differs.

    `seconds` bounds the sampling. Raises `DatabaseError`, which the row keeps too.
    """
    started = time.monotonic()
    budget = settings.FABRIC["SAMPLING_SECONDS"] if seconds is None else seconds
    try:
        with closing(open_connection(database)) as opened:
            found = read_catalogue(opened)
            stored = stored_rows(database)
            wanted = _wanted(found, stored)
            sampled = _sampled(opened, wanted, budget)
    except DatabaseError as error:
        Database.objects.filter(pk=database.pk).update(discovery_error=str(error))
        raise
    changes = store(database, found, sampled.tables, timezone.now())
    _audit(database, actor, changes)
    return Discovered(
        added=count_changes(changes, DatabaseChange.Kind.ADDED),
        removed=count_changes(changes, DatabaseChange.Kind.REMOVED),
        changed=count_changes(changes, DatabaseChange.Kind.CHANGED),
        tables=len(found.tables),
        columns=sum(len(table.columns) for table in found.tables),
        seconds=time.monotonic() - started,
        waiting=_waiting(wanted, sampled, stored),
    )


def refresh(
    database: Database, *, actor: User | None = None, seconds: float | None = None
) -> Discovered:
    """Discover `database` and bring up to date what higher layers make of its schema."""
    discovered = discover(database, actor=actor, seconds=seconds)
    follow(database)
    return discovered


def follow(database: Database, tables: list[int] | None = None) -> None:
    """Let higher layers take up a schema as it is stored now, or some `tables`."""
    for step in after_discovery.values():
        step(database, tables)


def _audit(
    database: Database, actor: User | None, changes: list[DatabaseChange]
) -> None:
    record_audit(
        "database.discovered",
        target=database.name,
        project=database.project,
        actor=actor,
        changes=len(changes),
    )


def read_catalogue(opened: Opened) -> Found:
    """Return the catalogue of the server, or raise `DatabaseError`."""
    engine = catalogue_postgres if opened.flavour == "postgres" else catalogue_mysql
    try:
        _limit(opened)
        return engine.read_catalogue(opened)
    except driver_errors(opened.flavour) as error:
        said = " ".join(str(error).split())[:200]
        raise DatabaseError(
            f"The catalogue could not be read; the server said: {said}"
        ) from error


def _limit(opened: Opened) -> None:
    cursor = opened.raw.cursor()
    try:
        if opened.flavour == "postgres":
            limit = CATALOGUE_SECONDS * 1000
            cursor.execute(f"SET statement_timeout = {limit}")
        elif opened.flavour == "mariadb":
            cursor.execute(f"SET SESSION max_statement_time = {CATALOGUE_SECONDS}")
        else:
            limit = CATALOGUE_SECONDS * 1000
            cursor.execute(f"SET SESSION max_execution_time = {limit}")
    finally:
        cursor.close()


def _sampled(opened: Opened, wanted: list[Wanted], budget: float) -> Sampled:
    """Return the samples; without any where the connection breaks on the way."""
    broken: tuple[type[Exception], ...] = (
        DatabaseError,
        *driver_errors(opened.flavour),
    )
    try:
        return sample(opened, wanted, seconds=budget)
    except broken:
        # The catalogue is worth keeping all the same; the next run samples.
        return Sampled(waiting=len(wanted))


def _waiting(wanted: list[Wanted], sampled: Sampled, stored: Stored) -> int:
    """Return how many tables were never sampled; those that were are only older."""
    return sum(
        one.table.path not in sampled.tables
        and getattr(stored.tables.get(one.table.path), "sampled_at", None) is None
        for one in wanted
    )


def _wanted(found: Found, stored: Stored) -> list[Wanted]:
    """Return what to sample: what never was comes first, then the longest ago; views,
    which may compute, after what is stored."""
    wanted = [
        Wanted(table, columns)
        for table in found.tables
        if (columns := _sampled_columns(table, stored))
    ]

    def order(one: Wanted) -> tuple[bool, float, bool]:
        row = stored.tables.get(one.table.path)
        at = row.sampled_at.timestamp() if row and row.sampled_at else 0.0
        return (bool(at), at, one.table.is_view)

    return sorted(wanted, key=order)


def _sampled_columns(table: FoundTable, stored: Stored) -> tuple[str, ...]:
    """Return the text columns of a table whose values may be seen, as far as known.

    Rows of another server behind a foreign table are left alone.
    """
    row = stored.tables.get(table.path)
    if table.kind == "foreign table":
        return ()
    if row is not None and row.exposure != DatabaseTable.Exposure.VISIBLE:
        return ()
    known = stored.columns.get(row.pk, {}) if row else {}
    return tuple(
        column.name
        for column in table.columns
        if column.family == "text"
        and not column.values
        and not looks_by_name(column.name, column.family)
        and _is_visible(known.get(column.name))
    )


def _is_visible(column: DatabaseColumn | None) -> bool:
    return column is None or column.exposure == DatabaseColumn.Exposure.VISIBLE
