"""What staff choose of a schema: hidden, masked, only in aggregates, or visible."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from connections.databases.discovery import follow
from connections.models import (
    Database,
    DatabaseColumn,
    DatabaseTable,
    User,
    record_audit,
)
from connections.refusals import Refused


class ExposureRefused(Refused):
    """An exposure that cannot be chosen; the message lists those that can."""

    code = "exposure_refused"
    status_code = 400


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen: for whole schemas, tables or columns, and how many it was."""

    tables: int = 0
    columns: int = 0


def expose_tables(
    database: Database,
    exposure: str,
    *,
    tables: Collection[int] | None = None,
    schema: str | None = None,
    actor: User | None = None,
) -> Chosen:
    """Show or hide tables, or all of a schema; each is marked as chosen by staff."""
    if exposure not in DatabaseTable.Exposure.values:
        raise _unknown(exposure, DatabaseTable.Exposure.values)
    rows = DatabaseTable.objects.filter(database=database)
    if tables is not None:
        rows = rows.filter(pk__in=tables)
    if schema is not None:
        rows = rows.filter(schema=schema)
    with transaction.atomic():
        _lock(database)
        ids = list(rows.values_list("pk", flat=True))
        DatabaseTable.objects.filter(pk__in=ids).update(
            exposure=exposure, is_chosen=True
        )
        if exposure == DatabaseTable.Exposure.HIDDEN:
            # What nobody may see is not kept; a later discovery samples anew.
            of_tables = DatabaseColumn.objects.filter(table__in=ids)
            of_tables.exclude(values=[]).update(values=[], values_complete=False)
            DatabaseTable.objects.filter(pk__in=ids).update(sampled_at=None)
        names = sorted(f"{t.schema}.{t.name}" for t in rows)
        _audit(database, actor, exposure, [f"schema {schema}"] if schema else names)
        # Higher layers forget at once what is no longer to be seen.
        transaction.on_commit(lambda: follow(database, ids))
    return Chosen(tables=len(ids))


def expose_columns(
    database: Database,
    exposure: str,
    *,
    columns: Collection[int],
    actor: User | None = None,
) -> Chosen:
    """Choose how much of columns may be seen; the values of what is not go at once."""
    if exposure not in DatabaseColumn.Exposure.values:
        raise _unknown(exposure, DatabaseColumn.Exposure.values)
    rows: QuerySet[DatabaseColumn] = DatabaseColumn.objects.filter(
        table__database=database, pk__in=columns
    )
    with transaction.atomic():
        _lock(database)
        found = list(rows.select_related("table"))
        chosen = {"exposure": exposure, "is_chosen": True}
        if exposure != DatabaseColumn.Exposure.VISIBLE:
            chosen |= {"values": [], "values_complete": False}
        rows.update(**chosen)
        tables = sorted({column.table_id for column in found})
        # An opened column has no values yet: its table is due again.
        DatabaseTable.objects.filter(pk__in=tables).update(sampled_at=None)
        _audit(database, actor, exposure, sorted(str(column) for column in found))
        transaction.on_commit(lambda: follow(database, tables))
    return Chosen(columns=len(found))


def _lock(database: Database) -> None:
    """Keep a discovery from writing meanwhile what it had read before."""
    Database.objects.select_for_update(of=("self",)).get(pk=database.pk)


def _unknown(exposure: str, known: list[str]) -> ExposureRefused:
    return ExposureRefused(f"{exposure!r} is none of {', '.join(known)}.")


def _audit(
    database: Database, actor: User | None, exposure: str, names: list[str]
) -> None:
    record_audit(
        "database.exposure",
        target=database.name,
        project=database.project,
        actor=actor,
        exposure=exposure,
        names=tuple(names[:200]),
        count=len(names),
    )
