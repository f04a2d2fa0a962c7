"""A turn as a row from its first moment: running, kept while it grows, finished once.

Whatever happens to the process, what had come is there. A turn whose process died is
told by its conversation, which a living one touches every few seconds.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils import timezone

from connections.databases.runner import cancel
from connections.models import DatabaseQuery, Project, User, record_audit
from memory.answers import ChatAnswer, Cited
from memory.conversations import start_conversation
from memory.models import Citation, Conversation, Turn, TurnTable
from memory.observation_writer import PART
from memory.observations import refer
from memory.sql.tables import keep_tables

TOUCH_SECONDS, DEAD_SECONDS = 5.0, 60.0
REMEMBER = "memory.remember_turn"
DIED = "The process that answered ended before it was done. Ask again."
_RUNNING, _FAILED = Turn.State.RUNNING, Turn.State.FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a turn ended, and what is kept of it besides its answer."""

    state: Turn.State
    parsed: dict[str, Any]
    # Nodes that were read and not cited, and what could be asked next.
    also_read: tuple[int, ...] = ()
    followups: tuple[str, ...] = ()
    tokens_read: int = 0
    tokens_written: int = 0
    error: str = ""


def begin(
    project: Project, user: User, conversation: Conversation | None, question: str
) -> Turn:
    """Return a running turn; asked again, a turn that failed is taken up anew."""
    with transaction.atomic():
        if conversation is None:
            conversation = start_conversation(project, user, question)
        else:
            settle_dead(conversation)
            touch(conversation.pk)
            last = conversation.turns.order_by("-pk").first()
            if last and _take_up(last, question):
                last.refresh_from_db()
                return last
        return Turn.objects.create(
            conversation=conversation, question=question, state=_RUNNING
        )


def _take_up(turn: Turn, question: str) -> bool:
    """Make a failed turn of that question run again; only one of two askers does."""
    same = Turn.objects.filter(pk=turn.pk, state=_FAILED, question=question)
    taken = same.update(
        state=_RUNNING,
        answer="",
        error="",
        support=[],
        calls=[],
        also_read=[],
        followups=[],
        grounded=False,
    )
    if taken:
        Citation.objects.filter(turn_id=turn.pk).delete()
        TurnTable.objects.filter(turn_id=turn.pk).delete()
    return bool(taken)


def keep(turn: int, text: str) -> bool:
    """Keep what came so far; return whether the turn is still wanted."""
    return bool(Turn.objects.filter(pk=turn, state=_RUNNING).update(answer=text))


def touch(conversation: uuid.UUID) -> None:
    """Note that a turn of the conversation lives."""
    Conversation.objects.filter(pk=conversation).update(updated_at=timezone.now())


def ask_to_stop(turn: Turn) -> Turn.State:
    """Stop a running turn, in whatever process it runs, and the statement it may have
    running; return how it stands now."""
    was = Turn.objects.filter(pk=turn.pk, state=_RUNNING)
    if was.update(state=Turn.State.STOPPED):
        asked = DatabaseQuery.objects.filter(
            user=turn.conversation.user,
            shown_in=place_of(turn),
            verdict=DatabaseQuery.Verdict.RUNNING,
        )
        for query in asked:
            cancel(query.pk, user=turn.conversation.user)
    turn.refresh_from_db(fields=["state"])
    return Turn.State(turn.state)


def place_of(turn: Turn) -> str:
    """Return how runs of databases name the turn that they are for."""
    return f"turn:{turn.pk}"


def settle_dead(conversation: Conversation) -> int:
    """Mark the running turns of a conversation that nothing touches any more as failed.

    Call it before turns are read; what had come of them stays. Returns their number.
    """
    before = timezone.now() - timedelta(seconds=DEAD_SECONDS)
    dead = conversation.turns.filter(
        state=_RUNNING, conversation__updated_at__lt=before
    )
    return dead.update(state=_FAILED, error=DIED)


def finish(turn: Turn, answer: ChatAnswer, outcome: Outcome) -> None:
    """Store how a turn ended, with its citations, in one transaction.

    What was answered to the end is then given to memory, once.
    """
    with transaction.atomic():
        row = Turn.objects.select_for_update().filter(pk=turn.pk).first()
        if row is None:  # the conversation was deleted meanwhile
            return
        row.answer = answer.answer
        row.grounded = answer.grounded
        row.model = answer.model
        row.effort = answer.effort
        row.calls = [asdict(call) for call in answer.calls]
        row.support = [dict(one) for one in answer.support]
        row.unknown_numbers = answer.unknown_numbers
        row.state = outcome.state
        row.error = outcome.error
        row.parsed = outcome.parsed
        row.also_read = list(outcome.also_read)
        row.followups = list(outcome.followups)
        row.tokens_read = outcome.tokens_read
        row.tokens_written = outcome.tokens_written
        row.save()
        Citation.objects.filter(turn=row).delete()
        Citation.objects.bulk_create(_rows(row, answer.citations))
        keep_tables(row, answer.tables)
        # What was only found strengthens no memory: what the answer rests on does.
        if pulled := [
            one.node_id
            for one in answer.citations
            if one.node_id is not None and one.key.startswith(PART)
        ]:
            refer(turn.conversation, pulled)
        touch(row.conversation_id)
        _audit(turn.conversation, answer, outcome)
        if outcome.state == Turn.State.DONE:
            transaction.on_commit(lambda: _remember(turn.pk), robust=True)


def _audit(conversation: Conversation, answer: ChatAnswer, outcome: Outcome) -> None:
    record_audit(
        "question.asked",
        target=str(conversation.pk),
        project=conversation.project,
        actor=conversation.user,
        question=answer.question,
        seen=[cited.key for cited in answer.citations],
        nodes=[cited.node_id for cited in answer.citations],
        read=list(outcome.also_read),
        state=outcome.state.value,
    )


def note_unsaved(
    project: Project, user: User | None, answer: ChatAnswer, also_read: Iterable[int]
) -> None:
    """Audit a question whose answer is not kept, as one of the command."""
    record_audit(
        "question.asked",
        target="not kept",
        project=project,
        actor=user,
        question=answer.question,
        seen=[cited.key for cited in answer.citations],
        nodes=[cited.node_id for cited in answer.citations],
        read=list(also_read),
        state=answer.state,
    )


def _remember(turn: int) -> None:
    # A broker that is away must not hold up an answer: turns not yet remembered show it.
    current_app.send_task(REMEMBER, args=[turn], retry=False)


def _rows(turn: Turn, citations: Iterable[Cited]) -> list[Citation]:
    return [
        Citation(
            turn=turn,
            n=cited.n,
            node_id=cited.node_id,
            key=cited.key,
            title=cited.title,
            url=cited.url,
            quote=cited.quote,
            timestamp=cited.timestamp,
            contributions={
                arm: asdict(given) for arm, given in cited.contributions.items()
            },
        )
        for cited in citations
    ]
