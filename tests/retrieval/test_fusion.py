from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.arms.base import Hit, whole_key
from retrieval.fusion import fuse

ARMS = ("keyword", "vector", "walk")


def hits(*nodes: int) -> list[Hit]:
    return [Hit(node, f"m{node}", 1 / place) for place, node in enumerate(nodes, 1)]


rankings = st.lists(st.integers(0, 30), unique=True, max_size=20).map(
    lambda nodes: hits(*nodes)
)
found = st.dictionaries(st.sampled_from(ARMS), rankings)
weights = st.fixed_dictionaries({arm: st.integers(1, 9) for arm in ARMS})
constants = st.sampled_from([0, 1, 10, 60, 60.5])


def order(fused):
    return [node.node_id for node in fused]


def naive(found, weights, k):
    scores: dict[int, float] = {}
    for arm, ranking in found.items():
        for place in range(len(ranking)):
            node = ranking[place].node_id
            scores[node] = scores.get(node, 0) + weights[arm] / (k + place + 1)
    return scores


def test_scores_and_order_are_those_computed_by_hand():
    fused = fuse(
        {"keyword": hits(1, 2), "vector": hits(2, 3)}, {"keyword": 1, "vector": 2}, 60
    )
    assert order(fused) == [2, 3, 1]
    assert [node.score for node in fused] == pytest.approx(
        [1 / 62 + 2 / 61, 2 / 62, 1 / 61]
    )
    contributions = {
        arm: (c.rank, c.score) for arm, c in fused[0].contributions.items()
    }
    assert contributions == {"keyword": (2, 0.5), "vector": (1, 1.0)}


@given(found, weights, constants)
def test_each_score_is_the_sum_over_the_arms(found, weights, k):
    fused = fuse(found, weights, k)
    assert {n.node_id: n.score for n in fused} == pytest.approx(
        naive(found, weights, k)
    )
    assert [n.score for n in fused] == sorted((n.score for n in fused), reverse=True)


@given(found, weights, constants, st.randoms())
def test_the_order_of_the_arms_does_not_matter(
    found, weights, k, chance: random.Random
):
    arms = list(found)
    chance.shuffle(arms)
    assert fuse({arm: found[arm] for arm in arms}, weights, k) == fuse(
        found, weights, k
    )


@given(found, weights, constants, st.sampled_from([0.125, 0.5, 2, 1024]))
def test_the_scale_of_the_weights_does_not_change_the_order(found, weights, k, scale):
    scaled = {arm: weight * scale for arm, weight in weights.items()}
    assert order(fuse(found, scaled, k)) == order(fuse(found, weights, k))


@given(found, weights, constants, st.data())
def test_a_node_that_an_arm_ranks_higher_does_not_fall(found, weights, k, data):
    risen = [arm for arm, ranking in found.items() if len(ranking) > 1]
    if not risen:
        return
    arm = data.draw(st.sampled_from(risen))
    place = data.draw(st.integers(1, len(found[arm]) - 1))
    ranking = list(found[arm])
    node = ranking[place].node_id
    ranking[place - 1], ranking[place] = ranking[place], ranking[place - 1]
    before, after = fuse(found, weights, k), fuse({**found, arm: ranking}, weights, k)
    assert order(after).index(node) <= order(before).index(node)


@given(found, weights, constants, st.integers(0, 40))
def test_a_limit_keeps_the_best(found, weights, k, limit):
    assert fuse(found, weights, k, limit) == fuse(found, weights, k)[:limit]


def test_equal_scores_are_in_the_order_of_the_bytes_of_their_keys():
    keys = ["ä", "Z", "a", "m10", "m2", "\U0001f600", "\uffff"]
    found = {f"arm{n}": [Hit(n, key, 1.0)] for n, key in enumerate(keys)}
    fused = fuse(found, dict.fromkeys(found, 1.0), 60)
    assert [node.key for node in fused] == sorted(keys, key=str.encode)


def test_an_arm_of_no_weight_is_named_but_lends_no_score():
    fused = fuse(
        {"keyword": hits(1, 2), "walk": hits(2, 3)}, {"keyword": 1, "walk": 0}, 60
    )
    assert order(fused) == [1, 2]
    assert fused[1].score == pytest.approx(1 / 62)
    assert fused[1].contributions["walk"].rank == 1


def test_a_part_knows_the_key_of_its_whole():
    found = {"keyword": [Hit(1, "file:a#b.md#2", 1, True), Hit(2, "mail#2", 1)]}
    keys = [
        whole_key(node.key, node.is_part) for node in fuse(found, {"keyword": 1}, 60)
    ]
    assert keys == ["file:a#b.md", "mail#2"]


@pytest.mark.parametrize(
    ("weights", "k", "said"),
    [
        ({}, 60, "no weight: keyword"),
        ({"keyword": -1}, 60, "'keyword' is -1"),
        ({"keyword": float("nan")}, 60, "'keyword' is nan"),
        ({"keyword": 1}, -1, "constant of the fusion is -1"),
    ],
)
def test_what_cannot_be_fused_is_refused_by_name(weights, k, said):
    with pytest.raises(ValueError, match=said):
        fuse({"keyword": hits(1)}, weights, k)


def test_nothing_found_fuses_to_nothing():
    assert fuse({}, {}, 60) == fuse({"keyword": []}, {"keyword": 1}, 60) == []
