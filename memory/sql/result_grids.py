"""A result as a template shows it: its cells as text, its chart, where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from connections.databases.base import Rows
from connections.models import Database, User
from memory.models import Turn, TurnTable
from memory.sql.cells import AnyCell, text_of
from memory.sql.charts import chart_of

# What a page shows at once, and what it holds at most; the rest is in the CSV.
ROWS_SHOWN, ROWS_HELD = 50, 1_000


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """The head of a column."""

    name: str
    family: str

    @property
    def is_number(self) -> bool:
        return self.family == "number"


@dataclass(frozen=True, slots=True)
class ShownChart:
    """A chart by the places of its columns; `number` is what stands alone."""

    kind: str
    x: int | None
    y: tuple[int, ...]
    label: str
    number: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultGrid:
    """A result ready for a template; `None` in `rows` is NULL."""

    columns: tuple[ShownColumn, ...]
    rows: Sequence[Sequence[str | None]]
    row_count: int
    truncated: bool
    took_ms: float
    sql: str
    chart: ShownChart | None = None
    shortened: int = 0
    warnings: tuple[str, ...] = ()
    run: UUID | None = None

    @property
    def lines(self) -> Iterator[list[tuple[str | None, bool]]]:
        """Yield each row's cells, each with whether it stands among numbers."""
        numbers = [column.is_number for column in self.columns]
        for row in self.rows:
            yield list(zip(row, numbers, strict=False))

    @property
    def is_part(self) -> bool:
        """Return whether the page holds fewer rows than there are."""
        return self.truncated or len(self.rows) < self.row_count

    @property
    def is_long(self) -> bool:
        return len(self.rows) > ROWS_SHOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurnTable:
    """A result under an answer; `is_withheld` where its database is closed by now."""

    row: TurnTable
    table: ResultGrid
    is_withheld: bool
    can_run: bool


def shown_rows(rows: Rows, *, most: int = ROWS_HELD) -> ResultGrid:
    """Return what was just read, at most `most` rows of it, with the chart that fits."""
    chart = chart_of(rows)
    columns = tuple(ShownColumn(one.name, one.family) for one in rows.columns)
    cells = _cells(rows.rows[:most])
    return ResultGrid(
        columns=columns,
        rows=cells,
        row_count=len(rows.rows),
        truncated=rows.truncated,
        took_ms=rows.took_ms,
        sql=rows.sql,
        chart=_chart(chart.as_json(), columns, cells) if chart else None,
        shortened=rows.shortened,
        warnings=rows.warnings,
        run=rows.run,
    )


def shown_stored(row: TurnTable) -> ResultGrid:
    """Return what an answer showed, as it was stored."""
    columns = tuple(
        ShownColumn(str(one.get("name", "")), str(one.get("family", "other")))
        for one in row.columns
    )
    cells = _cells(row.rows)
    # A chart of some of the rows would draw a part as if it were all.
    is_whole = not row.truncated and len(cells) == row.row_count
    chart = row.chart if is_whole and isinstance(row.chart, dict) else None
    return ResultGrid(
        columns=columns,
        rows=cells,
        row_count=row.row_count,
        truncated=row.truncated,
        took_ms=row.took_ms,
        sql=row.sql,
        chart=_chart(chart, columns, cells) if chart else None,
    )


def shown_turn_tables(
    turns: Sequence[Turn], user: User
) -> dict[int, list[ShownTurnTable]]:
    """Return the results that `turns` showed, by turn, as `user` may see them now."""
    found = list(TurnTable.objects.filter(turn__in=turns).order_by("turn_id", "place"))
    if not found:
        return {}
    opened = dict(Database.objects.visible_to(user).values_list("pk", "enabled"))
    shown: dict[int, list[ShownTurnTable]] = {}
    for row in found:
        is_withheld = row.database_id is not None and row.database_id not in opened
        made = ShownTurnTable(
            row=row,
            table=shown_stored(row),
            is_withheld=is_withheld,
            can_run=bool(opened.get(row.database_id or UUID(int=0))),
        )
        shown.setdefault(row.turn_id, []).append(made)
    return shown


def _cells(rows: Sequence[Sequence[AnyCell]]) -> list[list[str | None]]:
    return [[None if cell is None else text_of(cell) for cell in row] for row in rows]


def _chart(
    spec: Mapping[str, Any],
    columns: Sequence[ShownColumn],
    cells: Sequence[Sequence[str | None]],
) -> ShownChart | None:
    """Return a chart whose places exist; a stored one is not believed blindly."""
    places = range(len(columns))
    x, y = spec.get("x"), tuple(spec.get("y") or ())
    if not y or not cells or any(one not in places for one in y):
        return None
    kind = spec.get("kind")
    measured = " and ".join(columns[one].name for one in y)
    if kind == "number":
        number = _grouped(cells[0][y[0]] or "")
        return ShownChart("number", None, y, measured, number)
    if kind not in ("line", "bar") or not isinstance(x, int) or x not in places:
        return None
    form = "Line chart" if kind == "line" else "Bar chart"
    label = f"{form} of {measured} by {columns[x].name}"
    return ShownChart(str(kind), x, y, label)


def _grouped(number: str) -> str:
    """Return a number with its thousands set apart."""
    try:
        return f"{Decimal(number):,}"
    except (InvalidOperation, ValueError):
        return number
