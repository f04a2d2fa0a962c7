"""A result as an answer shows it: sent to the browser, kept with the turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from connections.models import Database
from connections.records import JSON
from memory.models import Turn, TurnTable
from memory.sql.answered import Answered
from memory.sql.cells import as_json
from memory.sql.charts import chart_of

# As many rows are kept with an answer; all of them come by running it again.
KEPT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTable:
    """A result with its statement; `rows` hold JSON, `row_count` counts all rows read.

    `truncated` says that there were more rows than were read, or more than are here.
    """

    connection: str
    database_id: UUID | None
    query: UUID | None
    question: str
    reading: str
    assumptions: tuple[str, ...]
    sql: str
    tables: tuple[str, ...]
    columns: tuple[Mapping[str, str], ...]
    rows: tuple[tuple[JSON, ...], ...]
    row_count: int
    truncated: bool
    took_ms: float
    chart: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "connection": self.connection,
            "database": str(self.database_id) if self.database_id else None,
            "query": str(self.query) if self.query else None,
            "question": self.question,
            "reading": self.reading,
            "assumptions": list(self.assumptions),
            "sql": self.sql,
            "tables": list(self.tables),
            "columns": [dict(column) for column in self.columns],
            "rows": [list(row) for row in self.rows],
            "row_count": self.row_count,
            "truncated": self.truncated,
            "took_ms": self.took_ms,
            "chart": dict(self.chart) if self.chart else None,
        }


def shown_table(database: Database, question: str, answer: Answered) -> ShownTable:
    """Return `answer` as it is shown, with a chart where one fits."""
    rows = answer.rows
    return ShownTable(
        connection=database.name,
        database_id=database.pk,
        query=rows.run,
        question=question,
        reading=answer.reading,
        assumptions=answer.assumptions,
        sql=answer.sql,
        tables=answer.tables,
        columns=tuple({"name": c.name, "family": c.family} for c in rows.columns),
        rows=tuple(tuple(map(as_json, row)) for row in rows.rows[:KEPT]),
        row_count=len(rows.rows),
        truncated=rows.truncated or len(rows.rows) > KEPT,
        took_ms=round(rows.took_ms, 1),
        chart=chart.as_json() if (chart := chart_of(rows)) else None,
    )


def keep_tables(turn: Turn, tables: tuple[ShownTable, ...]) -> None:
    """Store the tables of a turn that has none yet; in the caller's transaction."""
    TurnTable.objects.bulk_create(
        TurnTable(
            turn=turn,
            place=place,
            database_id=table.database_id,
            database_name=table.connection,
            query_id=table.query,
            question=table.question,
            reading=table.reading,
            assumptions=list(table.assumptions),
            sql=table.sql,
            tables=list(table.tables),
            columns=[dict(column) for column in table.columns],
            rows=[list(row) for row in table.rows],
            row_count=table.row_count,
            truncated=table.truncated,
            took_ms=table.took_ms,
            chart=dict(table.chart) if table.chart else None,
        )
        for place, table in enumerate(tables)
    )


def tables_of(turn: Turn) -> tuple[ShownTable, ...]:
    """Return the tables that an answer showed, as they were then."""
    rows = TurnTable.objects.filter(turn=turn).order_by("place")
    return tuple(map(as_shown, rows))


def as_shown(row: TurnTable) -> ShownTable:
    """Return a stored table as it was shown."""
    return ShownTable(
        connection=row.database_name,
        database_id=row.database_id,
        query=row.query_id,
        question=row.question,
        reading=row.reading,
        assumptions=tuple(row.assumptions),
        sql=row.sql,
        tables=tuple(row.tables),
        columns=tuple(row.columns),
        rows=tuple(tuple(cells) for cells in row.rows),
        row_count=row.row_count,
        truncated=row.truncated,
        took_ms=row.took_ms,
        chart=row.chart,
    )
