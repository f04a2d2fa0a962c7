"""Turns are remembered once: what they teach."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from connections.models import Audit, AuditDetail
from memory.learning import keeping
from memory.models import Observation, Turn
from memory.observations import current
from memory.remembering import late_turns, remember_once, remember_turn
from retrieval.frequencies import count_lexemes
from tests.factories import NOON
from tests.memory.learning.turns import make_conversation, make_message, make_turn
from tests.memory.remembering.turns_told import DECISION, PROMISE, held, say

pytestmark = pytest.mark.django_db


def test_what_the_quotes_state_is_kept_with_its_source(project, member):
    node = make_message(project, f"Hello all. {DECISION} {PROMISE}")
    turn = make_turn(member, project, node)
    kept = remember_once(turn.pk)
    assert kept["added"] == 2
    decision, promise = current(project, member).order_by("-observation_type")
    assert decision.node.content == f"Ann Lee: {DECISION}"
    assert (promise.observation_type, promise.who) == ("commitment", "Ann Lee")
    assert timezone.localdate(promise.due_at).isoformat() == "2026-03-06"
    assert promise.status == "open"
    assert decision.turn == turn
    assert decision.conversation == turn.conversation
    assert decision.node.valid_from == NOON


def test_a_turn_is_remembered_once(project, member):
    turn = make_turn(member, project, make_message(project, DECISION))
    assert remember_once(turn.pk)["added"] == 1
    assert Turn.objects.get(pk=turn.pk).remembered_at is not None
    assert remember_once(turn.pk) is None
    assert len(held(project, member)) == 1


@pytest.mark.parametrize("at", range(4))
def test_killed_anywhere_and_run_again_it_neither_loses_nor_doubles(
    at, project, member, monkeypatch
):
    """The process dies after `at` of the writes, and the task is delivered again."""
    texts = (DECISION, PROMISE, "The main risk is the certificate of the gateway.")
    turn = make_turn(member, project, make_message(project, " ".join(texts)))
    calls = []

    def dying(name, real):
        def call(*args, **kwargs):
            if len(calls) == at:
                raise KeyboardInterrupt(name)
            calls.append(name)
            return real(*args, **kwargs)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(keeping, "remember", dying("remember", keeping.remember))
        patch.setattr(keeping, "record_audit", dying("audit", keeping.record_audit))
        with pytest.raises(KeyboardInterrupt):
            remember_once(turn.pk)
    assert held(project, member) == []
    assert Turn.objects.get(pk=turn.pk).remembered_at is None
    assert remember_once(turn.pk)["added"] == 3
    assert remember_once(turn.pk) is None
    assert len(held(project, member)) == 3


def test_the_same_said_again_reinforces(project, member):
    node = make_message(project, DECISION)
    remember_once(make_turn(member, project, node).pk)
    kept = remember_once(make_turn(member, project, node).pk)
    assert dict(kept.counts) == {"reinforced": 1}
    (row,) = current(project, member)
    assert row.references.count() == 1


def test_what_came_of_a_turn_is_audited(project, member):
    turn = make_turn(member, project, make_message(project, DECISION))
    remember_once(turn.pk)
    row = Audit.objects.get(verb="memory.turn_remembered")
    assert (row.actor, row.project, row.target) == (member, project, str(turn.pk))
    assert AuditDetail.objects.get(audit=row).detail == {"counts": {"added": 1}}


def test_a_fact_that_answers_the_question_is_kept(project, member):
    node = make_message(project, "The pump of ward 7 failed on Monday. We had soup.")
    for n in range(5):
        make_message(project, f"The weather was fine on day {n}.")
    count_lexemes(project, always=True)
    turn = make_turn(
        member, project, node, question="When did the pump of ward 7 fail?"
    )
    remember_once(turn.pk)
    assert held(project, member) == [("fact", "The pump of ward 7 failed on Monday.")]


OLD, NEW = (
    "We decided to use Redis for billing.",
    "We decided to use MySQL for billing.",
)


def test_the_later_said_supersedes_and_both_are_kept_and_dated(project, member):
    say(project, member, OLD)
    assert say(project, member, NEW, days=9)["superseded"] == 1
    assert held(project, member) == [("decision", f"Ann Lee: {NEW}")]
    older = Observation.objects.exclude(superseded_by=None).get()
    assert older.node.content == f"Ann Lee: {OLD}"
    assert (older.node.valid_from, older.node.valid_to) == (
        NOON,
        NOON + timedelta(days=9),
    )
    assert older.superseded_by.node.valid_from == NOON + timedelta(days=9)


def test_what_was_said_earlier_never_supersedes(project, member):
    say(project, member, NEW, days=9)
    assert say(project, member, OLD)["outdated"] == 1
    assert held(project, member) == [("decision", f"Ann Lee: {NEW}")]
    older = Observation.objects.exclude(superseded_by=None).get()
    assert older.node.content == f"Ann Lee: {OLD}"


@pytest.mark.parametrize("order", [(0, 9), (9, 0)])
def test_an_old_message_cited_again_does_not_come_back(order, project, member):
    texts = {0: OLD, 9: NEW}
    for days in order:
        say(project, member, texts[days], days=days)
    again = Observation.objects.count()
    assert say(project, member, OLD)["outdated"] == 1
    assert held(project, member) == [("decision", f"Ann Lee: {NEW}")]
    assert Observation.objects.count() == again


def test_a_decision_taken_back_holds_again(project, member):
    say(project, member, OLD)
    say(project, member, NEW, days=9)
    assert say(project, member, OLD, days=12)["superseded"] == 1
    assert held(project, member) == [("decision", f"Ann Lee: {OLD}")]


def test_another_user_s_memory_is_not_superseded(project, member, outsider):
    say(project, outsider, OLD)
    say(project, member, NEW, days=9)
    assert held(project, outsider) == [("decision", f"Ann Lee: {OLD}")]


def test_a_turn_whose_task_was_lost_is_found(project, member):
    conversation = make_conversation(member, project)
    ages = {"new": 1, "late": 60, "old": 60 * 24 * 30}
    turns = {}
    for name, minutes in ages.items():
        turn = make_turn(member, project, conversation=conversation)
        at = timezone.now() - timedelta(minutes=minutes)
        Turn.objects.filter(pk=turn.pk).update(created_at=at)
        turns[name] = turn.pk
    assert late_turns() == [turns["late"]]
    remember_once(turns["late"])
    assert late_turns() == []


def test_the_task_has_the_name_that_others_send():
    assert remember_turn.name == "memory.remember_turn"
