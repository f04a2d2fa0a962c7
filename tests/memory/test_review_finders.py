from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import pytest

from graph.models import Node
from memory.claim_pairs import MOST_SHARING
from memory.learning.stances import stances
from memory.models import Observation
from memory.observations import share
from memory.review_finders import (
    Said,
    contradictions,
    find_contradictions,
    mark,
)
from tests.factories import NOON, make_audience, make_member, make_node
from tests.memory.memories import again, kept

LATER = NOON + timedelta(days=5)


class TestStances:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("We use Redis for the queue.", {"Redis": True}),
            ("We decided to use Redis.", {"Redis": True}),
            ("We stopped using Redis.", {"Redis": False}),
            ("Stop using Redis for the queue.", {"Redis": False}),
            ("We no longer use Redis.", {"Redis": False}),
            ("We do not use Redis any more.", {"Redis": False}),
            ("We drop Celery and keep Redis.", {"Celery": False, "Redis": True}),
            ("We replaced Redis with Celery.", {"Redis": False, "Celery": True}),
            ("We moved from Redis to Celery.", {"Redis": False, "Celery": True}),
            ("Use Celery instead of Redis.", {"Celery": True, "Redis": False}),
            ("Should we stop using Redis?", {}),
            ("If we drop Redis, it is slow.", {}),
            ("Redis is fast.", {}),
            ("We use it for the queue.", {}),
        ],
    )
    def test_a_sentence_takes_a_thing_up_or_gives_it_up(self, text, said):
        assert stances(text) == said


def claim(number, text, days=0, type="decision", audience=1):
    at = NOON + timedelta(days=days)
    return Said(number, f"memory:{number}", type, text, at, audience)


def pairs(*said):
    """Return which of them disagree, the older first."""
    known = {one.node_id: one for one in said}
    marks = [mark(one) for one in said]
    found = contradictions(marks, lambda nodes: {n: known[n] for n in nodes})
    return [(old.node_id, new.node_id) for old, new, _ in found]


class TestWhatContradicts:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("We use Redis for the queue.", "We stopped using Redis."),
            ("The launch is on 3 May 2026.", "The launch is on 10 June 2026."),
            ("The licence costs 300 euros.", "The licence costs 500 euros."),
            ("The office in Berlin is open.", "The office in Berlin is not open."),
        ],
    )
    def test_what_gives_up_dates_counts_or_denies_otherwise(self, old, new):
        assert pairs(claim(2, new, 5), claim(1, old)) == [(1, 2)]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("We use Redis for the queue.", "We use Redis for sessions."),
            ("We use Redis for the queue.", "We stopped using Celery."),
            ("The launch is on 3 May 2026.", "The launch is in Berlin."),
            ("The launch is on 3 May 2026.", "The audit is on 10 June 2026."),
            ("We use Redis for the queue.", "Should we stop using Redis?"),
        ],
    )
    def test_what_is_of_another_thing_does_not(self, old, new):
        assert pairs(claim(1, old), claim(2, new, 5)) == []

    def test_a_risk_is_not_held_against_a_fact(self):
        old = claim(1, "The launch is on 3 May 2026.", type="fact")
        new = claim(2, "The launch is on 10 June 2026.", 5, type="risk")
        assert pairs(old, new) == []

    def test_any_order_gives_the_same(self):
        said = [
            claim(1, "We use Redis for the queue."),
            claim(2, "We stopped using Redis.", 5),
            claim(3, "We keep Redis.", 9),
            claim(4, "The launch is on 3 May 2026."),
        ]
        found = {tuple(sorted(pairs(*order))) for order in permutations(said)}
        assert found == {((1, 2), (2, 3))}


