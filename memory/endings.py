"""The end of a conversation: what it referenced is counted, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from graph.copying import execute, fetch
from memory import observation_sql
from memory.co_occurrence import count_together
from memory.importance import REFERENCED, Strength
from memory.models import Conversation, Turn

BY_CONVERSATION, BY_DAY = "conversation", "day"
# Fewer of them end at once than would hold a worker for long.
IDLE_BATCH = 500


@dataclass(frozen=True, slots=True)
class Ended:
    """What an end did: whether it counted, and how many references."""

    has_counted: bool = False
    referenced: int = 0


@dataclass(frozen=True, slots=True)
class Clock:
    """A scope's ticks before and after a conversation."""

    scope_id: int
    before: int
    after: int
    day: date | None


@dataclass(frozen=True, slots=True)
class Counted:
    """An observation after the conversation, and whether that referenced it."""

    node_id: int
    strength: Strength
    is_referenced: bool


def end_conversation(
    conversation: Conversation, *, now: datetime | None = None
) -> Ended:
    """Count a conversation in the memory of its user and in the project's, once.

    What it referenced grows stronger, all else fades by the scope's tick alone: only
    what it referenced or brought is written. Ending it again does nothing. What is
    due to leave is let go of by a task.
    """
    moment = now or timezone.now()
    with transaction.atomic():
        rows = fetch(observation_sql.NOT_ENDED, [conversation.pk])
        if not rows:
            return Ended()
        tenant, project, user = rows[0]
        clocks = [_tick(moment, *row) for row in _scopes(tenant, project, user)]
        counted = _counted(conversation, clocks)
        _write(conversation, clocks, counted, moment)
        together = [each.node_id for each in counted if each.is_referenced]
        if together:
            count_together(together, now=moment)
    return Ended(True, len(together))


def _scopes(tenant: int, project: int, user: int) -> list[tuple[Any, ...]]:
    """Return the user's scope and the project's, both held."""
    key = [tenant, project, user]
    scopes = fetch(observation_sql.SCOPES_OF, key)
    if len(scopes) < 2:
        for owner in (user, None):
            execute(observation_sql.SCOPE, [tenant, project, owner])
        scopes = fetch(observation_sql.SCOPES_OF, key)
    return scopes


def _tick(
    moment: datetime, scope_id: int, is_shared: bool, ticks: int, day: date | None
) -> Clock:
    """Move a scope's clock by a conversation, or by a day's first one."""
    today = timezone.localdate(moment)
    usual = BY_DAY if is_shared else BY_CONVERSATION
    counted_in = settings.FABRIC["DECAY_TICK"] or usual
    moves = counted_in == BY_CONVERSATION or day != today
    return Clock(scope_id, ticks, ticks + moves, today)


def _counted(conversation: Conversation, clocks: Sequence[Clock]) -> list[Counted]:
    """Return what was referenced, stronger, and what was born here, as it was."""
    by_scope = {clock.scope_id: clock for clock in clocks}
    counted = []
    for node, scope, strength, at, pinned, protected, is_born, referred in fetch(
        observation_sql.IN_CONVERSATION, {"conversation": conversation.pk}
    ):
        known = Strength(
            strength=strength, counted_at=at, is_pinned=pinned, is_protected=protected
        )
        clock = by_scope.get(scope)
        # What had left before this conversation ended is not called back by it.
        if clock is not None and not known.has_left(clock.before):
            factor = 1.0 if is_born else REFERENCED
            counted.append(Counted(node, known.counted(clock.after, factor), referred))
    return counted


def _write(
    conversation: Conversation,
    clocks: Sequence[Clock],
    counted: Sequence[Counted],
    moment: datetime,
) -> None:
    execute(
        observation_sql.END,
        {
            "conversation": conversation.pk,
            "now": moment,
            "scopes": [clock.scope_id for clock in clocks],
            "ticks": [clock.after for clock in clocks],
            "days": [clock.day for clock in clocks],
            "nodes": [each.node_id for each in counted],
            "strengths": [each.strength.strength for each in counted],
            "counted_at": [each.strength.counted_at for each in counted],
            "leaves_at": [each.strength.leaves_at for each in counted],
            "referenced": [int(each.is_referenced) for each in counted],
        },
    )


def idle_conversations(now: datetime) -> list[Conversation]:
    """Return conversations that nobody went on with and that are not counted yet,
    the longest idle first."""
    since = now - timedelta(minutes=settings.FABRIC["CONVERSATION_IDLE_MINUTES"])
    running = Turn.objects.filter(state=Turn.State.RUNNING, created_at__gt=since)
    idle = Conversation.objects.filter(ended_at=None, updated_at__lt=since)
    idle = idle.exclude(pk__in=running.values("conversation_id"))
    return list(idle.order_by("updated_at")[:IDLE_BATCH])
