from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bm25 import stems
from benchmarks.reworded import misspelt, reworded, unshared
from benchmarks.sets import RetrievalSet
from retrieval.evaluation import Question
from tests.factories import make_node


def question(query: str, relevant: str = "n") -> Question:
    return Question(query, "p", query, frozenset({relevant}))


@given(st.text(alphabet="abcdefgh ?'", max_size=60))
def test_a_misspelt_question_has_the_same_letters_and_short_words(query):
    slip = misspelt(question(query)).query
    assert sorted(slip) == sorted(query)
    words = zip(re.findall(r"\S+", query), re.findall(r"\S+", slip), strict=True)
    for meant, said in words:
        assert (meant[0], meant[-1]) == (said[0], said[-1])
        if len(meant) < 5:
            assert meant == said


def test_a_question_is_misspelt_the_same_way_each_time():
    asked = question("Which engineer repaired the northern pumping station yesterday?")
    assert misspelt(asked) == misspelt(asked)
    assert misspelt(asked).query != asked.query


def test_shared_words_are_left_out_whatever_their_ending():
    said = stems(["The pumps were repaired on Friday."])[0]
    left = unshared(question("Who repairs a pump at sea?"), said)
    assert left is not None
    assert left.query == "Who a at sea?"


def test_nothing_is_asked_where_only_stop_words_are_left_or_no_evidence_is_known():
    assert unshared(question("Who did the pump?"), stems(["pump"])[0]) is None
    assert unshared(question("Who did the pump?"), set()) is None


@pytest.mark.django_db
def test_questions_that_share_no_word_with_their_evidence_are_kept_whole(project):
    make_node(project, "n", title="Failure", content="The pump broke on Friday.")
    asked = [question("Which pump failed?"), question("Is anything out of order?")]
    found = dict(reworded(RetrievalSet("s", asked, {"p": project})))
    assert [each.query for each in found["no shared word"].questions] == [
        "Is anything out of order?"
    ]
    assert len(found["misspelt"].questions) == 2
    assert found["shared words left out"].questions[0].query == "Which failed?"
