from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.sentences import numbers_of, sentences


@given(st.text())
def test_sentences_are_the_text_again(text):
    assert "".join(sentences(text)) == text


def test_a_text_is_split_after_its_sentences_and_their_numbers():
    assert sentences("One. [1] Two is 2.5! [2][3]\nThree") == [
        "One. [1] ",
        "Two is 2.5! [2][3]\n",
        "Three",
    ]


def test_numbers_are_told_once_in_order():
    assert numbers_of("A [3][1]. B [3].") == (3, 1)
