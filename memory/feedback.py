"""What readers think of answers, and how staff work it off."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from connections.models import User, record_audit
from graph.models import ReviewItem
from graph.review.deciding import close_item
from memory.models import Feedback, Turn
from memory.review_feedback import (
    KIND,
    raise_complaint,
    subject_of,
    withdraw_complaint,
)

NOTE_CHARACTERS = 2_000


def give_feedback(turn: Turn, user: User, verdict: str, note: str = "") -> Feedback:
    """Keep what `user` thinks of an answer; each has one word on it, the last.

    A complaint comes (again) before staff. A "good" asks nothing of anybody.
    """
    is_good = verdict == Feedback.Verdict.GOOD
    state = Feedback.State.RESOLVED if is_good else Feedback.State.OPEN
    given = {
        "verdict": verdict,
        "note": note.strip(),
        "state": state,
        "created_at": timezone.now(),
        "resolved_at": None,
        "resolved_by": None,
    }
    with transaction.atomic():
        feedback, _ = Feedback.objects.update_or_create(
            turn=turn, user=user, defaults=given
        )
        _record("feedback.given", feedback, user, feedback.note)
        if is_good:
            withdraw_complaint(feedback)
        else:
            raise_complaint(feedback)
    return feedback


def take_feedback_back(turn: Turn, user: User) -> None:
    """Remove the user's word on an answer; without one nothing happens."""
    with transaction.atomic():
        for feedback in Feedback.objects.select_for_update().filter(
            turn=turn, user=user
        ):
            _record("feedback.taken_back", feedback, user, feedback.note)
            withdraw_complaint(feedback)
            feedback.delete()


def resolve(feedback: Feedback, by: User, note: str) -> bool:
    """Close an open complaint, and its item of the review; False where somebody else
    did before."""
    project = feedback.turn.conversation.project
    with transaction.atomic():
        # The item first, as a decision of it does: nobody waits in a circle.
        rows = ReviewItem.objects.of(project).select_for_update()
        list(rows.filter(kind=KIND, subject=subject_of(feedback)))
        closed = close_open(feedback, by, note)
        if closed:
            close_item(project, KIND, subject_of(feedback), by=by, reason=note)
    return closed


def close_open(feedback: Feedback, by: User, note: str) -> bool:
    """Close an open complaint alone; call it in the transaction of the act."""
    rows = Feedback.objects.filter(pk=feedback.pk, state=Feedback.State.OPEN)
    closed = rows.update(
        state=Feedback.State.RESOLVED, resolved_at=timezone.now(), resolved_by=by
    )
    if closed:
        _record("feedback.resolved", feedback, by, note)
    return bool(closed)


def open_again(feedback: Feedback, by: User) -> bool:
    """Take back that a complaint was resolved; False where there is none any more."""
    opened = Feedback.objects.filter(
        pk=feedback.pk, state=Feedback.State.RESOLVED
    ).update(state=Feedback.State.OPEN, resolved_at=None, resolved_by=None)
    if opened:
        _record("feedback.reopened", feedback, by, "")
    return bool(opened)


def _record(verb: str, feedback: Feedback, actor: User, note: str) -> None:
    record_audit(
        verb,
        target=str(feedback.turn_id),
        project=feedback.turn.conversation.project,
        actor=actor,
        verdict=feedback.verdict,
        note=note,
    )
