from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from connections.databases import breaker
from connections.databases.base import DatabaseError
from connections.databases.failures import Paused
from connections.models import DatabaseQuery
from tests.connections.databases.running import ask, within
from tests.targets import make_database

CLOSED_PORT = 1


@pytest.fixture
def away(project, postgres_target):
    """A database whose server is not there."""
    return make_database(project, postgres_target, port=CLOSED_PORT, seconds_most=5)


def _fail(database, times: int) -> None:
    for _ in range(times):
        with pytest.raises(DatabaseError, match="could not be reached"):
            ask(database, "SELECT 1")


@pytest.mark.django_db
def test_three_failures_in_a_row_pause_a_database(away):
    _fail(away, 2)
    away.refresh_from_db()
    assert (away.failures, away.paused_until) == (2, None)
    _fail(away, 1)
    away.refresh_from_db()
    wait = (away.paused_until - timezone.now()).total_seconds()
    assert 25 < wait <= 30
    with within(1), pytest.raises(Paused, match="3 times in a row"):
        ask(away, "SELECT 1")
    # That it was asked is written down all the same.
    assert DatabaseQuery.objects.filter(error__contains="left alone").count() == 1


@pytest.mark.django_db
def test_after_the_pause_one_probe_goes_and_a_failure_pauses_longer(away):
    _fail(away, 3)
    type(away).objects.update(paused_until=timezone.now() - timedelta(seconds=1))
    away.refresh_from_db()
    breaker.admit(away, timezone.now())
    away.refresh_from_db()
    # While the probe is under way nobody else goes.
    with pytest.raises(Paused):
        breaker.admit(away, timezone.now())
    breaker.missed(away)
    away.refresh_from_db()
    wait = (away.paused_until - timezone.now()).total_seconds()
    assert 55 < wait <= 60


@pytest.mark.django_db
def test_a_probe_that_arrives_closes_the_circuit(project, postgres_target):
    database = make_database(
        project,
        postgres_target,
        failures=5,
        paused_until=timezone.now() - timedelta(seconds=1),
    )
    assert ask(database, "SELECT 1").rows == [(1,)]
    database.refresh_from_db()
    assert (database.failures, database.paused_until) == (0, None)


@pytest.mark.django_db
def test_a_wrong_statement_is_no_failure_to_reach_it(project, postgres_target):
    database = make_database(project, postgres_target)
    for _ in range(4):
        with pytest.raises(DatabaseError):
            ask(database, "SELECT nonsense")
    database.refresh_from_db()
    assert database.failures == 0


@given(st.integers(0, 100_000))
def test_pauses_grow_and_never_beyond_the_longest(failures):
    assert breaker.pause_after(failures) <= breaker.pause_after(failures + 1)
    assert breaker.FIRST_PAUSE <= breaker.pause_after(failures) <= breaker.LONGEST_PAUSE
