"""A catalogue beside the one stored before: what is new, what went, what changed.

Everything is decided on rows in memory and written as one transaction's upserts; the
row of the database is locked, as it is where staff choose what may be seen, so that
neither undoes the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from connections.databases.found import Found, FoundColumn, FoundTable
from connections.databases.personal import Looks, looks_by_name
from connections.databases.sampling import ColumnSample
from connections.models import (
    Database,
    DatabaseChange,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
)

VISIBLE = DatabaseColumn.Exposure.VISIBLE
MASKED = DatabaseColumn.Exposure.MASKED
HIDDEN = DatabaseColumn.Exposure.HIDDEN
# What a guess may tighten; what staff chose it never touches.
_BY_LOOKS = {"": VISIBLE, "personal": MASKED, "secret": HIDDEN}
_STRICTNESS = (VISIBLE, DatabaseColumn.Exposure.AGGREGATE, MASKED, HIDDEN)
WHAT, TYPE = 400, 200

TABLE_FIELDS = ("kind", "comment", "rows", "exposure", "gone_at", "sampled_at")
COLUMN_FIELDS = (
    "position",
    "data_type",
    "family",
    "nullable",
    "comment",
    "is_key",
    "exposure",
    "values",
    "values_complete",
    "gone_at",
)
KEY_FIELDS = ("columns", "target_id", "target_columns")


@dataclass(slots=True)
class Differences:
    """What to write of one catalogue, and the changes to tell."""

    database: Database
    at: datetime
    tables: list[DatabaseTable] = field(default_factory=list)
    columns: list[DatabaseColumn] = field(default_factory=list)
    changes: list[DatabaseChange] = field(default_factory=list)

    def tell(self, kind: str, what: str, before: str = "", after: str = "") -> None:
        """Note a change of `what`, a table, a column or a key."""
        self.changes.append(
            DatabaseChange(
                database=self.database,
                at=self.at,
                kind=kind,
                what=what[:WHAT],
                before=before,
                after=after,
            )
        )

    def compared(
        self, what: str, before: Mapping[str, str], after: Mapping[str, str]
    ) -> None:
        """Note what differs, an attribute a row."""
        for name, said in after.items():
            if said != before[name]:
                where = f"{name} of {what}"
                self.tell(DatabaseChange.Kind.CHANGED, where, before[name], said)


def table_name(schema: str, name: str) -> str:
    return f"table {schema}.{name}"


def kind_of(found: FoundTable) -> str:
    """Return how it is asked: a materialized view as a view, a foreign table as any."""
    return "view" if found.is_view else "table"


def merge_table(
    work: Differences, found: FoundTable, stored: DatabaseTable | None, default: str
) -> DatabaseTable:
    """Return the table's row as it is to be; one that came back keeps its exposure."""
    what = table_name(found.schema, found.name)
    row = stored or DatabaseTable(
        database=work.database,
        schema=found.schema,
        name=found.name,
        exposure=_first_exposure(work.database, found, default),
    )
    before = _values(row, TABLE_FIELDS)
    if stored is None or stored.gone_at is not None:
        work.tell(DatabaseChange.Kind.ADDED, what)
    else:
        work.compared(
            what,
            {"kind": stored.kind, "comment": stored.comment},
            {"kind": kind_of(found), "comment": found.comment},
        )
    row.kind, row.comment, row.rows = kind_of(found), found.comment, found.rows
    row.gone_at = None
    if stored is None or _values(row, TABLE_FIELDS) != before:
        work.tables.append(row)
    return row


def _first_exposure(database: Database, found: FoundTable, default: str) -> str:
    """A MySQL login often reads other databases than the one that was meant."""
    is_other = (
        database.engine == Database.Engine.MYSQL and found.schema != default != ""
    )
    exposure = DatabaseTable.Exposure
    return exposure.HIDDEN if is_other else exposure.VISIBLE


def merge_columns(
    work: Differences,
    table: DatabaseTable,
    found: FoundTable,
    stored: Mapping[str, DatabaseColumn],
    samples: Mapping[str, ColumnSample] | None,
    *,
    is_new: bool,
) -> None:
    """Note the columns of a table that are to be written; those gone are marked."""
    where = f"{found.schema}.{found.name}"
    for column in found.columns:
        known = stored.get(column.name)
        row = known or DatabaseColumn(table=table, name=column.name)
        before = _values(row, COLUMN_FIELDS)
        if not is_new:
            _tell_column(work, f"column {where}.{column.name}", column, known)
        sample = (samples or {}).get(column.name)
        _describe(row, column, sample, is_hidden=table.exposure == HIDDEN)
        if known is None or _values(row, COLUMN_FIELDS) != before:
            work.columns.append(row)
    names = {column.name for column in found.columns}
    for name, row in stored.items():
        if name not in names and row.gone_at is None:
            row.gone_at = work.at
            work.columns.append(row)
            if not is_new:
                work.tell(DatabaseChange.Kind.REMOVED, f"column {where}.{name}")


