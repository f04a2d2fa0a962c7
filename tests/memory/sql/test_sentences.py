from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.databases.base import ResultColumn, Rows
from memory.sql.cells import as_json, as_written, in_words
from memory.sql.sentences import NOTHING, row_in_words, sentence_of

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def rows(names, *cells, truncated=False):
    columns = tuple(ResultColumn(name=name, family="text") for name in names)
    return Rows(sql="", columns=columns, rows=cells, truncated=truncated, took_ms=1.0)


@pytest.mark.parametrize(
    ("question", "result", "said"),
    [
        ("How many orders are there?", rows(["count"], (412,)), "412 orders."),
        ("How many orders?", rows(["order_count"], (1412,)), "1,412 orders."),
        ("Wie viele Bestellungen gibt es?", rows(["n"], (3,)), "3 Bestellungen."),
        ("How many orders?", rows(["avg_total"], (2.5,)), "Avg total: 2.5."),
        ("Average?", rows(["avg"], (Decimal("12.50"),)), "Avg: 12.50."),
        ("Which?", rows(["name"], ("Acme",)), "Name: Acme."),
        (
            "Which?",
            rows(["name", "since"], ("Acme", date(2026, 1, 2))),
            "Name: Acme; since: 2026-01-02.",
        ),
        (
            "top 3 customers by revenue",
            rows(
                ["name", "revenue"],
                ("Acme", Decimal("12400.00")),
                ("Volta", Decimal("90")),
            ),
            "Top 3 customers by revenue: Acme (12,400.00); Volta (90).",
        ),
        ("Plans?", rows(["plan"], ("a",), ("b",)), "Found: a; b."),
        (
            "Plans?",
            rows(["plan"], ("a",), ("b",), truncated=True),
            "Found: a; b; and more.",
        ),
        ("Any?", rows(["plan"]), NOTHING),
        ("Last?", rows(["closed_at"], (None,)), "Closed at: no value."),
    ],
)
def test_an_answer_is_one_sentence_with_its_numbers(question, result, said):
    assert sentence_of(question, result).text == said


CELLS = st.one_of(
    st.integers(-(10**12), 10**12),
    st.integers(-(10**11), 10**11).map(lambda n: Decimal(n) / 100),
    st.floats(-1e9, 1e9, allow_nan=False).map(lambda x: round(x, 4)),
    st.sampled_from(["Acme", "Volta", "Row of nine"]),
    st.none(),
    st.dates(),
)


# The first input imports what draws them, which takes a while on a busy machine.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=14))
def test_every_number_of_a_sentence_stands_in_the_rows(cells):
    said = sentence_of("Which of them?", rows(["a", "b", "c"], *cells)).text
    known = " ".join(in_words(cell) for row in cells for cell in row)
    assert numbers_in(said) <= numbers_in(known)


def numbers_in(text):
    """Return the numbers, without the comma or point that may follow one."""
    return {number.rstrip(".,") for number in NUMBER.findall(text)}


def test_a_row_is_told_by_its_columns_and_long_cells_are_cut():
    columns = (ResultColumn(name="first_name", family="text"),)
    said = row_in_words(columns, ("x" * 5000,))
    assert said.startswith("first name: xxx")
    assert len(said) < 300


@pytest.mark.parametrize(
    ("cell", "shown", "json"),
    [
        (2**60, "1,152,921,504,606,846,976", "1152921504606846976"),
        (Decimal("0.10"), "0.10", "0.10"),
        (Decimal("NaN"), "NaN", "NaN"),
        (Decimal("1E+5"), "1E+5", "1E+5"),
        (float("inf"), "inf", "inf"),
        (True, "yes", True),
        (b"\x00\xff", "0x00ff", "0x00ff"),
        ("a\x00b", "a\ufffdb", "a\ufffdb"),
        (datetime(2026, 3, 2, 12, 5), "2026-03-02 12:05", "2026-03-02T12:05:00"),
    ],
)
def test_cells_keep_their_digits_and_hold_nothing_that_json_cannot(cell, shown, json):
    assert in_words(cell) == shown
    assert as_json(cell) == json


def test_a_number_is_also_known_as_a_model_may_write_it():
    assert as_written(Decimal("12400.00")) == "12400.00"
    assert as_written("a,b") == "a,b"
