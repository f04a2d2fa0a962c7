"""What is never learned from."""

from __future__ import annotations

import pytest

from connections.models import AuditDetail
from memory.models import Turn
from memory.remembering import remember_once
from tests.factories import make_audience
from tests.memory.learning.turns import make_message, make_turn
from tests.memory.remembering.turns_told import DECISION, PROMISE, held

pytestmark = pytest.mark.django_db


def test_a_recalled_observation_teaches_nothing(project, member):
    recalled = make_message(project, DECISION, node_type="decision", origin="memory")
    assert remember_once(make_turn(member, project, recalled).pk).counts == {}


@pytest.mark.parametrize(
    "fields", [{"origin": "extraction"}, {"node_type": "community"}]
)
def test_what_was_derived_teaches_nothing(fields, project, member):
    node = make_message(project, DECISION, **fields)
    assert remember_once(make_turn(member, project, node).pk).counts == {}


def test_what_no_sentence_of_the_answer_rests_on_teaches_nothing(project, member):
    first, second = make_message(project, DECISION), make_message(project, PROMISE)
    support = [{"text": "A.", "numbers": [2]}, {"text": DECISION, "numbers": []}]
    remember_once(make_turn(member, project, first, second, support=support).pk)
    assert [kind for kind, _ in held(project, member)] == ["commitment"]
    uncited = make_turn(member, project, first, answer="Nothing supports that.")
    assert remember_once(uncited.pk).counts == {}


def test_the_question_and_the_answer_alone_teach_nothing(project, member):
    node = make_message(project, "Soup was served at noon.")
    turn = make_turn(
        member, project, node, question=DECISION, answer=f"{PROMISE} {DECISION} [1]"
    )
    assert remember_once(turn.pk).counts == {}
    assert remember_once(make_turn(member, project, question=DECISION).pk).counts == {}


def test_what_the_user_may_not_see_any_more_teaches_nothing(project, outsider):
    closed = make_audience(project, "slack:G1")
    node = make_message(project, DECISION, audience=closed)
    assert remember_once(make_turn(outsider, project, node).pk).counts == {}


def test_what_one_learned_another_does_not_hold(
    project, member, outsider, stranger, other_project
):
    remember_once(make_turn(member, project, make_message(project, DECISION)).pk)
    assert len(held(project, member)) == 1
    assert held(project, outsider) == []
    assert held(project, stranger) == held(other_project, stranger) == []


@pytest.mark.parametrize("state", [Turn.State.RUNNING, Turn.State.FAILED])
def test_a_turn_without_an_answer_waits(state, project, member):
    turn = make_turn(member, project, make_message(project, DECISION), state=state)
    assert remember_once(turn.pk) is None
    assert Turn.objects.get(pk=turn.pk).remembered_at is None


def test_a_turn_that_is_gone_is_no_error(db):
    assert remember_once(404) is None


def test_a_secret_is_screened_out_and_counted(project, member):
    node = make_message(project, f"{DECISION} The password: hunter2 is new.")
    turn = make_turn(member, project, node)
    assert dict(remember_once(turn.pk).counts) == {"screened": 1}
    assert held(project, member) == []
    detail = AuditDetail.objects.get(audit__verb="memory.turn_remembered").detail
    assert detail == {"counts": {"screened": 1}}
