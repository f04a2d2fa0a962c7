from __future__ import annotations

import pytest

from benchmarks.arms import (
    Ranker,
    alone,
    arms_of,
    hits_of,
    only,
    rankers,
    registered,
    two_arms,
    unlimited,
    weights_of,
    without,
)
from graph.embed import embed_question
from retrieval import words
from retrieval.profiles import profiles
from retrieval.search import search
from tests.factories import make_node

DEFAULT = profiles["default"]


@pytest.fixture
def nodes(project):
    texts = ("The pump failed.", "A pump is a machine.", "Lunch is at noon.")
    from retrieval.frequencies import count_lexemes

    made = [make_node(project, f"n{i}", content=text) for i, text in enumerate(texts)]
    count_lexemes(project, always=True)
    return made


def test_every_profile_arm_and_ablation_is_ranked():
    names = [ranker.name for ranker in rankers()]
    assert len(set(names)) == len(names)
    assert set(profiles) <= set(names)
    for arm in arms_of(DEFAULT):
        assert {f"{arm} alone", f"default without {arm}"} <= set(names)


def test_an_ablated_profile_lacks_one_arm_and_no_more():
    cut = without(DEFAULT, "vector")
    assert set(arms_of(cut)) == set(arms_of(DEFAULT)) - {"vector"}
    assert cut.k == DEFAULT.k
    assert arms_of(only(DEFAULT, ("vector",))) == ("vector",)
    assert len(weights_of(DEFAULT)) == len(arms_of(DEFAULT))


def test_a_profile_is_known_only_while_registered():
    with registered(alone(DEFAULT, "keyword")) as name:
        assert name in profiles
    assert name not in profiles


def test_an_arm_alone_gives_its_own_hits_only(project, nodes):
    profile = alone(DEFAULT, "keyword")
    with registered(profile):
        found = Ranker("keyword", profile, "keyword").ask(project, "pump failed", 10)
    assert found == ["n0", "n1"]
    assert hits_of("keyword", project, "pump failed", 10) == ["n0", "n1"]
    assert hits_of("keyword", project, "pump failed", 1) == ["n0"]


def test_two_arms_rank_as_the_whole_search_of_them_does(project, nodes):
    vector, model = embed_question("pump failed")
    with registered(only(DEFAULT, ("keyword", "vector"))) as name:
        answer = search(project, "pump failed", user=None, profile=name)
    keys = [result.key for result in answer.results]
    assert two_arms(project, "pump failed", vector, model, 20) == keys


def test_without_a_limit_every_match_is_ranked():
    before = words.ANY_WORD_BELOW
    with unlimited():
        assert words.ANY_WORD_BELOW > 10**8
    assert before == words.ANY_WORD_BELOW
