"""Who counts what of a project, by name: filled by every layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from connections.models import Project
from connections.registry import Registry


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: of which day, and of which part of what was counted."""

    day: date
    label: str
    value: float


@dataclass(frozen=True, slots=True)
class Span:
    """The days to count, both ends included, in the time zone they are days of."""

    first: date
    last: date
    zone: str


Count = Callable[[Project, Span], Iterable[Figure]]


@dataclass(frozen=True, slots=True)
class Counter:
    """How something is counted.

    One that `reads_all` reads every row of the graph, and is counted seldom. One that
    `knows_before` can count days that are over from what is there now; another has
    only today's.
    """

    count: Count
    reads_all: bool = False
    knows_before: bool = True


counters: Registry[Counter] = Registry("counter of daily figures")
