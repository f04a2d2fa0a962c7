"""What is learned from a turn: once, in the background, after it was answered."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from celery import Task, shared_task
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from connections.providers.base import ProviderError
from connections.providers.chat import ChatModel, ModelUnavailable
from connections.providers.choice import model_for
from memory.learning import rules
from memory.learning.asking import ask_what_is_replaced, ask_what_to_keep
from memory.learning.heard import Heard, heard_in
from memory.learning.keeping import Kept, keep, screened
from memory.learning.proposals import Proposal
from memory.learning.superseding import NEAREST, Older, nearest
from memory.models import Turn

log = logging.getLogger(__name__)

MOST_RETRIES = 6
FIRST_WAIT, LONGEST_WAIT = 30, 1800
# A task that was lost on its way is sent again; older turns are left as they are.
LATE_AFTER, LATE_UNTIL = timedelta(minutes=15), timedelta(days=7)
LATEST_TURNS = 20_000


def remember_once(turn_id: int, *, with_rules: bool = False) -> Kept | None:
    """Write what the turn teaches, once; None where it was done, or is not answered.

    Raises `ModelUnavailable` where the model may answer later; nothing is written
    then. `with_rules`: no model is asked.
    """
    turn = _waiting(turn_id)
    if turn is None:
        return None
    # A model is asked before anything is held or written.
    proposals, model = _propose(turn, with_rules=with_rules)
    clean, screened_out = screened(proposals)
    replaced = _replaced(turn, clean, model) if model else {}
    with transaction.atomic():
        rows = Turn.objects.select_for_update(of=("self",))
        held = rows.filter(pk=turn_id, remembered_at=None).first()
        if held is None:
            return None
        kept = keep(turn, clean, replaced, screened_out)
        Turn.objects.filter(pk=turn_id).update(remembered_at=timezone.now())
    return kept


@shared_task(
    bind=True, name="memory.remember_turn", ignore_result=True, max_retries=MOST_RETRIES
)
def remember_turn(self: Task, turn_id: int) -> None:
    """Remember what a turn teaches; a model that is busy is asked again later, and at
    last the rules alone read it."""
    try:
        remember_once(turn_id, with_rules=self.request.retries >= MOST_RETRIES)
    except ModelUnavailable as error:
        wait = min(FIRST_WAIT * 2**self.request.retries, LONGEST_WAIT)
        raise self.retry(exc=error, countdown=wait) from error


@shared_task(name="memory.remember_late_turns", ignore_result=True, expires=300)
def remember_late_turns() -> None:
    """Send the turns whose task was lost once more."""
    for turn_id in late_turns():
        remember_turn.delay(turn_id)


def late_turns() -> list[int]:
    """Return the answered turns of late that nobody has remembered in time."""
    latest = Turn.objects.aggregate(latest=Max("pk"))["latest"] or 0
    now = timezone.now()
    # By the primary key: most turns are remembered, and need not be looked at.
    rows = Turn.objects.filter(
        pk__gt=latest - LATEST_TURNS,
        remembered_at=None,
        state__in=(Turn.State.DONE, Turn.State.STOPPED),
        created_at__range=(now - LATE_UNTIL, now - LATE_AFTER),
    )
    return list(rows.values_list("pk", flat=True))


def _waiting(turn_id: int) -> Turn | None:
    """Return the turn with what it cites, unless it was remembered or still runs."""
    rows = Turn.objects.select_related(
        "conversation__project__tenant", "conversation__user"
    )
    answered = (Turn.State.DONE, Turn.State.STOPPED)
    return (
        rows.prefetch_related("citations")
        .filter(pk=turn_id, remembered_at=None, state__in=answered)
        .first()
    )


def _propose(
    turn: Turn, *, with_rules: bool
) -> tuple[Sequence[Proposal], ChatModel | None]:
    """Return what a turn teaches, and the model that said so, if one did."""
    conversation = turn.conversation
    heard = heard_in(turn)
    if not heard.sources:
        return [], None
    if not with_rules and (asked := _ask(turn, heard)) is not None:
        return asked
    return rules.propose(heard, conversation.project, conversation.user), None


def _ask(turn: Turn, heard: Heard) -> tuple[list[Proposal], ChatModel] | None:
    """Return what a model proposes; None without one, or where it has no answer."""
    try:
        model = model_for(turn.conversation.project, purpose="small")
        return (ask_what_to_keep(model, heard), model) if model else None
    except ModelUnavailable:
        raise
    except ProviderError as error:
        log.warning("Turn %s is read by rules: %s", turn.pk, error)
        return None


def _replaced(
    turn: Turn, proposals: Sequence[Proposal], model: ChatModel
) -> dict[int, Older]:
    """Return what the proposals replace, as the model says; the rules, where it does
    not answer."""
    project, user = turn.conversation.project, turn.conversation.user
    found = [(p, nearest(project, user, p, most=NEAREST)) for p in proposals]
    if not any(olds for _, olds in found):
        return {}
    try:
        return ask_what_is_replaced(model, found)
    except ModelUnavailable:
        raise
    except ProviderError as error:
        log.warning("Turn %s: what it replaces is told by rules: %s", turn.pk, error)
        return {}
