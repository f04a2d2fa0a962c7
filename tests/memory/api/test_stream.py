from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.answers import Call, ChatAnswer, Cited
from memory.api.stream import event, sentences, told


def answer(text: str, *numbers: int, **arguments) -> ChatAnswer:
    return ChatAnswer(
        conversation=None,
        turn=None,
        question="?",
        answer=text,
        grounded=True,
        citations=tuple(
            Cited(
                n=n,
                key=f"k{n}",
                node_id=n,
                node_type="message",
                title="",
                context="",
                url="",
                quote=f"q{n}",
                timestamp=None,
            )
            for n in numbers
        ),
        calls=(Call(name="search", arguments=arguments, took_ms=1.0, result_count=1),),
        effort=1,
        model="m",
    )


@given(st.text())
def test_sentences_are_the_text_again(text):
    assert "".join(sentences(text)) == text


def test_a_text_is_split_after_its_sentences_and_their_numbers():
    assert sentences("One. [1] Two is 2.5! [2][3]\nThree") == [
        "One. [1] ",
        "Two is 2.5! [2][3]\n",
        "Three",
    ]


def test_a_citation_follows_the_sentence_that_first_refers_to_it():
    told_events = list(told(answer("A [2]. B [1]. C [2].", 1, 2, 3)))
    said = [
        data.get("text") or data.get("n")
        for name, data in told_events
        if name in ("delta", "citation")
    ]
    assert said == ["A [2]. ", 2, "B [1]. ", 1, "C [2].", 3]


def test_the_filters_of_a_search_are_told_first():
    first, *_ = told(answer("A", filters={"tags": ["x"]}))
    assert first == ("filters", {"filters": {"tags": ["x"]}})


def test_sources_come_without_their_words():
    sources = dict(told(answer("A [1].", 1)))["sources"]["sources"]
    assert [source["key"] for source in sources] == ["k1"]
    assert "quote" not in sources[0]


@given(st.text())
def test_an_event_is_one_line_of_data_whatever_it_holds(text):
    name, data, *rest = event("delta", {"text": text}).decode().split("\n")
    assert (name, rest) == ("event: delta", ["", ""])
    assert json.loads(data.removeprefix("data: ")) == {"text": text}
