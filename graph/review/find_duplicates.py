"""Names that are nearly alike: of one type, one letter or an ending apart.

Equal names are merged by themselves (`graph.same_names`); these only ask a person.
Persons are another kind (`identity`), and what a source says itself is none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime

from django.db import transaction

from connections.models import Project
from graph.audiences import Audiences
from graph.copying import execute, fetch
from graph.merged import scope_values
from graph.models.node import OF_ITS_SOURCE
from graph.review import duplicates_sql as sql
from graph.review.kinds import Flagged, finders

KIND = "duplicate"
CHUNK, MOST_NEAR = 2000, 10
# Trigrams alone: "Kafka Streams" and "Kafka Stream" have 0.79, "PostgreSQL" and
# "PostgresSQL" 0.69, "Loader 1" and "Loader 2" 0.64.
ALIKE, LOOKED_AT = 0.75, 0.5
SHORTEST, PER_EDIT = 4, 6
PLURALS = ("s", "es")
DIGITS = re.compile(r"\d+")
PLAIN = re.compile(r"[\W_]+")


@finders.register(KIND)
def duplicates(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield each pair of names of one type that may be one thing."""
    apart = {
        frozenset(pair)
        for pair in fetch(sql.TAKEN_APART, [project.tenant_id, project.pk])
    }
    audiences = Audiences(project)
    for row in _near(project):
        one, other = (
            Named(row[0], row[1], row[2], row[3], row[4]),
            Named(row[5], row[6], row[7], row[8], row[4]),
        )
        why = because(one.title, other.title, row[9])
        if why and frozenset((one.key, other.key)) not in apart:
            yield _flagged(one, other, why, audiences, uses=row[10] + row[11])


class Named:
    """A node by what is compared of it."""

    __slots__ = ("audience", "id", "key", "title", "type")

    def __init__(
        self, pk: int, key: str, title: str, audience: int, node_type: str
    ) -> None:
        self.id, self.key, self.title = pk, key, title
        self.audience, self.type = audience, node_type


def _near(project: Project) -> Iterator[tuple]:
    values = {
        **scope_values(project),
        "unmerged": list(OF_ITS_SOURCE),
        "most": MOST_NEAR,
        "limit": CHUNK,
        "after": 0,
    }
    while ids := [row[0] for row in fetch(sql.NAMED, values)]:
        with transaction.atomic():
            threshold = "SELECT set_config('pg_trgm.similarity_threshold', %s, true)"
            execute(threshold, [str(LOOKED_AT)])
            near = fetch(sql.NEARLY_THE_SAME, {**values, "ids": ids})
        yield from near
        values["after"] = ids[-1]


def _flagged(
    one: Named, other: Named, why: str, audiences: Audiences, *, uses: int
) -> Flagged:
    both = sorted((one, other), key=lambda named: named.key)
    subject = "\n".join(named.key for named in both)
    names = "\n".join(f"{named.key}\n{named.title}" for named in both)
    if len(subject) > 500:
        subject = hashlib.sha256(subject.encode()).hexdigest()
    return Flagged(
        subject=f"pair:{subject}",
        fingerprint=hashlib.sha256(f"{one.type}\n{names}".encode()).hexdigest(),
        why=f"“{both[0].title}” and “{both[1].title}” are both a {one.type}: {why}.",
        audience_id=audiences.all_of({one.audience, other.audience}),
        node_id=both[0].id,
        other_id=both[1].id,
        uses=uses,
    )


def because(one: str, other: str, alike: float) -> str:
    """Return why two names may be one, in words; empty where they may not.

    Where their digits differ they name two things: "HTTP/2" and "HTTP/3".
    """
    if DIGITS.findall(one) != DIGITS.findall(other):
        return ""
    first, second = (PLAIN.sub(" ", name.lower()).strip() for name in (one, other))
    shorter, longer = sorted((first, second), key=len)
    if shorter == longer:
        return "they differ only in their signs"
    if len(shorter) < SHORTEST:
        return ""
    if any(longer == shorter + ending for ending in PLURALS) or (
        shorter.endswith("y") and longer == f"{shorter[:-1]}ies"
    ):
        return "one is the plural of the other"
    edits = edit_distance(shorter, longer, most=max(1, len(shorter) // PER_EDIT))
    if edits is not None and len(shorter) >= PER_EDIT:
        return "one letter apart" if edits == 1 else f"{edits} letters apart"
    if alike >= ALIKE:
        return f"their spelling is {alike:.0%} alike"
    return ""


def edit_distance(one: str, other: str, *, most: int) -> int | None:
    """Return how many letters are put in, left out, changed or swapped with the next,
    or None where that is more than `most`."""
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, row, older = row, [i], before
        for j, wanted in enumerate(other, 1):
            cost = min(last[j] + 1, row[-1] + 1, last[j - 1] + (letter != wanted))
            is_swap = (
                i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted
            )
            row.append(min(cost, older[j - 2] + 1) if is_swap else cost)
        if min(row) > most:
            return None
        before = last
    return row[-1] if row[-1] <= most else None
