from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ranking import (
    authority,
    boosted,
    in_order,
    recency,
    scale_relevance,
    weighed,
)
from tests.factories import NOON
from tests.retrieval.make_results import make_result

scores = st.floats(0, 100, allow_nan=False)


@pytest.mark.parametrize(
    ("ago", "value"),
    [
        (timedelta(0), 1.0),
        (timedelta(hours=23, minutes=59), 1.0),
        (timedelta(days=1), 29 / 30),
        (timedelta(days=15, hours=12), 0.5),
        (timedelta(days=27), 0.1),
        (timedelta(days=30), 0.1),
        (timedelta(days=4000), 0.1),
        (timedelta(days=-40), 1.0),
        (timedelta(seconds=-1), 1.0),
    ],
)
def test_recency_falls_by_a_thirtieth_a_whole_day(ago, value):
    assert recency(NOON - ago, NOON) == pytest.approx(value)


def test_what_has_no_date_has_the_least_recency():
    assert recency(None, NOON) == 0.1


@given(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_recency_is_from_a_tenth_to_one(moment):
    assert 0.1 <= recency(moment, NOON) <= 1


def test_authority_is_greater_where_two_texts_agree():
    assert (authority(cross_validated=False), authority(cross_validated=True)) == (
        1.1,
        1.3,
    )


@given(st.lists(scores))
def test_relevance_is_from_0_to_1_in_the_same_order(values):
    scaled = scale_relevance(values)
    assert all(0 <= value <= 1 for value in scaled)
    by_score = sorted(range(len(values)), key=lambda i: values[i])
    assert [scaled[i] for i in by_score] == sorted(scaled)
    if any(values):
        assert max(scaled) == 1


def test_negative_and_missing_scores_scale_to_nothing():
    assert scale_relevance([]) == []
    assert scale_relevance([-1, -2]) == [0, 0]
    assert scale_relevance([2, 1, -1]) == [1, 0.5, 0]


def test_the_score_is_the_published_sum():
    result = make_result(relevance=0.8, timestamp=NOON - timedelta(days=3))
    assert weighed(result, NOON).score == pytest.approx(
        0.3 * 0.9 + 0.5 * 0.8 + 0.2 * 1.1
    )
    agreed = weighed(make_result(relevance=1.2, cross_validated=True), NOON)
    assert agreed.score == pytest.approx(0.3 * 0.1 + 0.5 * 1.2 + 0.2 * 1.3)
    assert (agreed.recency, agreed.authority) == (0.1, 1.3)


def test_a_boost_is_not_clamped():
    result = boosted(make_result(relevance=1.0, score=0.9), 1.2)
    assert (result.relevance, result.score) == pytest.approx((1.2, 1.08))


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5]), st.text(max_size=3))))
def test_results_are_by_score_then_by_the_bytes_of_their_keys(pairs):
    ordered = in_order(make_result(key, score=score) for score, key in pairs)
    sort_key = [(-r.score, r.key.encode("utf-8", "surrogatepass")) for r in ordered]
    assert sort_key == sorted(sort_key)
    assert len(ordered) == len(pairs)
