"""What turns tell, and what a user holds of it."""

from __future__ import annotations

from datetime import timedelta

from memory.observations import current
from memory.remembering import remember_once
from tests.factories import NOON
from tests.memory.learning.turns import make_message, make_turn

DECISION = "We decided to use PostgreSQL for the ingest queue."

PROMISE = "I will send the report by Friday."


def held(project, user, **fields):
    rows = current(project, user).filter(**fields).order_by("pk")
    return [(row.observation_type, row.node.content) for row in rows]


def say(project, member, text, days=0):
    node = make_message(project, text, said_at=NOON + timedelta(days=days))
    return remember_once(make_turn(member, project, node).pk)
