"""Bringing memory and graph up to date, when somebody asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from django.db import transaction

from connections.models import Project, User
from graph.extraction import extract_texts
from memory.models import Turn
from memory.remembering import remember_turn

MOST_TURNS = 200


@dataclass(frozen=True, slots=True)
class Synced:
    """How many turns were sent to be remembered, and texts read for names."""

    turns: int
    texts: int


def sync(project: Project, user: User) -> Synced:
    """Send the user's turns that memory did not take yet, and write what texts and
    observations name into the graph. Done twice it changes nothing more."""
    answered = (Turn.State.DONE, Turn.State.STOPPED)
    waiting = Turn.objects.filter(
        conversation__user=user,
        conversation__tenant_id=project.tenant_id,
        conversation__project=project,
        remembered_at=None,
        state__in=answered,
    )
    turns = list(waiting.order_by("-pk").values_list("pk", flat=True)[:MOST_TURNS])
    for turn_id in turns:
        transaction.on_commit(partial(remember_turn.delay, turn_id))
    return Synced(len(turns), extract_texts(project))
