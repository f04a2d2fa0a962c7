from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.sources import json_input
from connections.sources.json_input import BadJSON, iter_array, load, scrubbed

scalars = st.none() | st.booleans() | st.integers() | st.text() | st.floats(-1e9, 1e9)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def items(raw: bytes, chars: int | None = None) -> list[object]:
    return list(iter_array(io.BytesIO(raw), chars))


@given(st.lists(values), st.booleans(), st.integers(1, 40))
def test_items_equal_what_a_whole_read_gives_at_any_window(found, ascii_only, chunk):
    raw = json.dumps(found, ensure_ascii=ascii_only, indent=1)
    raw = raw.encode("utf-8", "replace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_input, "CHUNK_CHARS", chunk)
        assert items(raw) == scrubbed(json.loads(raw))


def test_an_item_over_the_limit_ends_the_array_with_the_items_before_it():
    raw = b'[{"a": 1}, {"text": "' + b"A" * 5000 + b'"}]'
    reading = iter_array(io.BytesIO(raw), 1000)

    assert next(reading) == {"a": 1}
    with pytest.raises(BadJSON, match="longer than 1,000 characters"):
        next(reading)


def test_an_endless_item_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(json_input, "CHUNK_CHARS", 1000)
    endless = io.BytesIO(b'["' + b"A" * 1_000_000)

    with pytest.raises(BadJSON):
        list(iter_array(endless, 10_000))
    assert endless.tell() < 100_000


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not a JSON array"),
        (b"{}", "not a JSON array"),
        (b"[", "cut short"),
        (b"[1, 2", "cut short"),
        (b"[1,", "cut short"),
        (b'[{"a": 1} {"b": 2}]', "instead of , or ]"),
        (b"[1] [2]", "follows the array"),
        (b"[1, oops]", "character 5"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "digit"),
    ],
)
def test_what_is_no_array_says_where_and_why(raw, said):
    with pytest.raises(BadJSON, match=said):
        items(raw)


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 100_000, b"9" * 5000, b"\xff"])
def test_a_whole_read_of_no_json_raises_one_error(raw):
    with pytest.raises(BadJSON):
        load(raw)


def test_what_no_database_stores_is_replaced_in_keys_and_values():
    raw = rb'[{"a\u0000": "\ud800x", "b": ["\u0000"], "ok": "\ud83d\ude00"}]'

    assert items(raw) == [{"a\ufffd": "\ufffdx", "b": ["\ufffd"], "ok": "😀"}]


def test_bytes_that_are_no_utf8_are_replaced_and_warned_of():
    (item,) = items(b'[{"text": "caf\xe9"}]')

    assert item == {"text": "caf\ufffd"}
    assert json_input.damage(item)
    assert not json_input.damage({"text": "café"})


def test_infinity_and_nan_are_no_numbers():
    assert items(b'[NaN, Infinity, {"a": -Infinity}]') == [None, None, {"a": None}]
    assert [json_input.number(v) for v in ("1e999", "nan", True, "2.5", [])] == [
        None,
        None,
        None,
        2.5,
        None,
    ]


@given(st.dictionaries(st.text(), values, min_size=2))
def test_the_digest_does_not_depend_on_the_order_of_keys(found):
    found = scrubbed(found)
    turned = {key: found[key] for key in reversed(found)}

    assert json_input.digest(found) == json_input.digest(turned)


@given(values)
def test_taking_apart_never_raises_and_returns_the_shape_asked_for(value):
    assert isinstance(json_input.text(value), str)
    assert isinstance(json_input.fields(value), dict)
    assert all(isinstance(item, dict) for item in json_input.objects(value))
    assert all(isinstance(item, str) for item in json_input.texts(value))
