from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.copying import fetch
from graph.models import ReviewItem
from graph.review import flagging
from graph.review.flagging import Flags, flag, priority_of
from tests.factories import NOON, make_node, make_project, make_review_item
from tests.graph.review.items import decide, flagged, items

pytestmark = pytest.mark.django_db
# Who locked or replaced each row last; 0: nobody did.
LOCKED = "SELECT i.xmax::text FROM graph_review_items i ORDER BY i.id"


@pytest.fixture
def nodes(project):
    return [make_node(project, f"d{n}", node_type="decision") for n in range(3)]


def put(project, *found, **options):
    return flag(project, "stale", found, now=NOON, **options)


class TestNewItems:
    def test_each_subject_is_one_open_item_with_all_that_was_found(
        self, project, nodes
    ):
        found = [
            flagged(
                nodes[0],
                age_days=180,
                threshold=90,
                uses=3,
                detail={"a": [1, "b"]},
                other_id=nodes[1].pk,
            ),
            flagged(nodes[1]),
        ]
        assert put(project, *found) == Flags(created=2)
        one, other = items(project)
        assert (one.state, one.version, one.why) == ("open", 0, "It is old.")
        assert (one.node, one.other, one.detail) == (*nodes[:2], {"a": [1, "b"]})
        assert (one.age_days, one.threshold, one.uses) == (180, 90, 3)
        assert one.priority == pytest.approx((1 + math.log(4)) * 2)
        assert (one.flagged_at, one.audience_id) == (NOON, nodes[0].audience_id)
        assert (other.age_days, other.priority) == (None, 1)

    def test_the_same_again_changes_nothing(self, project, nodes):
        found = [flagged(node, age_days=91, threshold=90) for node in nodes]
        put(project, *found)
        before = list(ReviewItem.objects.order_by("id").values())
        assert put(project, *found) == Flags(unchanged=3)
        assert list(ReviewItem.objects.order_by("id").values()) == before

    def test_the_same_again_does_not_even_lock_what_is_there(self, project, nodes):
        found = [flagged(node, age_days=91, threshold=90) for node in nodes]
        put(project, *found)
        put(project, *found)
        assert fetch(LOCKED, []) == [("0",)] * 3
        put(project, flagged(nodes[0], uses=5), *found[1:])
        assert [item.version for item in items(project)] == [1, 0, 0]

    def test_more_than_a_batch_is_written_whole(self, project, nodes, monkeypatch):
        monkeypatch.setattr(flagging, "BATCH", 2)
        assert put(project, *map(flagged, nodes)) == Flags(created=3)
        assert put(project) == Flags(withdrawn=3)

    def test_one_found_twice_is_one_item(self, project, nodes):
        assert put(project, flagged(nodes[0]), flagged(nodes[0])).created == 1

    def test_a_node_that_went_meanwhile_leaves_no_item(self, project, nodes):
        found = [flagged(nodes[0]), flagged(nodes[1], other_id=10**9)]
        nodes[0].delete()
        assert put(project, *found, flagged(nodes[2])) == Flags(created=1)

    def test_a_node_of_another_project_is_none_of_this_ones(
        self, project, other_project
    ):
        theirs = make_node(other_project, "d")
        assert put(project, flagged(theirs)) == Flags()
        assert not ReviewItem.objects.exists()

    def test_the_same_subject_is_another_item_in_another_project_or_kind(
        self, project, nodes, other_project
    ):
        put(project, flagged(nodes[0]))
        assert flag(project, "vanished", [flagged(nodes[0])], now=NOON).created == 1
        theirs = make_node(other_project, nodes[0].key)
        assert put(other_project, flagged(theirs)).created == 1
        assert put(project) == Flags(withdrawn=1)
        assert [item.state for item in items(other_project)] == ["open"]
        assert [item.state for item in items(project, "vanished")] == ["open"]


