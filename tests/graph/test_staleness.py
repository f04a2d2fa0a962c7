from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from graph import staleness_sql
from graph.copying import fetch
from graph.models import Node, StaleThreshold
from graph.staleness import (
    DEFAULT_THRESHOLD,
    THRESHOLDS,
    Age,
    age_of,
    in_words,
    published,
    threshold_for,
    thresholds_of,
    warning,
)
from tests.factories import NOON, make_node

SQL_AGE = f"""
    SELECT {staleness_sql.AGE_DAYS}, {staleness_sql.THRESHOLD}, {staleness_sql.IS_STALE}
      FROM (SELECT %(node_type)s::text AS node_type,
                   %(occurred_at)s::timestamptz AS occurred_at,
                   %(updated_at)s::timestamptz AS updated_at,
                   %(confirmed_at)s::timestamptz AS confirmed_at,
                   %(last_evidence_at)s::timestamptz AS last_evidence_at) AS n
"""  # noqa: S608
MOMENTS = st.none() | st.datetimes(
    datetime(1990, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)
)
DAYS = st.none() | st.integers(1, 20_000)


def aged(days, node_type="message", thresholds=None, **fields):
    node = Node(node_type=node_type, occurred_at=NOON - timedelta(days=days), **fields)
    return age_of(node, NOON, thresholds or published())


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
    assert age_of(node, NOON, published()).is_stale
    unknown = age_of(Node(node_type="decision"), NOON, published())
    assert (unknown.days, unknown.is_stale) == (None, False)


def set_days(project, node_type, days):
    StaleThreshold.objects.create(
        tenant_id=project.tenant_id, project=project, node_type=node_type, days=days
    )


class TestThresholdsOfAProject:
    @pytest.mark.django_db
    def test_its_own_come_before_the_published_ones_and_are_nobody_elses(
        self, project, other_project
    ):
        set_days(project, "decision", 10)
        set_days(project, "agent", 20)
        set_days(project, "pattern", None)
        set_days(project, "default", 5)
        own = thresholds_of(project)
        assert [threshold_for(own, name) for name in ("decision", "agent")] == [10, 20]
        assert threshold_for(own, "pattern") is None
        assert threshold_for(own, "technology") == 120
        assert threshold_for(own, "message") == 5
        assert thresholds_of(other_project) == published()

    @pytest.mark.django_db
    def test_they_take_one_statement(self, project, django_assert_num_queries):
        set_days(project, "decision", 10)
        with django_assert_num_queries(1):
            thresholds_of(project)

    def test_what_is_beyond_them_is_stale(self):
        own = {**published(), "decision": 10, "pattern": None}
        assert aged(11, "decision", own).is_stale
        assert not aged(10, "decision", own).is_stale
        assert not aged(9_999, "pattern", own).is_stale


@pytest.mark.django_db
class TestTheSameInSQL:
    @settings(max_examples=150, deadline=None)
    @given(
        st.tuples(MOMENTS, MOMENTS, MOMENTS, MOMENTS),
        st.sampled_from([*THRESHOLDS, "message", "fact"]),
        DAYS,
        DAYS,
    )
    def test_any_node_is_as_old_and_as_stale_as_in_python(
        self, moments, node_type, default, own
    ):
        names = ("occurred_at", "updated_at", "confirmed_at", "last_evidence_at")
        fields = dict(zip(names, moments, strict=True))
        thresholds = {**published(), "default": default, "fact": own}
        age = age_of(Node(node_type=node_type, **fields), NOON, thresholds)
        values = {
            **fields,
            "node_type": node_type,
            "now": NOON,
            "thresholds": Jsonb(thresholds),
        }
        assert fetch(SQL_AGE, values) == [(age.days, age.threshold, age.is_stale)]

    @pytest.mark.parametrize("seconds", [-1, 0, 1])
    def test_a_day_begins_at_the_same_second(self, project, seconds):
        said = NOON - timedelta(days=91, seconds=seconds)
        node = make_node(project, "d", node_type="decision", occurred_at=said)
        age = age_of(node, NOON, published())
        statement = f"""
            SELECT {staleness_sql.AGE_DAYS}, {staleness_sql.IS_STALE}
              FROM graph_nodes n WHERE n.id = %(id)s
        """  # noqa: S608
        Node.objects.filter(pk=node.pk).update(updated_at=said)
        values = {"id": node.pk, "now": NOON, "thresholds": Jsonb(published())}
        assert fetch(statement, values) == [(age.days, age.is_stale)]
        assert age.days == (90 if seconds < 0 else 91)


def test_the_warning_is_as_published():
    assert warning("Redis", Age(214, 120)) == (
        'STALE NODE: "Redis" is 214 days old (threshold: 120d). Verify before using.'
    )
    assert warning("Redis", Age(120, 120)) == ""


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (0, "0 days"),
        (1, "1 day"),
        (59, "59 days"),
        (214, "7 months"),
        (730, "23 months"),
        (731, "2 years"),
    ],
)
def test_an_age_is_told_as_a_person_says_it(days, said):
    assert in_words(days) == said
