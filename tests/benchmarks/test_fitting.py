from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.fitting import Asked, Settings, Trials
from retrieval.arms.base import Hit
from retrieval.evaluation import Question
from retrieval.fusion import fuse

ARMS = ("good", "bad")


def question(number, relevant):
    return Question(str(number), "p", "?", frozenset(relevant))


def asked(number, right_arm):
    """A question that one arm answers at once, and the other last."""
    right, wrong = [f"r{number}"], [f"w{number}-{i}" for i in range(15)]
    found = {arm: right + wrong if arm == right_arm else wrong + right for arm in ARMS}
    return Asked.of(question(number, right), found, ARMS)


lists = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@given(lists, lists, st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from([1.0, 60.0]))
def test_collected_ranks_fuse_as_lists_do(one, two, weight, k):
    found = {"good": one, "bad": two}
    hits = {
        arm: [Hit(ord(key), key, 1.0) for key in keys] for arm, keys in found.items()
    }
    expected = fuse(hits, {"good": 1.0, "bad": weight}, k)
    ranked = Asked.of(question(1, "a"), found, ARMS).ranked(Settings((1.0, weight), k))
    assert ranked == [node.key for node in expected]


def test_the_arm_that_answers_gets_the_weight():
    trials = Trials([asked(n, "good") for n in range(4)], ["s"] * 4, list("aabb"))
    begin = Settings((1.0, 1.0), 60.0)
    best = trials.fitted(begin, np.ones(4, dtype=bool))
    assert best.weights[0] > best.weights[1]
    assert trials.scores(best).mean() == 1.0 > trials.scores(begin).mean()


def test_a_group_is_scored_by_weights_that_never_saw_it():
    # In group b the other arm answers: fitted on a alone, b must be answered badly.
    every = [asked(n, "good") for n in range(3)] + [asked(9, "bad")]
    trials = Trials(every, ["s"] * 4, list("aaab"))
    begin = Settings((1.0, 1.0), 60.0)
    rows, chosen = trials.held_out(begin)
    assert chosen["b"].weights[0] > chosen["b"].weights[1]
    assert chosen["a"].weights[0] < chosen["a"].weights[1]
    assert np.array_equal(rows[3], trials.scores(chosen["b"])[3])
    assert rows.mean() < trials.scores(begin).mean() < 1.0


def test_each_set_counts_as_much_whatever_its_size():
    every = [asked(n, "good") for n in range(9)] + [asked(9, "bad")]
    trials = Trials(every, ["big"] * 9 + ["small"], ["x"] * 9 + ["y"])
    good, bad = Settings((1.0, 0.0), 1.0), Settings((0.0, 1.0), 1.0)
    kept = np.ones(10, dtype=bool)
    assert trials.goodness(good, kept) == pytest.approx(trials.goodness(bad, kept))


def test_nothing_kept_is_worth_nothing():
    trials = Trials([asked(1, "good")], ["s"], ["a"])
    assert trials.goodness(Settings((1.0, 1.0), 1.0), np.zeros(1, dtype=bool)) == 0.0
