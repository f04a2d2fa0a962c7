from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from connections.databases.caps import (
    BINARY_SHOWN,
    Caps,
    Collection,
    Cutter,
    size_of,
)

CELLS = st.one_of(
    st.none(), st.integers(), st.text(max_size=60), st.booleans(), st.floats()
)
ROWS = st.lists(st.tuples(CELLS, CELLS), max_size=30)


@given(ROWS, st.integers(1, 20), st.integers(1, 400))
def test_a_collection_holds_the_first_rows_within_its_caps(rows, most, size):
    collection = Collection(Caps(rows=most, bytes=size))
    collection.take(iter(rows), Cutter())
    kept = len(collection.rows)
    assert collection.rows == rows[:kept]
    assert kept <= most
    assert sum(size_of(cell) for row in collection.rows for cell in row) <= size
    assert collection.is_truncated == (kept < len(rows))
    if collection.is_truncated and kept < most:
        assert collection.warnings


def test_exactly_as_many_rows_as_allowed_are_whole():
    collection = Collection(Caps(rows=2))
    collection.take(iter([(1,), (2,)]), Cutter())
    assert (collection.rows, collection.is_truncated) == ([(1,), (2,)], False)


def test_no_row_after_the_one_too_many_is_asked_for():
    asked = []

    def rows():
        for number in range(100):
            asked.append(number)
            yield (number,)

    Collection(Caps(rows=3)).take(rows(), Cutter())
    assert asked == [0, 1, 2, 3]


@given(st.text(max_size=50), st.integers(1, 40))
def test_a_text_is_kept_whole_or_cut_and_counted(text, characters):
    encoded = text.encode("utf-8", "replace")
    whole = encoded.decode()
    cutter = Cutter(characters=characters)
    assert cutter.text(memoryview(encoded)) == whole[:characters]
    assert cutter.shortened == (len(whole) > characters)


@given(st.binary(max_size=200))
def test_any_bytes_become_a_text(raw):
    assert isinstance(Cutter().text(raw), str)


def test_a_byte_string_is_shown_by_its_beginning():
    cutter = Cutter()
    assert cutter.binary(b"\x00\xff") == "0x00ff"
    assert cutter.shortened == 0
    shown = cutter.binary(b"a" * 1_000_000)
    assert shown == "0x" + "61" * BINARY_SHOWN + "… (1,000,000 bytes)"
    assert cutter.shortened == 1


def test_masked_cells_are_never_kept():
    collection = Collection(Caps(rows=9), frozenset({1}))
    collection.take(iter([(1, "Sophie Laurent")]), Cutter())
    assert collection.rows == [(1, "S••••••")]
