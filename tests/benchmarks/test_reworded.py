from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bm25 import stems
from benchmarks.reworded import misspelt, reworded, unshared
from benchmarks.sets import RetrievalSet
from graph.embed import embed_backlog
from retrieval.evaluation import Question
from tests.factories import make_node


def question(query: str, relevant: str = "n") -> Question:
    return Question(query, "p", query, frozenset({relevant}))


def alike(a: str, b: str) -> int:
    """Return how many letters both begin with."""
    pairs = zip(a, b, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


@given(st.text(alphabet="abcdefgh ?'", max_size=60))
def test_a_misspelt_word_is_long_and_one_slip_away_and_begins_the_same(query):
    slip = misspelt(question(query)).query
    words = list(zip(re.findall(r"\w+", query), re.findall(r"\w+", slip), strict=True))
    for meant, said in words:
        assert meant[0] == said[0]
        assert meant == said or len(meant) >= 5
        assert abs(len(meant) - len(said)) <= 1
        assert alike(meant, said) + alike(meant[::-1], said[::-1]) >= len(meant) - 2


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
    embed_backlog()
    found = dict(reworded(RetrievalSet("s", asked, {"p": project})))
    assert [each.query for each in found["no shared word"].questions] == [
        "Is anything out of order?"
    ]
    assert len(found["misspelt"].questions) == 2
    assert found["shared words left out"].questions[0].query == "Which failed?"
