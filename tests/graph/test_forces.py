from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.forces import LENGTH, Ties, _push_of_field, _push_of_pairs, relax, separate

NO_TIES = Ties(*(np.empty(0, dtype=np.int64) for _ in range(2)), np.empty(0))


def tied(*pairs: tuple[int, int]) -> Ties:
    ends = np.array(pairs)
    return Ties(ends[:, 0], ends[:, 1], np.ones(len(ends)))


def test_two_that_are_tied_rest_nearer_to_each_other_than_to_a_third():
    at = relax(np.array([[0.0, 0.0], [500.0, 0.0], [0.0, 10.0]]), tied((0, 1)))
    away = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    assert 0.3 * LENGTH < away[0, 1] < 2 * LENGTH
    assert away[0, 2] > away[0, 1]
    assert away[1, 2] > away[0, 1]


def test_what_may_not_move_stays_to_the_last_bit():
    start = np.random.default_rng(1).normal(size=(30, 2)) * LENGTH
    movable = np.arange(30) >= 10
    at = relax(start, tied((0, 15), (3, 20)), movable=movable)
    assert (at[:10] == start[:10]).all()
    assert (at[10:] != start[10:]).any(axis=1).sum() == 20


def test_the_field_pushes_as_all_pairs_do():
    rng = np.random.default_rng(2)
    at, mass = rng.normal(size=(600, 2)) * 900, 1 + rng.random(600)
    pairs, field = _push_of_pairs(at, mass), _push_of_field(at, mass)
    off = np.hypot(*(field - pairs).T) / np.hypot(*pairs.T)
    assert np.median(off) < 0.1


@given(
    places=st.lists(
        st.tuples(st.floats(-300, 300), st.floats(-300, 300)), min_size=2, max_size=40
    )
)
@settings(max_examples=40, deadline=None)
def test_boxes_that_are_separated_hardly_overlap(places):
    at = separate(np.array(places), 40.0, 20.0, rounds=400)
    across = np.abs(at[:, None] - at[None])
    overlap = np.minimum(40 - across[..., 0], 20 - across[..., 1])
    np.fill_diagonal(overlap, 0)
    assert overlap.max() < 2.5


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_one_point_rest_where_they_are(count):
    start = np.full((count, 2), 7.0)
    assert (relax(start, NO_TIES) == start).all()
