"""Which chart fits a result, if any does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from connections.databases.base import ResultColumn, Rows
from connections.records import JSON
from memory.sql.cells import AnyCell, number_of, text_of

Kind: TypeAlias = Literal["number", "line", "bar"]

# More bars cannot be read, more points add nothing to a line.
BARS_MOST, POINTS_MOST, LINES_MOST = 30, 1_000, 2
FEWEST, SCALES_APART = 2, 20
MOMENTS = frozenset({"date", "timestamp"})
NAMES = frozenset({"text", "boolean", "date", "timestamp", "time"})
YEARS = range(1000, 3000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A picture of a result: `x` and `y` are the places (from 0) of its columns."""

    kind: Kind
    x: int | None
    y: tuple[int, ...]

    def as_json(self) -> dict[str, JSON]:
        """Return it as it is stored and sent."""
        return {"kind": self.kind, "x": self.x, "y": list(self.y)}


def chart_of(rows: Rows) -> Chart | None:
    """Return the chart that fits `rows`; None: none does, or rows are missing.

    One number alone is a big number. One date or category with one or two numbers is
    a line or bars: where each date or category stands once, and no number is absent.
    Of two numbers that no scale shows together, the first is drawn.
    A result that was cut would draw a part as if it were all.
    """
    if rows.truncated or not rows.rows:
        return None
    if len(rows.rows) == 1 and len(rows.columns) == 1:
        return _big_number(rows)
    axes = _axes(rows)
    return _with_axis(rows, *axes) if axes else None


def _big_number(rows: Rows) -> Chart | None:
    is_number = rows.columns[0].family == "number"
    if not is_number or number_of(rows.rows[0][0]) is None:
        return None
    return Chart(kind="number", x=None, y=(0,))


def _axes(rows: Rows) -> tuple[int, tuple[int, ...]] | None:
    """Return the place of what is named, and of the one or two numbers beside it."""
    numbers = _places(rows.columns, frozenset({"number"}))
    named = _places(rows.columns, NAMES)
    if len(numbers) + len(named) != len(rows.columns):
        return None
    if not named and len(numbers) > 1 and _are_years(_column(rows, numbers[0])):
        named, numbers = numbers[:1], numbers[1:]
    if len(named) != 1 or not 1 <= len(numbers) <= LINES_MOST:
        return None
    return named[0], tuple(numbers)


def _with_axis(rows: Rows, x: int, y: tuple[int, ...]) -> Chart | None:
    axis = _column(rows, x)
    names = {text_of(cell) for cell in axis if cell is not None}
    if len(axis) < FEWEST or len(names) < len(axis):
        return None
    if any(number_of(cell) is None for place in y for cell in _column(rows, place)):
        return None
    is_line = rows.columns[x].family in {*MOMENTS, "number"}
    if len(axis) > (POINTS_MOST if is_line else BARS_MOST):
        return None
    shown = y if _are_comparable(rows, y) else y[:1]
    return Chart(kind="line" if is_line else "bar", x=x, y=shown)


def _are_comparable(rows: Rows, y: tuple[int, ...]) -> bool:
    """Return whether the numbers can be read on one scale: beside one that is many
    times as large the other could not be seen."""
    largest = [
        max(abs(number_of(cell) or 0.0) for cell in _column(rows, place)) for place in y
    ]
    return max(largest) <= SCALES_APART * min(largest)


def _are_years(cells: Sequence[AnyCell]) -> bool:
    numbers = [number_of(cell) for cell in cells]
    return all(
        number is not None and number.is_integer() and int(number) in YEARS
        for number in numbers
    )


def _column(rows: Rows, place: int) -> list[AnyCell]:
    return [row[place] for row in rows.rows]


def _places(columns: Sequence[ResultColumn], families: frozenset[str]) -> list[int]:
    return [n for n, column in enumerate(columns) if column.family in families]
