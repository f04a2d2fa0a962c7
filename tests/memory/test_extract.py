from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.extract import PASSAGES, QUOTE_CHARACTERS, choose
from retrieval.frequencies import count_lexemes
from retrieval.search import search
from tests.factories import make_node

pytestmark = pytest.mark.django_db


def passages(project, question):
    count_lexemes(project, always=True)
    return choose(project, question, search(project, question, user=None).results)


def test_the_sentences_that_say_it_are_quoted_and_no_others(project):
    make_node(project, "m", "It was cold. The pump failed on Monday. We had soup.")
    (passage,) = passages(project, "When did the pump fail?")
    assert passage.quote == "The pump failed on Monday."
    assert passage.support == pytest.approx(1.0)


def test_who_said_it_counts_as_said_but_does_not_suffice(project):
    make_node(project, "a", "The pump failed.", context="Ann Lee")
    make_node(project, "b", "Soup today.", context="Ann Lee · pump channel")
    found = passages(project, "Ann, which pump failed?")
    assert [p.result.key for p in found] == ["a"]


def test_no_more_than_a_few_passages_one_a_result(project):
    for n in range(9):
        make_node(project, f"m{n}", f"The pump failed. The pump failed again {n}.")
    found = passages(project, "Has the pump failed?")
    assert len(found) == PASSAGES
    assert len({p.result.key for p in found}) == PASSAGES


def test_nothing_answers_a_question_of_no_words(project):
    make_node(project, "m", "The pump failed.")
    assert passages(project, "of the and") == []
    assert choose(project, "pump", []) == []


SENTENCES = st.lists(
    st.sampled_from(
        [
            "The pump failed.",
            "Why did it?",
            "pump",
            "e.g. v1.2.3 of the pump",
            "\n\n",
            "“Quoted pump!”",
            "No. 7 is a pump",
            "word " * 120,
            "pump" * 150,
            "…",
            "[4] pump.",
        ]
    ),
    min_size=1,
    max_size=6,
)


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(SENTENCES, st.sampled_from([" ", "\n", ""]))
def test_a_quote_stands_in_its_source_and_is_short(project, sentences, between):
    from graph.models import Node

    text = between.join(sentences)
    Node.objects.of(project).delete()
    project.sources.all().delete()
    make_node(project, "m", text)
    for passage in passages(project, "Why did the pump fail?"):
        assert passage.quote in text
        assert 0 < len(passage.quote) <= QUOTE_CHARACTERS
        assert 0 < passage.support <= 1 + 1e-9
