"""The stored schema of a database: written with its differences, read as a `Schema`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from django.db import connection, transaction

from connections.databases.base import (
    Column,
    Exposure,
    Family,
    Flavour,
    ForeignKey,
    Schema,
    Table,
)
from connections.databases.differences import (
    COLUMN_FIELDS,
    KEY_FIELDS,
    TABLE_FIELDS,
    Differences,
    merge_columns,
    merge_gone,
    merge_keys,
    merge_table,
)
from connections.databases.found import Found
from connections.databases.sampling import ColumnSample
from connections.databases.snapshot_sql import UPSERT_COLUMNS
from connections.models import (
    Database,
    DatabaseChange,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
)

BATCH = 2000


@dataclass(frozen=True, slots=True)
class Discovered:
    """What a discovery found: tables, columns and keys that came, went or changed.

    `waiting` tables have not had their values sampled yet: the next run goes on.
    """

    added: int
    removed: int
    changed: int
    tables: int
    columns: int
    seconds: float
    waiting: int = 0


@dataclass(slots=True)
class Stored:
    """The rows of a database as they are: also what is gone, which may come back."""

    tables: dict[tuple[str, str], DatabaseTable] = field(default_factory=dict)
    columns: dict[int, dict[str, DatabaseColumn]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    keys: dict[tuple[int, str], DatabaseKey] = field(default_factory=dict)


def stored_rows(database: Database) -> Stored:
    """Return what is stored, in three statements."""
    stored = Stored()
    for table in DatabaseTable.objects.filter(database=database):
        stored.tables[table.schema, table.name] = table
    for column in DatabaseColumn.objects.filter(table__database=database):
        stored.columns[column.table_id][column.name] = column
    keys = DatabaseKey.objects.filter(table__database=database)
    for key in keys.select_related("table", "target"):
        stored.keys[key.table_id, key.name] = key
    return stored


def store(
    database: Database,
    found: Found,
    samples: Mapping[tuple[str, str], Mapping[str, ColumnSample]],
    at: datetime,
) -> list[DatabaseChange]:
    """Store a catalogue, all or nothing, and return how it differs from the last.

    The first has none before it: its differences are returned and not kept.
    """
    with transaction.atomic():
        locked = Database.objects.select_for_update(of=("self",)).get(pk=database.pk)
        work, stored = Differences(database, at), stored_rows(database)
        rows, new = _write_tables(work, found, stored, samples, at)
        _write_columns(work, found, stored, rows, samples, new)
        _write_keys(work, found, stored, rows, new)
        if locked.discovered_at is not None:
            DatabaseChange.objects.bulk_create(work.changes, batch_size=BATCH)
        Database.objects.filter(pk=database.pk).update(
            flavour=found.flavour,
            version=found.version[:64],
            default_schema=found.default_schema,
            discovered_at=at,
            discovery_error="",
        )
    database.flavour, database.version = found.flavour, found.version[:64]
    database.default_schema = found.default_schema
    database.discovered_at, database.discovery_error = at, ""
    return work.changes


def _write_tables(
    work: Differences,
    found: Found,
    stored: Stored,
    samples: Mapping[tuple[str, str], object],
    at: datetime,
) -> tuple[dict[tuple[str, str], DatabaseTable], set[tuple[str, str]]]:
    """Return each found table's row, and which were not there the last time."""
    rows, new = {}, set()
    for table in found.tables:
        known = stored.tables.get(table.path)
        if known is None or known.gone_at is not None:
            new.add(table.path)
        row = merge_table(work, table, known, found.default_schema)
        if table.path in samples:
            row.sampled_at = at
            work.tables.append(row)
        rows[table.path] = row
    merge_gone(work, (t for path, t in stored.tables.items() if path not in rows))
    once = {(row.schema, row.name): row for row in work.tables}
    DatabaseTable.objects.bulk_create(
        once.values(),
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=("database", "schema", "name"),
        update_fields=TABLE_FIELDS,
    )
    return rows, new


