"""What the page of a schema shows: a page of tables, the changes, the picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet

from connections.models import (
    Database,
    DatabaseChange,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
)

TABLES_A_PAGE = 25
CHANGES_SHOWN = 100
# More nodes are no picture any more: those with the most keys are drawn.
TABLES_DRAWN = 120


@dataclass(frozen=True, slots=True)
class SchemaCount:
    """A schema of a database, how many tables it has, and how many are hidden."""

    name: str
    tables: int
    hidden: int


def schemas_of(database: Database) -> list[SchemaCount]:
    """Return the schemas in order."""
    rows = (
        DatabaseTable.objects.filter(database=database, gone_at=None)
        .order_by("schema")
        .values("schema")
        .annotate(number=Count("pk"), hidden=Count("pk", filter=Q(exposure="hidden")))
    )
    return [SchemaCount(row["schema"], row["number"], row["hidden"]) for row in rows]


def tables_of(
    database: Database, *, query: str = "", schema: str = "", exposure: str = ""
) -> QuerySet[DatabaseTable]:
    """Return the tables whose name, comment or columns hold the words of `query`.

    `exposure` keeps tables of that exposure, or with a column of it.
    """
    rows = DatabaseTable.objects.filter(database=database, gone_at=None)
    if schema:
        rows = rows.filter(schema=schema)
    columns = DatabaseColumn.objects.filter(table=OuterRef("pk"), gone_at=None)
    for word in query.split():
        named = columns.filter(Q(name__icontains=word) | Q(comment__icontains=word))
        rows = rows.filter(
            Q(name__icontains=word)
            | Q(schema__icontains=word)
            | Q(comment__icontains=word)
            | Exists(named)
        )
    if exposure:
        closed = columns.filter(exposure=exposure)
        rows = rows.filter(Q(exposure=exposure) | Exists(closed))
    return rows.order_by("schema", "name")


def page_of(tables: QuerySet[DatabaseTable], number: str) -> Page[DatabaseTable]:
    """Return a page of tables with their columns and keys, in few statements."""
    living = DatabaseColumn.objects.filter(gone_at=None).order_by("position")
    keys = DatabaseKey.objects.select_related("target").order_by("name")
    full = tables.prefetch_related(
        Prefetch("columns", queryset=living), Prefetch("keys", queryset=keys)
    )
    return Paginator(full, TABLES_A_PAGE).get_page(number)


def latest_changes(database: Database) -> list[DatabaseChange]:
    """Return what the last discovery that found any found, at most so many."""
    changes = DatabaseChange.objects.filter(database=database)
    last = changes.order_by("-at").values_list("at", flat=True).first()
    return list(changes.filter(at=last).order_by("pk")[:CHANGES_SHOWN]) if last else []


def picture_of(
    database: Database, tables: QuerySet[DatabaseTable]
) -> dict[str, list[dict[str, Any]]]:
    """Return the tables and foreign keys to draw: the best tied ones, if many."""
    pairs = DatabaseKey.objects.filter(
        table__database=database, table__gone_at=None, target__gone_at=None
    ).values_list("table_id", "target_id", "name", "columns", "target_columns")
    keys = list(pairs)
    ties = Counter(end for own, target, *_ in keys for end in {own, target})
    wanted = sorted(
        tables.values_list("pk", "schema", "name", "exposure", "kind"),
        key=lambda row: (-ties[row[0]], row[1], row[2]),
    )[:TABLES_DRAWN]
    drawn = {row[0] for row in wanted}
    return {
        "nodes": [
            {
                "id": f"t{pk}",
                "label": name,
                "schema": schema,
                "hidden": exposure == DatabaseTable.Exposure.HIDDEN,
                "view": kind == "view",
                "ties": ties[pk],
            }
            for pk, schema, name, exposure, kind in wanted
        ],
        "edges": [
            {
                "source": f"t{own}",
                "target": f"t{target}",
                "label": f"{', '.join(columns)} → {', '.join(others)}",
            }
            for own, target, _, columns, others in keys
            if own in drawn and target in drawn
        ],
    }
