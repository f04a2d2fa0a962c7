"""What somebody just decided, as the page they come to says it, with its undo."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from connections.models import User
from graph.explanations import named
from graph.models import Node, ReviewDecision
from graph.review.deciding import DONE
from graph.review.kinds import Verb, review_kinds

OWN = (Verb.SNOOZE, Verb.ASSIGN)


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, and the address that takes it back; "" where nothing does."""

    words: str
    undo: str
    is_pruned: bool


def done_of(request: HttpRequest, user: User) -> Done | None:
    """Return what the address says was just done by `user` and still stands."""
    one, many = request.GET.get("done", ""), request.GET.get("batch", "")
    if one.isascii() and one.isdigit() and len(one) < 19:
        return _one(int(one), user)
    try:
        return _many(uuid.UUID(many), user) if many else None
    except ValueError:
        return None


def standing_of(batch: uuid.UUID, user: User) -> list[ReviewDecision]:
    """Return the decisions that `user` made in one bulk act and that still stand."""
    rows = ReviewDecision.objects.filter(batch=batch, decided_by=user, undone_at=None)
    return list(rows.select_related("item").order_by("-pk"))


def _one(pk: int, user: User) -> Done | None:
    rows = ReviewDecision.objects.filter(pk=pk, decided_by=user, undone_at=None)
    row = rows.select_related("item").first()
    if row is None:
        return None
    nodes = Node.objects.visible_to(user)
    node = nodes.filter(pk=row.item.node_id).first() if row.item.node_id else None
    about = named(node) if node else review_kinds[row.item.kind].title.lower()
    undo = reverse("admin:graph_reviewitem_undo", args=[row.pk])
    verb = Verb(row.verb)
    said = f"{DONE[verb].capitalize()}: {about}."
    return Done(said, undo if _can_undo(row) else "", verb == Verb.PRUNE)


def _many(batch: uuid.UUID, user: User) -> Done | None:
    rows = standing_of(batch, user)
    if not rows:
        return None
    verb = Verb(rows[0].verb)
    undo = reverse("admin:graph_reviewitem_undo_all", args=[batch])
    said = f"{DONE[verb].capitalize()}: {len(rows)} item{'s' * (len(rows) != 1)}."
    can = all(_can_undo(row) for row in rows)
    return Done(said, undo if can else "", verb == Verb.PRUNE)


def _can_undo(row: ReviewDecision) -> bool:
    verb = Verb(row.verb)
    return verb in OWN or verb in review_kinds[row.item.kind].undos


def counted(refused: Mapping[int, str]) -> list[str]:
    """Return why items were refused, each reason once with their number."""
    return [
        f"{number} left as {'it was' if number == 1 else 'they were'}: {why}"
        for why, number in Counter(refused.values()).most_common()
    ]
