"""Planted facts over a simulated year: what stays, what leaves, and when.

No clock is waited for: every conversation has its moment. What should have left, and at
which tick, is told by the published loop, which multiplies every fact every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from benchmarks.report import Table, progress
from benchmarks.talks import talk
from connections.management.base import create_project
from connections.models import Project, User
from graph.audiences import Audiences
from memory.endings import end_conversation
from memory.fading import KEPT_DAYS, delete_left, let_leave
from memory.models import Observation
from memory.observations import Learned, current, pin, remember
from retrieval.search import search

YEAR, BEGIN = timedelta(days=365), datetime(2025, 1, 1, 8, tzinfo=UTC)
SIZES = (200, 20_000)
EACH = 10
PLACES = (
    "Aarhus Bergen Cadiz Dresden Evora Faro Ghent Hamar Izola Jaca".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Kind:
    """Facts that are used in every so many conversations; 0: never again."""

    name: str
    noun: str
    every: int
    observation_type: str = "fact"
    is_pinned: bool = False
    is_superseded: bool = False


KINDS = (
    Kind("used in every conversation", "contract", 1),
    Kind("used in every 2nd", "invoice", 2),
    Kind("used in every 10th", "warehouse", 10),
    Kind("used in every 40th", "vehicle", 40),
    Kind("never used", "rumour", 0),
    Kind("never used, a decision", "architecture", 0, observation_type="decision"),
    Kind("never used, pinned", "password policy", 0, is_pinned=True),
    Kind("superseded on the 10th day", "schedule", 0, is_superseded=True),
)


@dataclass(slots=True)
class Planted:
    """A fact, its row, and its importance by the published loop."""

    kind: Kind
    place: str
    observation: Observation
    importance: float = 0.5
    left_at: int | None = None
    was_faded: bool = False

    @property
    def stays(self) -> bool:
        return self.kind.is_pinned or self.kind.observation_type == "decision"


@dataclass(slots=True)
class Loop:
    """The published rule, as a loop over all facts."""

    planted: list[Planted]
    by_day: bool
    ticks: int = 0
    day: date | None = None
    replaced: set[int] = field(default_factory=set)

    def end(self, used: Sequence[Planted], now: datetime) -> None:
        today = timezone.localdate(now)
        ticks = not (self.by_day and self.day == today)
        self.day, self.ticks = today, self.ticks + ticks
        names = {id(each) for each in used}
        for each in self.planted:
            if each.left_at is None:
                self._count(each, id(each) in names, ticks)

    def _count(self, each: Planted, is_used: bool, ticks: bool) -> None:
        was_faded = each.was_faded and not ticks
        if is_used:
            back = 0.9 if was_faded else 1.0
            each.importance, was_faded = min(1.0, each.importance / back * 1.1), False
        elif ticks and not each.kind.is_pinned:
            each.importance, was_faded = each.importance * 0.9, True
        each.was_faded = was_faded
        if ticks and not each.stays and each.importance < 0.05:
            each.left_at = self.ticks


def simulated_years() -> list[Table]:
    return [_year(size, tick) for size in SIZES for tick in ("conversation", "day")]


def _year(conversations: int, tick: str) -> Table:
    project = create_project(f"bench/year-{conversations}-{tick}")
    user = User.objects.create_user(f"year{conversations}{tick}@benchmark.test")
    project.memberships.create(user=user)
    before = settings.FABRIC["DECAY_TICK"]
    settings.FABRIC["DECAY_TICK"] = tick
    try:
        planted = _plant(project, user)
        newer = _live(project, user, planted, conversations, by_day=tick == "day")
        return _table(project, user, planted, newer, conversations, tick)
    finally:
        settings.FABRIC["DECAY_TICK"] = before


def _said(kind: Kind, place: str, what: str = "is kept by") -> str:
    return f"The {kind.noun} of {place} {what} the office there."


def _plant(project: Project, user: User) -> list[Planted]:
    planted = []
    for kind in KINDS:
        for place in PLACES[:EACH]:
            subject = f"{kind.noun} of {place}" if kind.is_superseded else ""
            learned = Learned(
                observation_type=kind.observation_type,
                text=_said(kind, place),
                subject=subject,
                origin="hand",
            )
            found = remember(project, user, learned, now=BEGIN).observation
            if kind.is_pinned:
                pin(found, by=user)
            planted.append(Planted(kind, place, found))
    return planted


def _live(
    project: Project,
    user: User,
    planted: list[Planted],
    conversations: int,
    *,
    by_day: bool,
) -> dict[int, int]:
    """Let a year go by; return by what each superseded fact was replaced."""
    audience = Audiences(project).private_to(user)
    loop = Loop([p for p in planted if not p.kind.is_superseded], by_day)
    newer: dict[int, int] = {}
    let_go = BEGIN
    for number in range(1, conversations + 1):
        now = BEGIN + YEAR * number / conversations
        if not newer and now > BEGIN + timedelta(days=10):
            newer = _supersede(project, user, planted, now)
        used = [p for p in planted if p.kind.every and number % p.kind.every == 0]
        nodes = [p.observation.pk for p in used]
        with transaction.atomic():  # nothing of it is timed: one commit is enough
            end_conversation(talk(project, user, audience, nodes, now), now=now)
        loop.end(used, now)
        if now - let_go > timedelta(days=1):
            let_leave(planted[0].observation.scope_id, now=now)
            let_go = now
        progress(f"conversation {number:,} of {conversations:,}")
    return newer


def _supersede(
    project: Project, user: User, planted: list[Planted], now: datetime
) -> dict[int, int]:
    newer = {}
    for each in planted:
        if each.kind.is_superseded:
            learned = Learned(
                observation_type="fact",
                text=_said(each.kind, each.place, "moved away from"),
                subject=f"{each.kind.noun} of {each.place}",
                origin="hand",
            )
            found = remember(project, user, learned, now=now)
            newer[each.observation.pk] = found.observation.pk
    return newer


def _table(
    project: Project,
    user: User,
    planted: list[Planted],
    newer: dict[int, int],
    conversations: int,
    tick: str,
) -> Table:
    held = {row.pk for row in current(project, user)}
    rows = Observation.objects.in_bulk([p.observation.pk for p in planted])
    found = {p.observation.pk for p in planted if _finds(project, user, p)}
    table = Table(
        "facts",
        "planted",
        "should be known",
        "are known",
        "found by a question",
        "left at the tick the loop says",
        caption=f"{conversations:,} conversations in a simulated year, "
        f"FABRIC_DECAY_TICK={tick}.",
    )
    for kind in KINDS:
        of_kind = [p for p in planted if p.kind is kind]
        left = [p for p in of_kind if p.left_at is not None]
        exact = [p for p in left if rows[p.observation.pk].leaves_at == p.left_at]
        known = 0 if kind.is_superseded else len(of_kind) - len(left)
        table.add(
            kind.name,
            len(of_kind),
            known,
            sum(p.observation.pk in held for p in of_kind),
            sum(p.observation.pk in found for p in of_kind),
            f"{len(exact)} of {len(left)}",
        )
    gone = BEGIN + YEAR + timedelta(days=KEPT_DAYS + 1)
    table.add("deleted 30 days later", "", "", "", "", delete_left(now=gone))
    return table


def _finds(project: Project, user: User, planted: Planted) -> bool:
    """Return whether asking for it gives it as something known today."""
    question = f"Who keeps the {planted.kind.noun} of {planted.place}?"
    results = search(project, question, user=user, limit=10).results
    return planted.observation.pk in {result.node_id for result in results}