def _tell_column(
    work: Differences, what: str, found: FoundColumn, known: DatabaseColumn | None
) -> None:
    if known is None or known.gone_at is not None:
        work.tell(DatabaseChange.Kind.ADDED, what, "", found.data_type)
        return
    before = {
        "type": known.data_type,
        "comment": known.comment,
        "nullability": _nullability(known.nullable),
        "primary key": _membership(known.is_key),
    }
    after = {
        "type": found.data_type[:TYPE],
        "comment": found.comment,
        "nullability": _nullability(found.nullable),
        "primary key": _membership(found.is_key),
    }
    # What may not be seen has no values to compare with.
    if found.values and known.values and known.values_complete:
        before["values"], after["values"] = _listed(known.values), _listed(found.values)
    work.compared(what, before, after)


def _nullability(nullable: bool) -> str:
    return "may be null" if nullable else "never null"


def _membership(is_key: bool) -> str:
    return "part of it" if is_key else "no part of it"


def _listed(values: list[str] | tuple[str, ...]) -> str:
    return ", ".join(values)


def _describe(
    row: DatabaseColumn,
    found: FoundColumn,
    sample: ColumnSample | None,
    *,
    is_hidden: bool,
) -> None:
    looks = looks_by_name(found.name, found.family)
    by_values: Looks = sample.looks if sample else ""
    row.exposure = _exposure(row, looks, by_values)
    row.position, row.family = found.position, found.family
    row.data_type = found.data_type[:TYPE]
    row.nullable, row.comment = found.nullable, found.comment
    row.is_key, row.gone_at = found.is_key, None
    if is_hidden or row.exposure != VISIBLE or looks or found.family != "text":
        row.values, row.values_complete = [], False
    elif found.values:
        row.values, row.values_complete = list(found.values), True
    elif sample is not None:
        row.values, row.values_complete = list(sample.values), sample.complete


def _exposure(row: DatabaseColumn, *looks: Looks) -> str:
    """Return the strictest of what it is and what it looks like, unless staff chose."""
    if row.is_chosen:
        return row.exposure
    wanted = [row.exposure or VISIBLE, *(_BY_LOOKS[look] for look in looks)]
    return str(max(wanted, key=_STRICTNESS.index))


def merge_gone(work: Differences, stored: Iterator[DatabaseTable]) -> None:
    """Mark the stored tables that the catalogue no longer has."""
    for row in stored:
        if row.gone_at is None:
            row.gone_at = work.at
            work.tables.append(row)
            what = table_name(row.schema, row.name)
            work.tell(DatabaseChange.Kind.REMOVED, what)


def merge_keys(
    work: Differences,
    found: Found,
    tables: Mapping[tuple[str, str], DatabaseTable],
    stored: Mapping[tuple[int, str], DatabaseKey],
    told: frozenset[int],
) -> tuple[list[DatabaseKey], list[int]]:
    """Return the keys to write and the ids of those that are no longer there.

    `told` are the tables whose keys are told of: a new table's are not.
    """
    written, seen = [], set()
    for table in found.tables:
        owner = tables[table.path]
        for key in table.keys:
            place = (owner.pk, key.name[:128])
            seen.add(place)
            row = stored.get(place) or DatabaseKey(table=owner, name=place[1])
            before = _spoken(row, owner) if row.pk else ""
            target = tables[key.target_schema, key.target_table]
            row.target = target
            row.columns, row.target_columns = (
                list(key.columns),
                list(key.target_columns),
            )
            after = _spoken(row, owner)
            if before != after:
                written.append(row)
                if owner.pk in told:
                    kind = DatabaseChange.Kind.CHANGED if before else "added"
                    work.tell(kind, _key_name(owner, key.name), before, after)
    gone = [row for place, row in stored.items() if place not in seen]
    for row in gone:
        if row.table_id in told:
            what = _key_name(row.table, row.name)
            work.tell(DatabaseChange.Kind.REMOVED, what, _spoken(row, row.table))
    return written, [row.pk for row in gone]


def _key_name(table: DatabaseTable, name: str) -> str:
    return f"key {table.schema}.{table.name} {name}"


def _spoken(key: DatabaseKey, table: DatabaseTable) -> str:
    target = f"{key.target.schema}.{key.target.name}"
    return f"({', '.join(key.columns)}) -> {target} ({', '.join(key.target_columns)})"


def _values(row: object, fields: tuple[str, ...]) -> list[object]:
    return [_frozen(getattr(row, name)) for name in fields]


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
