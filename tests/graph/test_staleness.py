from __future__ import annotations

from datetime import timedelta

import pytest

from graph.models import Node
from graph.staleness import DEFAULT_THRESHOLD, THRESHOLDS, age_of
from tests.factories import NOON


def aged(days, node_type="message", **fields):
    node = Node(node_type=node_type, occurred_at=NOON - timedelta(days=days), **fields)
    return age_of(node, NOON)


@pytest.mark.parametrize(("node_type", "threshold"), THRESHOLDS.items())
def test_a_type_is_stale_the_day_after_its_threshold(node_type, threshold):
    if threshold is None:
        assert not aged(100_000, node_type).is_stale
        return
    assert not aged(threshold, node_type).is_stale
    assert aged(threshold + 1, node_type).is_stale


def test_the_published_thresholds_hold():
    assert THRESHOLDS == {
        "decision": 90,
        "pattern": 180,
        "technology": 120,
        "preference": 365,
        "agent": None,
    }
    assert aged(0, "message").threshold == DEFAULT_THRESHOLD == 90


@pytest.mark.parametrize("kept_by", ["confirmed_at", "last_evidence_at"])
def test_a_word_on_it_keeps_a_node_fresh(kept_by):
    age = aged(500, **{kept_by: NOON - timedelta(days=3)})
    assert (age.days, age.is_stale) == (3, False)
    assert aged(2, **{kept_by: NOON - timedelta(days=300)}).days == 2


def test_what_lies_ahead_is_no_day_old():
    assert aged(-5).days == 0


def test_what_has_no_date_has_that_of_its_last_change():
    node = Node(node_type="decision", updated_at=NOON - timedelta(days=91))
    assert age_of(node, NOON).is_stale
    unknown = age_of(Node(node_type="decision"), NOON)
    assert (unknown.days, unknown.is_stale) == (None, False)
