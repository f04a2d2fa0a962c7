"""The days of a node's neighbourhood, and one of them that it is looked at as of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.utils import timezone
from django.utils.dateparse import parse_date

from graph.models import Node
from graph.querysets import NodeQuerySet
from graph.timeline import NEWEST, OLDEST, timeline


@dataclass(frozen=True, slots=True)
class Slice:
    """The first and last day of what has a date around a node, and the chosen one."""

    first: date
    last: date
    day: date

    @property
    def days(self) -> int:
        return (self.last - self.first).days

    @property
    def place(self) -> int:
        """Return how many days after the first the chosen one is."""
        return (self.day - self.first).days

    @property
    def as_of(self) -> datetime | None:
        """Return the end of the chosen day; None for the last: as it is now."""
        return None if self.day >= self.last else end_of(self.day)


def end_of(day: date) -> datetime:
    """Return the last moment of a day, in the time zone of the site."""
    midnight = datetime.combine(day + timedelta(days=1), time.min)
    return timezone.make_aware(midnight) - timedelta(microseconds=1)


def slice_of(allowed: NodeQuerySet, node: Node, asked: str) -> Slice | None:
    """Return the days around `node` within `allowed`, at the day that is asked for.

    None where nothing there has a date, or all has the same. A day outside is the
    nearest inside. Raises `ValueError` for what is no day.
    """
    day = _day(asked)
    ends = [
        timeline(allowed, node.pk, project=node.project, limit=1, order=order).moments
        for order in (OLDEST, NEWEST)
    ]
    if not all(ends):
        return None
    first, last = (timezone.localtime(moments[0].at).date() for moments in ends)
    if first == last:
        return None
    return Slice(first, last, min(max(day or last, first), last))


def _day(asked: str) -> date | None:
    if not asked:
        return None
    try:
        day = parse_date(asked)
    except ValueError:  # of the right form, but no day of the calendar
        day = None
    if day is None or not date.min < day < date.max:
        raise ValueError(f"{asked[:40]!r} is no day; write it as 2026-03-31.")
    return day
