"""What people decide of the items of the queue: each once, by one person, audited.

A row is locked while it is decided, and its `version` must be the one that was seen.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from connections.models import Project, User, record_audit
from connections.refusals import Refused
from connections.roles import Act, may, must
from graph.models import ReviewDecision, ReviewItem, Trashed
from graph.review.confirming import (
    Consequences,
    check_token,
    confirm_again,
    consequences,
)
from graph.review.errors import Collision, NoSuchItem, NotDecidable, ReviewError
from graph.review.kinds import Decision, ReviewKind, Verb, review_kinds
from graph.review.reopening import can_take_back, state_of, take_back
from graph.review.targets import Targets, targets_of

__all__ = [
    "Bulk",
    "Collision",
    "NoSuchItem",
    "NotDecidable",
    "ReviewError",
    "close_item",
    "confirm_again_of",
    "consequences_of",
    "decide",
    "decide_all",
    "hold",
    "release",
    "undo",
]

State = ReviewItem.State
HOLD = timedelta(minutes=10)
SNOOZE_MOST = timedelta(days=366)
REASON_CHARACTERS = 2000
BULK_MOST = 1000
NEEDS_REASON = (Verb.KEEP, Verb.PRUNE)
DECIDABLE = (State.OPEN, State.SNOOZED)
DONE = {
    Verb.KEEP: "kept",
    Verb.PRUNE: "pruned",
    Verb.SNOOZE: "snoozed",
    Verb.MERGE: "merged",
    Verb.EDIT: "edited",
    Verb.ASSIGN: "assigned",
}


@dataclass(frozen=True, slots=True)
class Bulk:
    """What came of a bulk act: the decisions, and by item why one was refused."""

    batch: uuid.UUID
    done: list[ReviewDecision]
    refused: dict[int, str]


def decide(item_id: int, decision: Decision, *, version: int) -> ReviewDecision:
    """Carry `decision` out and return it as it is kept.

    Raises `Collision` where somebody else holds or decided the item, `NotDecidable`
    where the decision lacks something, `NoSuchItem` for what `decision.by` does not
    see, and `PermissionDenied` without the role of the kind.
    """
    with transaction.atomic():
        item = _locked(item_id, decision.by)
        return _decide(item, decision, version=version, batch=None)


def decide_all(chosen: Sequence[tuple[int, int]], decision: Decision) -> Bulk:
    """Decide the items of `chosen` (id, version) alike, each whole or not at all, in
    one batch; one that may not be decided is refused with the reason.

    A prune needs the token that `consequences_of` all of them gives; of more than
    `AT_ONCE` that of `confirm_again_of`.
    """
    if len(chosen) > BULK_MOST:
        raise NotDecidable(f"Decide at most {BULK_MOST} at once.")
    batch = uuid.uuid4()
    done: list[ReviewDecision] = []
    refused: dict[int, str] = {}
    with transaction.atomic():
        if decision.verb == Verb.PRUNE:
            found = consequences_of([item for item, _ in chosen], decision.by)
            check_token(found, decision.token)
        for item_id, version in sorted(set(chosen)):
            try:
                with transaction.atomic():
                    done.append(_decide_one(item_id, version, decision, batch))
            except (Refused, PermissionDenied) as error:
                refused[item_id] = str(error)
    return Bulk(batch, done, refused)


def _decide_one(
    item_id: int, version: int, decision: Decision, batch: uuid.UUID
) -> ReviewDecision:
    item = _locked(item_id, decision.by)
    if decision.verb == Verb.PRUNE and item.state in DECIDABLE:
        # All of them were confirmed together, a moment ago in this transaction.
        found = consequences_of([item_id], decision.by, into=decision.into)
        decision = replace(decision, token=found.token)
    return _decide(item, decision, version=version, batch=batch)


def consequences_of(
    items: Sequence[int], reader: User, *, into: int | None = None
) -> Consequences:
    """Return what pruning by these items would do; those of one project only.

    What was decided meanwhile or cannot be pruned is left out. Raises `NoSuchItem` or
    `NotDecidable` where nothing is left.
    """
    project, targets = _targets(items, reader, into)
    return consequences(project, targets.nodes, reader, edges=targets.edges)


def confirm_again_of(items: Sequence[int], reader: User, token: str) -> Consequences:
    """Return the consequences with the second token, for the first: see
    `confirm_again`."""
    project, targets = _targets(items, reader, None)
    return confirm_again(project, targets.nodes, reader, token, edges=targets.edges)


def _targets(
    items: Sequence[int], reader: User, into: int | None
) -> tuple[Project, Targets]:
    rows = ReviewItem.objects.visible_to(reader).filter(pk__in=items)
    found = list(rows.filter(state__in=DECIDABLE).select_related("project__tenant"))
    if not found:
        raise NoSuchItem("None of these items is open to you.")
    projects = {item.project_id: item.project for item in found}
    if len(projects) > 1:
        raise NotDecidable("Prune the items of one project at a time.")
    (project,) = projects.values()
    if len(found) == 1:
        return project, targets_of(found[0], into, reader)
    several = []
    for item in found:
        with suppress(NotDecidable):
            several.append(targets_of(item, into, reader))
    return project, Targets.all_of(several)


def hold(item_id: int, user: User) -> ReviewItem:
    """Keep others from deciding an item for ten minutes; asked again, ten more.

    Raises `Collision` if somebody else holds it.
    """
    with transaction.atomic():
        item = _locked(item_id, user)
        must(user, Act.REVIEW, item.project_id)
        _refuse_held(item, user)
        is_new = item.held_by_id != user.pk or not _is_held(item)
        item.held_by, item.held_until = user, timezone.now() + HOLD
        item.save(update_fields=("held_by", "held_until"))
        if is_new:
            _audit(item, "review.held", user)
    return item


def release(item_id: int, user: User) -> ReviewItem:
    """Let others decide an item that `user` holds; one that they do not hold is left
    as it is."""
    with transaction.atomic():
        item = _locked(item_id, user)
        if item.held_by_id == user.pk:
            item.held_by = item.held_until = None
            item.save(update_fields=("held_by", "held_until"))
            _audit(item, "review.released", user)
    return item


def undo(decision_id: int, by: User) -> ReviewDecision:
    """Take a decision back: what it did is undone, and its item is what it was.

    Only the latest decision of an item can be taken back, and only once.
    """
    found = ReviewDecision.objects.filter(pk=decision_id).first()
    if found is None:
        raise NoSuchItem("There is no such decision that you may see.")
    with transaction.atomic():
        item = _locked(found.item_id, by)
        kind = review_kinds[item.kind]
        must(by, Act.REVIEW, item.project_id)
        _refuse_held(item, by)
        latest = _standing(item).first()
        if latest is None or latest.pk != decision_id:
            raise _not_the_latest(item, decision_id)
        verb = Verb(latest.verb)
        undoes = kind.undos.get(verb)
        if undoes is None and verb not in (Verb.SNOOZE, Verb.ASSIGN):
            raise NotDecidable(f"That it was {DONE[verb]} cannot be taken back.")
        if not can_take_back(latest):
            raise NotDecidable(
                "What would take it back is not here: it was decided in another "
                "installation, or what it was about was deleted for good."
            )
        take_back(decision_id, by)
        if undoes is not None:
            item.refresh_from_db()
            undoes(item, latest.before.get("act", {}), by)
        latest.refresh_from_db()
    return latest


def close_item(
    project: Project, kind: str, subject: str, *, by: User, reason: str
) -> ReviewDecision | None:
    """Note that what an item asks for was settled elsewhere; None where none is open."""
    with transaction.atomic():
        rows = ReviewItem.objects.of(project).filter(kind=kind, subject=subject)
        item = rows.filter(state__in=DECIDABLE).select_for_update().first()
        if item is None:
            return None
        decision = Decision(verb=Verb.KEEP, by=by, reason=reason)
        return _note(item, decision, state_of(item), {"elsewhere": True}, None)


def _locked(item_id: int, user: User) -> ReviewItem:
    rows = ReviewItem.objects.visible_to(user).select_for_update(of=("self",))
    item = rows.select_related("project__tenant").filter(pk=item_id).first()
    if item is None:
        raise NoSuchItem("There is no such item that you may see.")
    return item


def _decide(
    item: ReviewItem, decision: Decision, *, version: int, batch: uuid.UUID | None
) -> ReviewDecision:
    kind = review_kinds[item.kind]
    must(decision.by, Act.REVIEW, item.project_id)
    _refuse_held(item, decision.by)
    _refuse_changed(item, version)
    _check(item, kind, decision)
    before = state_of(item)
    act = kind.acts.get(decision.verb)
    done = act(item, decision) if act else {}
    return _note(item, decision, before, done, batch)


def _note(
    item: ReviewItem,
    decision: Decision,
    before: Mapping[str, Any],
    done: Mapping[str, Any],
    batch: uuid.UUID | None,
) -> ReviewDecision:
    """Keep the decision, and bring its item where it leads."""
    item.refresh_from_db(fields=("node", "other"))
    if decision.verb == Verb.SNOOZE:
        item.state, item.snoozed_until = State.SNOOZED, decision.until
    elif decision.verb == Verb.ASSIGN:
        item.assigned_to = decision.assignee
    else:
        item.state, item.snoozed_until = State.DECIDED, None
    item.held_by = item.held_until = None
    item.version += 1
    item.save()
    row = ReviewDecision.objects.create(
        tenant_id=item.tenant_id,
        project_id=item.project_id,
        item=item,
        verb=decision.verb,
        reason=decision.reason.strip()[:REASON_CHARACTERS],
        fingerprint=item.fingerprint,
        before={"item": dict(before), "act": dict(done)},
        batch=batch,
        decided_by=decision.by,
    )
    if trashed := done.get("trashed"):
        Trashed.objects.of(item.project).filter(pk__in=trashed).update(decision=row)
    detail: dict[str, Any] = {}
    if decision.until:
        detail["until"] = decision.until.isoformat()
    if decision.assignee:
        detail["assignee"] = decision.assignee.pk
    verb = f"review.{DONE[decision.verb]}"
    _audit(item, verb, decision.by, reason=row.reason, decision=row.pk, **detail)
    return row


def _check(item: ReviewItem, kind: ReviewKind, decision: Decision) -> None:
    """Raise `NotDecidable` for a decision that does not fit or lacks something."""
    verb = decision.verb
    if verb not in kind.verbs:
        may = ", ".join(each.value for each in kind.verbs)
        raise NotDecidable(f"{kind.title}: there is no {verb.value} here, but {may}.")
    if len(decision.reason) > REASON_CHARACTERS:
        raise NotDecidable(f"Give a reason of at most {REASON_CHARACTERS} characters.")
    if verb in NEEDS_REASON and not decision.reason.strip():
        raise NotDecidable("Say why: this needs a reason.")
    if verb == Verb.SNOOZE:
        _check_until(decision)
    elif verb == Verb.ASSIGN:
        _check_assignee(item, kind, decision)


def _check_until(decision: Decision) -> None:
    now = timezone.now()
    if decision.until is None or timezone.is_naive(decision.until):
        raise NotDecidable("Say until when it is to sleep, with a time zone.")
    if not now < decision.until <= now + SNOOZE_MOST:
        raise NotDecidable("It sleeps until a day to come, at most a year from now.")


def _check_assignee(item: ReviewItem, kind: ReviewKind, decision: Decision) -> None:
    to = decision.assignee
    if to is None:
        return
    if not may(to, Act.REVIEW, item.project_id):
        raise NotDecidable(f"{to} may not {Act.REVIEW.value} of this project.")
    if not ReviewItem.objects.visible_to(to).filter(pk=item.pk).exists():
        raise NotDecidable(f"{to} may not see what this is about.")


def _is_held(item: ReviewItem) -> bool:
    return item.held_until is not None and item.held_until > timezone.now()


def _refuse_held(item: ReviewItem, user: User) -> None:
    if _is_held(item) and item.held_by_id != user.pk and item.held_by is not None:
        until = timezone.localtime(item.held_until)
        raise Collision(
            f"{item.held_by} is at it until {until:%H:%M}; take another one.",
            by=str(item.held_by),
            until=item.held_until,
        )


def _refuse_changed(item: ReviewItem, version: int) -> None:
    """Raise `Collision` where the item is not what was seen, saying what happened."""
    if item.version == version and item.state in DECIDABLE:
        return
    last = _standing(item).first()
    if last is not None and (item.state == State.DECIDED or item.version != version):
        raise _collision(item, last)
    if item.state == State.WITHDRAWN:
        raise Collision("Its cause is gone: there is nothing to decide any more.")
    raise Collision("It changed since you saw it; look at it again.")


def _collision(item: ReviewItem, last: ReviewDecision) -> Collision:
    who = str(last.decided_by or "Somebody who is gone")
    how = DONE[Verb(last.verb)]
    if last.verb == Verb.SNOOZE and item.snoozed_until:
        how += f" until {timezone.localtime(item.snoozed_until):%d %b %Y}"
    if last.verb == Verb.ASSIGN and item.assigned_to:
        how += f" to {item.assigned_to}"
    why = f" Reason: {last.reason}" if last.reason else ""
    at = timezone.localtime(last.decided_at)
    return Collision(
        f"{who} was faster: it was {how} on {at:%d %b %Y at %H:%M}.{why}", by=who
    )


def _standing(item: ReviewItem) -> QuerySet[ReviewDecision]:
    """Return the decisions of an item that were not taken back, latest first."""
    rows = ReviewDecision.objects.filter(item=item, undone_at=None)
    rows = rows.filter(tenant_id=item.tenant_id, project_id=item.project_id)
    return rows.select_related("decided_by").order_by("-pk")


def _not_the_latest(item: ReviewItem, decision_id: int) -> ReviewError:
    row = ReviewDecision.objects.select_related("undone_by").get(pk=decision_id)
    if row.undone_at is not None:
        return Collision(f"{row.undone_by or 'Somebody'} took it back already.")
    return NotDecidable("It was decided again since; take that back first.")


def _audit(item: ReviewItem, verb: str, by: User, **detail: Any) -> None:
    record_audit(
        verb,
        target=f"review:{item.pk}",
        project=item.project,
        actor=by,
        kind=item.kind,
        subject=item.subject,
        **detail,
    )
