"""Complaints about answers in the queue of the review: raised, withdrawn, found.

The item names neither the question nor the answer: who decides it sees of these what
they may see, when they look at it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime

from django.utils import timezone

from connections.models import Project
from graph.audiences import Audiences
from graph.models import ReviewItem
from graph.review.kinds import Flagged
from memory.models import Feedback

KIND = "feedback"
State = ReviewItem.State


def subject_of(feedback: Feedback) -> str:
    return f"feedback:{feedback.pk}"


def flagged(feedback: Feedback, audience_id: int) -> Flagged:
    """Return the item of a complaint; given again, it is another one."""
    said = f"{feedback.verdict}\x01{feedback.note}\x01{feedback.created_at.isoformat()}"
    return Flagged(
        subject=subject_of(feedback),
        fingerprint=hashlib.sha256(said.encode()).hexdigest(),
        why=f"A reader said of an answer: {feedback.get_verdict_display()}.",
        audience_id=audience_id,
        detail={"feedback": feedback.pk, "turn": feedback.turn_id},
    )


def raise_complaint(feedback: Feedback) -> None:
    """Put an open complaint in the queue, again if it was decided before."""
    project = feedback.turn.conversation.project
    found = flagged(feedback, Audiences(project).public)
    row, is_new = ReviewItem.objects.select_for_update().get_or_create(
        tenant_id=project.tenant_id,
        project=project,
        kind=KIND,
        subject=found.subject,
        defaults={
            "fingerprint": found.fingerprint,
            "why": found.why,
            "detail": dict(found.detail),
            "audience_id": found.audience_id,
            "priority": 1.0,
        },
    )
    if is_new or row.fingerprint == found.fingerprint:
        return
    row.fingerprint, row.why = found.fingerprint, found.why
    row.state, row.snoozed_until = State.OPEN, None
    row.version += 1
    row.flagged_at = timezone.now()
    row.save()


def withdraw_complaint(feedback: Feedback) -> None:
    """Take a complaint out of the queue that its reader took back."""
    project = feedback.turn.conversation.project
    rows = ReviewItem.objects.of(project).select_for_update()
    waiting = (State.OPEN, State.SNOOZED)
    subject = subject_of(feedback)
    for row in rows.filter(kind=KIND, subject=subject, state__in=waiting):
        row.state, row.snoozed_until = State.WITHDRAWN, None
        row.version += 1
        row.save()


def find_complaints(project: Project, _now: datetime) -> Iterator[Flagged]:
    """Yield the open complaints of a project."""
    public = Audiences(project).public
    rows = Feedback.objects.filter(
        turn__conversation__project=project, state=Feedback.State.OPEN
    )
    for feedback in rows.order_by("pk").iterator():
        yield flagged(feedback, public)