class TestItemsThatAreMetAgain:
    @pytest.mark.parametrize(
        "change",
        [
            {"why": "It is older."},
            {"age_days": 92},
            {"uses": 9},
            {"fingerprint": "b" * 64},
            {"detail": {"x": 1}},
        ],
    )
    def test_an_open_one_learns_what_is_new(self, project, nodes, change):
        put(project, flagged(nodes[0]))
        assert put(project, flagged(nodes[0], **change)) == Flags(changed=1)
        (item,) = items(project)
        assert item.version == 1
        (name,) = change
        assert getattr(item, name) == change[name]

    def test_a_snoozed_one_learns_it_and_sleeps_on(self, project, nodes):
        later = NOON + timedelta(days=7)
        make_review_item(project, nodes[0], state="snoozed", snoozed_until=later)
        put(project, flagged(nodes[0], uses=4))
        (item,) = items(project)
        assert (item.state, item.snoozed_until, item.uses) == ("snoozed", later, 4)

    def test_a_decided_one_comes_back_with_other_evidence_only(self, project, nodes):
        put(project, flagged(nodes[0]))
        decide(items(project)[0])
        assert put(project, flagged(nodes[0], uses=9, age_days=4)) == Flags(unchanged=1)
        (item,) = items(project)
        assert (item.state, item.uses, item.version) == ("decided", 0, 1)
        assert put(project, flagged(nodes[0], fingerprint="b" * 64)).reopened == 1
        (item,) = items(project)
        assert (item.state, item.version, item.fingerprint) == ("open", 2, "b" * 64)

    def test_a_decided_one_that_is_not_found_stays_decided(self, project, nodes):
        put(project, flagged(nodes[0]))
        decide(items(project)[0])
        assert put(project) == Flags()
        assert items(project)[0].state == "decided"

    def test_a_withdrawn_one_comes_back_when_its_cause_does(self, project, nodes):
        put(project, flagged(nodes[0]))
        put(project)
        assert put(project, flagged(nodes[0])) == Flags(reopened=1)
        assert items(project)[0].state == "open"

    def test_but_not_on_evidence_that_somebody_decided_on(self, project, nodes):
        put(project, flagged(nodes[0]))
        decision = decide(items(project)[0])
        put(project, flagged(nodes[0], fingerprint="b" * 64))
        put(project)
        assert put(project, flagged(nodes[0])) == Flags(unchanged=1)
        assert items(project)[0].state == "withdrawn"
        decision.undone_at = NOON
        decision.save()
        assert put(project, flagged(nodes[0])).reopened == 1

    def test_to_snooze_or_assign_is_no_decision_on_evidence(self, project, nodes):
        put(project, flagged(nodes[0]))
        decide(items(project)[0], verb="snooze")
        ReviewItem.objects.update(state="withdrawn")
        assert put(project, flagged(nodes[0])).reopened == 1


class TestWhatIsNotFoundAnyMore:
    def test_it_is_withdrawn_and_nothing_is_deleted(self, project, nodes):
        put(project, *map(flagged, nodes))
        ReviewItem.objects.filter(node=nodes[1]).update(
            state="snoozed", snoozed_until=NOON
        )
        assert put(project, flagged(nodes[2])) == Flags(unchanged=1, withdrawn=2)
        states = [(i.state, i.version, i.snoozed_until) for i in items(project)]
        assert states == [("withdrawn", 1, None)] * 2 + [("open", 0, None)]

    def test_a_part_of_what_there_is_withdraws_nothing(self, project, nodes):
        put(project, *map(flagged, nodes))
        assert put(project, flagged(nodes[2]), complete=False) == Flags(unchanged=1)

    def test_what_came_while_it_looked_stays(self, project, nodes):
        def found():
            yield flagged(nodes[0])
            make_review_item(project, nodes[1])

        assert flag(project, "stale", found(), now=NOON) == Flags(created=1)
        assert [item.state for item in items(project)] == ["open", "open"]

    def test_a_finder_that_fails_withdraws_nothing_and_keeps_what_it_wrote(
        self, project, nodes, monkeypatch
    ):
        monkeypatch.setattr(flagging, "BATCH", 1)
        put(project, flagged(nodes[2]))

        def found():
            yield flagged(nodes[0])
            yield flagged(nodes[1])
            raise RuntimeError("the power went")

        with pytest.raises(RuntimeError):
            flag(project, "stale", found(), now=NOON)
        assert [item.state for item in items(project)] == ["open"] * 3
        assert put(project, *map(flagged, nodes[:2])) == Flags(unchanged=2, withdrawn=1)


@given(st.integers(0, 10_000), st.integers(1, 5_000), st.integers(1, 5_000))
def test_what_is_used_more_and_is_older_comes_first(uses, age, threshold):
    def priority(**fields):
        class Found:
            subject = ""

        found = Found()
        for name, value in {"age_days": None, "threshold": None, **fields}.items():
            setattr(found, name, value)
        return priority_of(found)

    base = priority(uses=uses, age_days=age, threshold=threshold)
    assert priority(uses=uses + 1, age_days=age, threshold=threshold) > base
    assert priority(uses=uses, age_days=age + 1, threshold=threshold) > base
    assert base == pytest.approx((1 + math.log(1 + uses)) * age / threshold)
    assert priority(uses=uses) == pytest.approx(1 + math.log(1 + uses))


def test_a_project_of_its_own_is_found_by_nobody_else(nodes, project):
    put(project, *map(flagged, nodes))
    assert put(make_project("other/one")) == Flags()
