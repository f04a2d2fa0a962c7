"""CSV that a spreadsheet opens without running anything in it."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.spreadsheet import neutral_text
from memory.sql.cells import text_of
from memory.sql.csv_export import csv_lines, csv_response

BEGINNINGS = "=+-@\t\r\n＝＋－＠"  # noqa: RUF001 # wide forms are taken for formulas, too


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+49 30 123", "-cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "-", "-1-1",
     "=HYPERLINK(\"http://x\")", "\uff1d1"],
)  # fmt: skip
def test_what_begins_a_formula_is_neutralised(cell):
    assert neutral_text(text_of(cell)) == f"'{cell}"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (-5, "-5"),
        (Decimal("-5.50"), "-5.50"),
        (-1e-7, "-1e-07"),
        ("-12.5", "-12.5"),
        ("a=b", "a=b"),
        ("", ""),
        (None, ""),
        (True, "true"),
        (date(2026, 11, 21), "2026-11-21"),
        (datetime(2026, 11, 21, 9, 30, tzinfo=UTC), "2026-11-21 09:30:00+00:00"),
        (b"\x00\xff", "0x00ff"),
        (Decimal("1E+3"), "1000"),
    ],
)
def test_numbers_and_plain_texts_stay(cell, text):
    assert neutral_text(text_of(cell)) == text


def test_names_of_columns_are_neutralised_too():
    lines = list(csv_lines(["=cmd()", "total"], []))
    assert read("".join(lines)) == [["'=cmd()", "total"]]


def test_lines_breaks_quotes_and_umlauts_come_back_as_they_were():
    row = ["Böhm, Söhne", 'says "no"', "two\nlines", None]
    text = "".join(csv_lines(["a", "b", "c", "d"], [row]))
    assert read(text) == [
        ["a", "b", "c", "d"],
        ["Böhm, Söhne", 'says "no"', "two\nlines", ""],
    ]
    assert text.startswith("\ufeff")


def test_the_file_is_one_that_is_kept_not_shown():
    response = csv_response("../My shop", ["a"], [[1]])
    assert response["Content-Disposition"] == 'attachment; filename="my-shop.csv"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private, no-store"


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=5))
def test_no_cell_begins_a_formula_and_none_is_lost(rows):
    rows = [[cell.replace("\x00", "") for cell in row] for row in rows]
    back = read("".join(csv_lines(["a", "b"], rows)))[1:]
    assert len(back) == len(rows)
    for row, cells in zip(rows, back, strict=True):
        for cell, text in zip(row, cells, strict=True):
            assert text in (cell, f"'{cell}")
            is_number = text.lstrip("-")[:1].isdigit()
            assert text[:1] not in set(BEGINNINGS) or is_number
