"""Stopping an answer ends the statement that it waits for."""

from __future__ import annotations

import pytest

from connections.models import DatabaseQuery
from memory.agent.storing import ask_to_stop, place_of
from memory.conversations import start_conversation
from memory.models import Turn

pytestmark = pytest.mark.django_db


def running(shop, user, shown_in):
    return DatabaseQuery.objects.create(
        tenant=shop.tenant,
        project=shop.project,
        database=shop,
        database_name=shop.name,
        user=user,
        asked_sql="SELECT 1",
        shown_in=shown_in,
    )


def is_asked_to_end(query):
    query.refresh_from_db()
    return query.cancel_asked_at is not None


def test_a_stopped_answer_cancels_its_own_statement_and_no_other(project, shop, member):
    conversation = start_conversation(project, member, "How many?")
    turn, other = (
        Turn.objects.create(
            conversation=conversation, question="q", state=Turn.State.RUNNING
        )
        for _ in range(2)
    )
    mine, others = (running(shop, member, place_of(one)) for one in (turn, other))
    page = running(shop, member, "page")
    assert ask_to_stop(turn) == Turn.State.STOPPED
    assert is_asked_to_end(mine)
    assert not is_asked_to_end(others)
    assert not is_asked_to_end(page)


def test_an_answer_that_is_done_cancels_nothing(project, shop, member):
    conversation = start_conversation(project, member, "How many?")
    turn = Turn.objects.create(conversation=conversation, question="q")
    query = running(shop, member, place_of(turn))
    assert ask_to_stop(turn) == Turn.State.DONE
    assert not is_asked_to_end(query)
