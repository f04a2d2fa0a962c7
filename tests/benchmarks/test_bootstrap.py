from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bootstrap import Interval, paired


def column(values):
    return np.array(values, dtype=float)[:, None]


def test_the_interval_holds_the_mean_and_is_that_of_the_normal_for_many_questions():
    rng = np.random.default_rng(1)
    ours, other = rng.normal(0.3, 1, 2000), rng.normal(0.1, 1, 2000)
    (found,) = paired(column(ours), column(other))
    difference = ours - other
    error = 1.96 * difference.std() / np.sqrt(len(difference))
    assert found.mean == pytest.approx(difference.mean())
    assert found.low == pytest.approx(difference.mean() - error, abs=0.006)
    assert found.high == pytest.approx(difference.mean() + error, abs=0.006)


def test_pairs_count_not_the_two_samples():
    noisy = np.random.default_rng(1).normal(0, 100, 200)
    (found,) = paired(column(noisy + 0.01), column(noisy))
    assert found.verdict == "above"
    assert (found.low, found.high) == (pytest.approx(0.01), pytest.approx(0.01))


def test_groups_that_agree_within_themselves_widen_the_interval():
    difference = np.repeat([0.5, -0.3, 0.4, -0.2], 50)
    names = [name for name in "abcd" for _ in range(50)]
    zero = np.zeros_like(difference)
    (alone,) = paired(column(difference), column(zero))
    (together,) = paired(column(difference), column(zero), groups=names)
    assert alone.verdict == "above"
    assert together.verdict == "within"
    assert together.mean == alone.mean == pytest.approx(0.1)
    assert (together.low, together.high) == (
        pytest.approx(-0.3, abs=0.06),
        pytest.approx(0.5, abs=0.06),
    )


def test_a_large_group_weighs_by_its_questions():
    difference = column([1.0] * 9 + [0.0])
    (found,) = paired(difference, difference * 0, groups=["big"] * 9 + ["small"])
    assert found.mean == pytest.approx(0.9)
    assert found.high == 1.0


def test_groups_of_one_question_are_no_groups():
    rng = np.random.default_rng(3)
    ours, other = rng.random((40, 3)), rng.random((40, 3))
    assert paired(ours, other) == paired(ours, other, groups=list(map(str, range(40))))


def test_every_column_has_its_own_interval_and_a_run_repeats_itself():
    ours = np.array([[1.0, 0.0, 0.5]] * 30)
    found = paired(ours, ours[:, ::-1])
    assert [interval.verdict for interval in found] == ["above", "within", "BELOW"]
    assert found == paired(ours, ours[:, ::-1])


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_the_interval_lies_within_the_differences(values):
    (found,) = paired(column(values), column([0] * len(values)), resamples=200)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_an_interval_is_shown_with_signs():
    assert str(Interval(0.1234, -0.05, 0.3)) == "+0.123 [-0.050, +0.300]"


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.zeros(3)])
def test_nothing_to_resample_is_an_error(rows):
    with pytest.raises(ValueError, match="rows of questions"):
        paired(rows, rows)


def test_groups_must_name_every_row():
    with pytest.raises(ValueError, match="2 rows, but 1 names"):
        paired(np.zeros((2, 1)), np.zeros((2, 1)), groups=["a"])
