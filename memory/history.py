"""A user's conversations: found, pinned ones first, grouped by day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from connections.models import User
from memory.models import Conversation, Turn

HISTORY, ALL = 60, 1_000
FOUND_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Day:
    """The conversations of one day, newest first; or those that are pinned."""

    label: str
    conversations: list[Conversation]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What the sidebar lists: days, what was looked for, and whether there is more."""

    days: list[Day]
    wanted: str = ""
    is_cut: bool = False


def conversations(user: User) -> Any:
    """Return the user's own conversations in projects they are a member of."""
    return Conversation.objects.visible_to(user).filter(user=user)


def history(user: User, wanted: str = "", *, limit: int = HISTORY) -> History:
    """Return the newest conversations whose title or a question of it has `wanted`."""
    wanted = wanted.replace("\x00", "").strip()[:FOUND_CHARACTERS]
    rows = conversations(user)
    if wanted:
        asked = Turn.objects.filter(
            conversation=OuterRef("pk"), question__icontains=wanted
        )
        rows = rows.filter(Q(title__icontains=wanted) | Exists(asked))
    newest = rows.order_by("-is_pinned", "-updated_at", "-pk")
    found = list(newest[: limit + 1])
    return History(days=by_day(found[:limit]), wanted=wanted, is_cut=len(found) > limit)


def by_day(rows: Iterable[Conversation]) -> list[Day]:
    """Group conversations by the day they were last used; pinned ones come first."""
    rows, today = list(rows), timezone.localdate()
    pinned = [row for row in rows if row.is_pinned]
    others = [row for row in rows if not row.is_pinned]
    days = [
        Day(_day_label(day, today), list(group))
        for day, group in groupby(
            others, lambda row: timezone.localdate(row.updated_at)
        )
    ]
    return [Day("Pinned", pinned), *days] if pinned else days


def _day_label(day: date, today: date) -> str:
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if today - day < timedelta(days=7):
        return f"{day:%A}"
    return f"{day:%-d %B}" if day.year == today.year else f"{day:%-d %B %Y}"