def _write_columns(
    work: Differences,
    found: Found,
    stored: Stored,
    rows: Mapping[tuple[str, str], DatabaseTable],
    samples: Mapping[tuple[str, str], Mapping[str, ColumnSample]],
    new: set[tuple[str, str]],
) -> None:
    for table in found.tables:
        row = rows[table.path]
        merge_columns(
            work,
            row,
            table,
            stored.columns[row.pk],
            samples.get(table.path),
            is_new=table.path in new,
        )
    if work.columns:
        with connection.cursor() as cursor:
            cursor.execute(UPSERT_COLUMNS, [_as_json(work.columns)])


def _as_json(columns: list[DatabaseColumn]) -> str:
    names = ("table_id", "name", "is_chosen", *COLUMN_FIELDS)
    rows = [{name: getattr(column, name) for name in names} for column in columns]
    return json.dumps(rows, default=str)


def _write_keys(
    work: Differences,
    found: Found,
    stored: Stored,
    rows: Mapping[tuple[str, str], DatabaseTable],
    new: set[tuple[str, str]],
) -> None:
    told = frozenset(row.pk for path, row in rows.items() if path not in new)
    keys, gone = merge_keys(work, found, rows, stored.keys, told)
    DatabaseKey.objects.filter(pk__in=gone).delete()
    DatabaseKey.objects.bulk_create(
        keys,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=("table", "name"),
        update_fields=KEY_FIELDS,
    )


def schema_of(database: Database) -> Schema:
    """Return what may be asked of a database, as it was last discovered.

    Hidden tables and columns are in no part of it, nor are keys that need them.
    """
    columns = _columns_of(database)
    keys = _keys_of(database, columns)
    tables = DatabaseTable.objects.filter(
        database=database, gone_at=None, exposure=DatabaseTable.Exposure.VISIBLE
    )
    wanted = ("id", "schema", "name", "kind", "comment", "rows")
    found = tuple(
        Table(
            schema=schema,
            name=name,
            kind=kind,
            comment=comment,
            rows=rows,
            columns=tuple(columns[table]),
            foreign_keys=tuple(keys[table]),
        )
        for table, schema, name, kind, comment, rows in tables.order_by(
            "schema", "name"
        ).values_list(*wanted)
        if columns[table]
    )
    return Schema(
        flavour=_flavour(database),
        version=database.version,
        default_schema=database.default_schema,
        tables=found,
    )


def _flavour(database: Database) -> Flavour:
    """Return what the server said it is, else what its engine speaks."""
    return cast(Flavour, database.flavour or str(database.engine))


def _columns_of(database: Database) -> dict[int, list[Column]]:
    columns: dict[int, list[Column]] = defaultdict(list)
    rows = DatabaseColumn.objects.filter(
        table__database=database,
        table__gone_at=None,
        table__exposure=DatabaseTable.Exposure.VISIBLE,
        gone_at=None,
    ).exclude(exposure=DatabaseColumn.Exposure.HIDDEN)
    for (
        table, name, data_type, family, nullable, comment, is_key, exposure, values,
    ) in rows.order_by("table_id", "position").values_list(
        "table_id", "name", "data_type", "family", "nullable", "comment", "is_key",
        "exposure", "values",
    ):  # fmt: skip
        columns[table].append(
            Column(
                name=name,
                data_type=data_type,
                family=cast(Family, family),
                nullable=nullable,
                comment=comment,
                is_key=is_key,
                exposure=cast(Exposure, exposure),
                values=tuple(values),
            )
        )
    return columns


def _keys_of(
    database: Database, columns: Mapping[int, list[Column]]
) -> dict[int, list[ForeignKey]]:
    seen = {table: {c.name for c in found} for table, found in columns.items()}
    keys: dict[int, list[ForeignKey]] = defaultdict(list)
    rows = DatabaseKey.objects.filter(table__database=database).order_by(
        "table", "name"
    )
    for (
        table, name, own, target, schema, target_name, other,
    ) in rows.values_list(
        "table_id", "name", "columns", "target_id", "target__schema", "target__name",
        "target_columns",
    ):  # fmt: skip
        if set(own) <= seen.get(table, set()) and set(other) <= seen.get(target, set()):
            keys[table].append(
                ForeignKey(
                    name=name,
                    columns=tuple(own),
                    target_schema=schema,
                    target_table=target_name,
                    target_columns=tuple(other),
                )
            )
    return keys


def count_changes(changes: list[DatabaseChange], kind: str) -> int:
    return sum(change.kind == kind for change in changes)
