"""Which results are drawn, and which are not."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.databases.base import ResultColumn, Rows
from memory.sql.charts import BARS_MOST, POINTS_MOST, chart_of

DAY = date(2026, 1, 1)


def result(families: str, *rows: tuple[Any, ...], truncated: bool = False) -> Rows:
    columns = tuple(
        ResultColumn(name=f"c{n}", family=family)  # type: ignore[arg-type]
        for n, family in enumerate(families.split())
    )
    return Rows(sql="", columns=columns, rows=rows, truncated=truncated, took_ms=1)


def drawn(found: Rows) -> tuple[Any, ...] | None:
    chart = chart_of(found)
    return (chart.kind, chart.x, chart.y) if chart else None


def test_one_number_is_a_big_number():
    assert drawn(result("number", (Decimal("12.5"),))) == ("number", None, (0,))


@pytest.mark.parametrize(
    ("families", "cell"), [("number", None), ("text", "7"), ("number", float("nan"))]
)
def test_one_cell_that_is_no_number_is_none(families, cell):
    assert drawn(result(families, (cell,))) is None


def test_days_with_a_number_are_a_line():
    rows = [(DAY + timedelta(n), n) for n in range(5)]
    assert drawn(result("date number", *rows)) == ("line", 0, (1,))


def test_the_axis_may_stand_anywhere():
    rows = [(1, "a", 2.5), (3, "b", 4)]
    assert drawn(result("number text number", *rows)) == ("bar", 1, (0, 2))


def test_of_two_numbers_that_no_scale_shows_the_first_is_drawn():
    near, far = [("a", 100, 6), ("b", 90, 9)], [("a", 100, 4), ("b", 90, 2)]
    assert drawn(result("text number number", *near)) == ("bar", 0, (1, 2))
    assert drawn(result("text number number", *far)) == ("bar", 0, (1,))


def test_years_beside_a_number_are_a_line():
    rows = [(2024, 10), (2025, 12), (2026, 9)]
    assert drawn(result("number number", *rows)) == ("line", 0, (1,))


@pytest.mark.parametrize(
    ("families", "rows"),
    [
        ("number number", [(1, 10), (2, 12)]),
        ("text number", [("a", 1)]),
        ("text number", [("a", 1), ("a", 2)]),
        ("text number", [("a", 1), ("b", None)]),
        ("text number", [(None, 1), ("b", 2)]),
        ("text text number", [("a", "x", 1), ("b", "y", 2)]),
        ("text json number", [("a", "{}", 1), ("b", "{}", 2)]),
        ("text number number number", [("a", 1, 2, 3), ("b", 1, 2, 3)]),
        ("text", [("a",), ("b",)]),
        ("text number", []),
    ],
)
def test_what_has_no_shape_is_not_drawn(families, rows):
    assert drawn(result(families, *rows)) is None


def test_what_was_cut_is_not_drawn():
    rows = [("a", 1), ("b", 2)]
    assert drawn(result("text number", *rows)) is not None
    assert drawn(result("text number", *rows, truncated=True)) is None


@pytest.mark.parametrize(
    ("family", "most"), [("text", BARS_MOST), ("date", POINTS_MOST)]
)
def test_more_than_can_be_read_is_not_drawn(family, most):
    def axis(n: int) -> Any:
        return DAY + timedelta(n) if family == "date" else f"name {n}"

    rows = [(axis(n), n) for n in range(most)]
    assert drawn(result(f"{family} number", *rows)) is not None
    assert drawn(result(f"{family} number", *rows, (axis(most), 1))) is None


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.dates(),
)
FAMILIES = st.sampled_from(["number", "text", "date", "boolean", "json", "timestamp"])


@given(data=st.data())
def test_a_chart_is_only_of_numbers_that_are_there(data):
    families = data.draw(st.lists(FAMILIES, min_size=1, max_size=4))
    row = st.tuples(*[CELLS] * len(families))
    rows = data.draw(st.lists(row, max_size=8))
    chart = chart_of(result(" ".join(families), *rows))
    if chart is None:
        return
    assert all(families[place] == "number" for place in chart.y)
    assert chart.x not in chart.y
    for cells in rows:
        for place in chart.y:
            assert cells[place] is not None
            assert float(cells[place]) == float(cells[place])
