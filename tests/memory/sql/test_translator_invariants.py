"""Whatever is asked: no error, and one SELECT over what the schema holds."""

from __future__ import annotations

from datetime import date

import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from connections.databases.base import Schema
from memory.sql.translator import Declined, Translation, translate
from memory.sql.translator.english import ENGLISH
from memory.sql.translator.german import GERMAN
from tests.memory.sql.schemas import LIBRARY

PHRASES = sorted(
    {" ".join(phrase) for one in (ENGLISH, GERMAN) for phrase in one.phrases}
)
NAMES = sorted(
    {
        word
        for table in LIBRARY.tables
        for name in (table.name, *(column.name for column in table.columns))
        for word in (name, name.replace("_", " "))
    }
)
OTHERS = "Hull York crime 5 2012 3 'x' \"O'Brien\" today , . ? ( ; -- DROP this year"
WORDS = [*PHRASES, *NAMES, *OTHERS.split()]
# What questions are made of, so that many are understood.
LIKELY = [*NAMES, "how many", "each", "the most", "with", "and", "of", "by", "top 3"]
LIKELY += ["without", "average", "more than 5", "in 2012", "Hull", "per", "number of"]


def _check(sql: str, schema: Schema) -> None:
    (tree,) = sqlglot.parse(sql, dialect=schema.dialect)
    assert isinstance(tree, exp.Select)
    assert not list(tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Command))
    tables = {table.name: table for table in schema.tables}
    for named in tree.find_all(exp.Table):
        assert named.name in tables
    for column in tree.find_all(exp.Column):
        assert column.name in tables[column.table].by_name
    for star in tree.find_all(exp.Star):
        assert isinstance(star.parent, exp.Count)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join), st.dates())
def test_word_salad_never_raises(question: str, today: date) -> None:
    found = translate(question, LIBRARY, today=today)
    if isinstance(found, Translation):
        _check(found.sql, LIBRARY)
    else:
        assert found.reason


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=120), st.dates())
def test_any_text_is_declined_or_read(question: str, today: date) -> None:
    assert isinstance(translate(question, LIBRARY, today=today), Translation | Declined)


def test_likely_questions_are_one_select_over_known_names() -> None:
    asked, answered = 0, 0

    @settings(max_examples=500, deadline=None, database=None, derandomize=True)
    @given(st.lists(st.sampled_from(LIKELY), min_size=1, max_size=6).map(" ".join))
    def check(question: str) -> None:
        nonlocal asked, answered
        found = translate(question, LIBRARY, today=date(2026, 11, 21))
        asked += 1
        if isinstance(found, Translation):
            answered += 1
            _check(found.sql, LIBRARY)
            assert 0 < found.confidence <= 1

    check()
    assert asked >= 300
    assert answered >= 20, f"only {answered} of {asked} were answered"
