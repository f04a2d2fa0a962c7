"""The end of a conversation: what it referenced is counted, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from connections.models import Project
from graph.copying import execute, fetch
from memory import observation_sql
from memory.co_occurrence import count_together
from memory.importance import REFERENCED, Strength
from memory.models import Conversation, MemoryScope, Turn
from memory.scopes import locked_scope

BY_CONVERSATION, BY_DAY = "conversation", "day"
# Fewer of them end at once than would hold a worker for long.
IDLE_BATCH = 500


@dataclass(frozen=True, slots=True)
class Ended:
    """What an end did: the scopes it counted in, and how many references."""

    scopes: tuple[int, ...] = ()
    referenced: int = 0


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
        held = (
            Conversation.objects.select_for_update(of=("self",), no_key=True)
            .select_related("project__tenant", "user")
            .filter(pk=conversation.pk, ended_at=None)
            .first()
        )
        if held is None:
            return Ended()
        # The user's before the project's, as everywhere: nobody waits in a circle.
        mine = locked_scope(held.project, held.user)
        shared = locked_scope(held.project, None)
        before = {mine.pk: mine.ticks, shared.pk: shared.ticks}
        _tick(mine, moment, usual=BY_CONVERSATION)
        _tick(shared, moment, usual=BY_DAY)
        ticks = {mine.pk: mine.ticks, shared.pk: shared.ticks}
        referenced = _count(held.project, held, before, ticks, moment)
        Conversation.objects.filter(pk=held.pk).update(ended_at=moment)
    return Ended(tuple(ticks), referenced)


def _tick(scope: MemoryScope, moment: datetime, *, usual: str) -> None:
    """Move the clock of `scope` by a conversation, or by a day's first one."""
    today = timezone.localdate(moment)
    counted_in = settings.FABRIC["DECAY_TICK"] or usual
    if counted_in == BY_DAY and scope.last_tick_on == today:
        return
    scope.ticks += 1
    scope.last_tick_on = today
    scope.save(update_fields=("ticks", "last_tick_on"))


def _count(
    project: Project,
    conversation: Conversation,
    before: dict[int, int],
    ticks: dict[int, int],
    moment: datetime,
) -> int:
    """Strengthen what was referenced, and keep what was born; return how many were
    referenced."""
    rows = fetch(observation_sql.IN_CONVERSATION, {"conversation": conversation.pk})
    counted: list[tuple[int, Strength, bool]] = []
    for node, scope, strength, at, pinned, protected, is_born, referred in rows:
        known = Strength(
            strength=strength, counted_at=at, is_pinned=pinned, is_protected=protected
        )
        # What had left before this conversation ended is not called back by it.
        if scope in ticks and not known.has_left(before[scope]):
            factor = 1.0 if is_born else REFERENCED
            counted.append((node, known.counted(ticks[scope], factor), referred))
    if counted:
        execute(observation_sql.COUNT, [moment, *_columns(counted)])
    together = [node for node, _, referred in counted if referred]
    if together:
        count_together(project, together, now=moment)
    return len(together)


def _columns(counted: Sequence[tuple[int, Strength, bool]]) -> list[list[object]]:
    return [
        [node for node, _, _ in counted],
        [strength.strength for _, strength, _ in counted],
        [strength.counted_at for _, strength, _ in counted],
        [strength.leaves_at for _, strength, _ in counted],
        [int(referred) for _, _, referred in counted],
    ]


def idle_conversations(now: datetime) -> list[Conversation]:
    """Return conversations that nobody went on with and that are not counted yet,
    the longest idle first."""
    since = now - timedelta(minutes=settings.FABRIC["CONVERSATION_IDLE_MINUTES"])
    running = Turn.objects.filter(state=Turn.State.RUNNING, created_at__gt=since)
    idle = Conversation.objects.filter(ended_at=None, updated_at__lt=since)
    idle = idle.exclude(pk__in=running.values("conversation_id"))
    return list(idle.order_by("updated_at")[:IDLE_BATCH])
