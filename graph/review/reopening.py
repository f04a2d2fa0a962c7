"""A decision taken back: its item is what it was before it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from connections.models import User, record_audit
from graph.models import ReviewDecision, ReviewItem

State = ReviewItem.State
_OPEN = {"state": State.OPEN, "snoozed_until": None, "assigned_to": None}


def state_of(item: ReviewItem) -> dict[str, Any]:
    """Return what `put_back` needs to make an item what it is now."""
    until = item.snoozed_until
    return {
        "state": item.state,
        "snoozed_until": until.isoformat() if until else None,
        "assigned_to": item.assigned_to_id,
    }


def can_take_back(decision: ReviewDecision) -> bool:
    """Return whether it is known what there was before a decision."""
    return "item" in decision.before


def put_back(item: ReviewItem, before: dict[str, Any], now: datetime) -> None:
    """Make `item` what it was; what it was snoozed until may be over."""
    item.state, item.snoozed_until = before["state"], None
    if item.state == State.SNOOZED:
        until = datetime.fromisoformat(before["snoozed_until"])
        item.snoozed_until = until if until > now else None
        item.state = State.SNOOZED if until > now else State.OPEN
    if User.objects.filter(pk=before["assigned_to"]).exists():
        item.assigned_to_id = before["assigned_to"]
    else:
        item.assigned_to = None


def take_back(decision_id: int, by: User) -> ReviewDecision | None:
    """Mark a decision as taken back and open its item again, which is held until the
    transaction ends; None where somebody took it back before."""
    decision = (
        ReviewDecision.objects.select_related("project__tenant")
        .filter(pk=decision_id)
        .first()
    )
    if decision is None:
        return None
    item = ReviewItem.objects.select_for_update().get(pk=decision.item_id)
    decision.refresh_from_db(fields=("undone_at", "before"))
    if decision.undone_at is not None:
        return None
    now = timezone.now()
    # Of a decision that was made elsewhere it is not known what there was before.
    put_back(item, decision.before.get("item") or _OPEN, now)
    item.version += 1
    item.held_by = item.held_until = None
    item.save()
    decision.undone_by, decision.undone_at = by, now
    decision.save(update_fields=("undone_by", "undone_at"))
    record_audit(
        "review.undone",
        target=f"review:{item.pk}",
        project=decision.project,
        actor=by,
        kind=item.kind,
        subject=item.subject,
        decision=decision.pk,
        taken_back=decision.verb,
    )
    return decision
