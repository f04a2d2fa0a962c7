"""Arms at work: each with a time of its own; one that fails does not take the answer."""

from __future__ import annotations

import threading
from unittest.mock import patch

import pytest
from django.conf import settings
from django.db import OperationalError, connections

from graph.models import Node
from retrieval.arms.base import Arm, Hit, Plan, arms
from retrieval.running import BESIDE, GraphUnavailable, run_arms, stop_threads
from tests.factories import make_node
from tests.retrieval.asking import make_ask

FOUND = [Hit(1, "m", 1.0)]
GOOD = Arm(lambda ask, plan: FOUND)


def asleep(ask, plan):
    with connections[ask.nodes.db].cursor() as cursor:
        cursor.execute("SELECT pg_sleep(5)")
    return FOUND


def broken(ask, plan):
    with connections[ask.nodes.db].cursor() as cursor:
        cursor.execute("SELECT nothing_there")
    return FOUND


def run(project, **given):
    with patch.dict(arms, given):
        return run_arms(make_ask(project, "words"), dict.fromkeys(given, Plan()))


@pytest.mark.django_db
class TestInATransaction:
    def test_an_arm_that_fails_is_dropped_and_named(self, project):
        found = run(project, good=GOOD, bad=Arm(broken))
        assert found.hits == {"good": FOUND}
        assert found.dropped == {"bad": "failed: ProgrammingError"}
        assert set(found.timings) == {"good", "bad"}
        assert Node.objects.count() == 0, "the transaction can still be used"

    def test_a_fault_in_python_drops_only_its_arm(self, project):
        def faulty(ask, plan):
            return [1 / 0]

        found = run(project, good=GOOD, bad=Arm(faulty))
        assert (found.hits, found.dropped) == (
            {"good": FOUND},
            {"bad": "failed: ZeroDivisionError"},
        )

    def test_an_arm_that_exceeds_its_time_is_dropped(self, project):
        with patch.dict(settings.FABRIC, {"ARM_MS": 50}):
            found = run(project, slow=Arm(asleep), good=GOOD)
        assert found.dropped == {"slow": "took longer than 50 ms"}
        assert found.timings["slow"] < 4000

    def test_the_time_of_an_arm_does_not_outlive_it(self, project):
        run(project, good=GOOD)
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', '77s', true)")
            run(project, good=GOOD, bad=Arm(broken))
            cursor.execute("SHOW statement_timeout")
            assert cursor.fetchone() == ("77s",)

    def test_an_arm_that_comes_after_others_is_given_their_hits(self, project):
        def follow(ask, plan):
            return [Hit(2, "next", len(ask.hits["good"]))]

        found = run(project, late=Arm(follow, after=("good", "absent")), good=GOOD)
        assert found.hits["late"] == [Hit(2, "next", 1)]

    def test_an_arm_that_others_follow_may_be_dropped(self, project):
        def follow(ask, plan):
            return [Hit(2, "next", len(ask.hits["bad"]))]

        found = run(project, bad=Arm(broken), late=Arm(follow, after=("bad",)))
        assert found.hits == {"late": [Hit(2, "next", 0)]}

    def test_without_any_arm_left_the_graph_is_required(self, project):
        with pytest.raises(GraphUnavailable, match="graph is required"):
            run(project, one=Arm(broken), two=Arm(broken))


@pytest.mark.django_db(transaction=True, databases=["default", BESIDE])
class TestBeside:
    @pytest.fixture(autouse=True)
    def _end_threads(self):
        yield
        stop_threads()

    def test_arms_run_side_by_side_each_on_its_own_connection(self, project):
        meeting = threading.Barrier(2, timeout=10)
        seen = []

        def meet(ask, plan):
            meeting.wait()  # breaks unless both are at work at once
            seen.append(ask.nodes.db)
            return [Hit(1, "m", ask.visible.count())]

        make_node(project, "m", "words")
        found = run(project, one=Arm(meet), two=Arm(meet))
        assert sorted(seen) == [BESIDE, "default"]
        assert found.hits["one"] == found.hits["two"] == [Hit(1, "m", 1)]

    def test_a_connection_that_was_lost_is_made_anew(self, project):
        def count(ask, plan):
            with connections[ask.nodes.db].cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                return [Hit(cursor.fetchone()[0], "pid", 1.0)]

        (before,) = run(project, one=GOOD, two=Arm(count)).hits["two"]
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [before.node_id])
        found = run(project, one=GOOD, two=Arm(count))
        assert found.dropped == {}
        assert found.hits["two"][0].node_id != before.node_id

    def test_a_graph_that_cannot_be_reached_is_said(self, project):
        def unreachable(ask, plan):
            raise OperationalError("connection refused")

        with pytest.raises(GraphUnavailable):
            run(project, one=Arm(unreachable), two=Arm(unreachable))
