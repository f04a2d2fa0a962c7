"""Arrays as one bound value: PostgreSQL reads back what was given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.copying import array_of_ids, array_of_texts, fetch

pytestmark = pytest.mark.django_db
# Neither half a character nor NUL is text to PostgreSQL; U+001F is refused.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\x1f"))
SPECIAL = ["", "null", "NULL", '"', "\\", 'a"b\\', "{a,b}", " x ", "a,b", "%s", "ü"]


def read(kind, value):
    return fetch(f"SELECT %s::{kind}[]", [value])[0][0]


@given(st.lists(TEXTS, max_size=8))
def test_texts_come_back_as_they_were(texts):
    assert read("text", array_of_texts(texts)) == texts


def test_texts_that_mean_something_to_an_array_come_back_as_they_were():
    assert read("text", array_of_texts(SPECIAL)) == SPECIAL


def test_a_text_with_the_mark_between_texts_is_refused():
    with pytest.raises(ValueError, match=r"U\+001F"):
        array_of_texts(["a", "b\x1fc"])


@pytest.mark.parametrize("ids", [[], [1], [3, 1, 2**60, -1]])
def test_ids_come_back_in_their_order(ids):
    assert read("bigint", array_of_ids(ids)) == ids