def test_of_a_name_that_many_speak_of_none_is_left_out_for_the_newest():
    said = [claim(n, "We use Redis.", n) for n in range(1, MOST_SHARING + 20)]
    last = claim(999, "We stopped using Redis.", 9_000)
    first = claim(998, "We stopped using Redis.", -9)
    assert {(n, 999) for n in range(20, MOST_SHARING + 20)} <= set(pairs(*said, last))
    found = pairs(*said, first)
    assert {new for _, new in found} == set(range(1, MOST_SHARING + 20))
    assert len(found) == len(set(found))


@pytest.mark.django_db
class TestTheFinder:
    def found(self, project):
        return list(find_contradictions(project, LATER))

    @pytest.fixture
    def ann_and_bob(self, project):
        ann, bob = (make_member(project, f"{n}@acme.test") for n in ("ann", "bob"))
        one = kept(project, ann, "The launch is on 3 May 2026.")
        other = kept(project, bob, "The launch is on 10 June 2026.", now=LATER)
        return ann, bob, one, other

    def test_what_two_people_keep_to_themselves_is_nobodys_to_see(
        self, project, ann_and_bob
    ):
        assert Observation.objects.count() == 2
        assert self.found(project) == []

    def test_what_both_shared_is_found_for_those_who_may_see_both(
        self, project, ann_and_bob, outsider
    ):
        ann, bob, one, other = ann_and_bob
        share(one, by=ann)
        share(other, by=bob)
        (item,) = self.found(project)
        assert {item.node_id, item.other_id} == {one.pk, other.pk}
        assert "cannot both hold" in item.why
        assert "they say different things of one subject" in item.why
        public = make_audience(project)
        assert item.audience_id == public.pk
        assert item.fingerprint == self.found(project)[0].fingerprint

    def test_one_that_is_shared_against_one_that_is_not_is_for_its_owner(
        self, project, ann_and_bob
    ):
        ann, _, one, other = ann_and_bob
        share(one, by=ann)
        (item,) = self.found(project)
        assert item.audience_id == Node.objects.get(pk=other.pk).audience_id

    @pytest.mark.parametrize(
        "change",
        [
            {"left_at": NOON, "left_because": "faded"},
            {"superseded_by": "other"},
            {"leaves_at": 0},
        ],
    )
    def test_what_left_memory_or_was_replaced_is_not(
        self, project, ann_and_bob, change
    ):
        ann, bob, one, other = ann_and_bob
        share(one, by=ann)
        share(other, by=bob)
        change = {k: other.pk if v == "other" else v for k, v in change.items()}
        if "superseded_by" in change:
            change = {"superseded_by_id": change["superseded_by"]}
        Observation.objects.filter(pk=one.pk).update(**change)
        assert self.found(project) == []

    def test_decisions_of_texts_are_held_against_each_other(
        self, project, other_project, member, outsider
    ):
        closed = make_audience(project, "closed", [member])
        fields = {"node_type": "decision", "origin": "extraction"}
        make_node(project, "d1", "We will use Redis.", occurred_at=NOON, **fields)
        make_node(
            project,
            "d2",
            "We stopped using Redis.",
            occurred_at=LATER,
            audience=closed,
            **fields,
        )
        make_node(other_project, "d3", "We stopped using Redis.", **fields)
        (item,) = self.found(project)
        assert item.subject == "node:d1|d2"
        assert item.audience_id == closed.pk
        assert self.found(other_project) == []

    def test_what_was_pruned_ended_or_is_gone_is_not(self, project):
        fields = {"node_type": "decision", "occurred_at": NOON}
        make_node(project, "d1", "We will use Redis.", **fields)
        for field in ("trashed_at", "valid_to", "gone_at"):
            other = make_node(
                project, f"d-{field}", "We stopped using Redis.", **fields
            )
            assert len(self.found(project)) == 1
            Node.objects.filter(pk=other.pk).update(**{field: NOON})
            assert self.found(project) == []

    def test_what_one_memory_replaced_itself_does_not_come_back(self, project, member):
        kept(project, member, "The launch is on 3 May 2026.")
        one = again(kept(project, member, "The venue is in Berlin."))
        assert one.superseded_by_id is None
        assert self.found(project) == []
