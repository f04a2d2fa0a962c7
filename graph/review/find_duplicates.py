"""Names that are nearly alike: of one type, one letter or an ending apart.

Equal names are merged by themselves (`graph.same_names`); these only ask a person.
Persons are another kind (`identity`), and what a source says itself is none.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from connections.models import Project
from graph.audiences import Audiences
from graph.copying import fetch
from graph.merged import scope_values
from graph.models.node import OF_ITS_SOURCE
from graph.review import duplicates_sql as sql
from graph.review.kinds import Flagged, finders
from graph.review.near_names import Names, alike, trigrams

KIND = "duplicate"
CHUNK = 5000
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
    for pairs in _batches(_near(project)):
        named = _named(project, pairs)
        for one, other, why in _one_thing(pairs, named):
            if frozenset((one.key, other.key)) not in apart:
                yield _flagged(one, other, why, audiences, uses=one.uses + other.uses)


@dataclass(frozen=True, slots=True)
class Named:
    """A node by what is compared of it."""

    id: int
    key: str
    title: str
    audience: int
    type: str
    uses: int


def _near(project: Project) -> Iterator[tuple[int, int]]:
    """Yield pairs of nodes of one type whose names may be alike, a type at a time."""
    values = {
        **scope_values(project),
        "unmerged": list(OF_ITS_SOURCE),
        "limit": CHUNK,
        "after": 0,
    }
    types: dict[str, tuple[array[int], Names]] = {}
    while rows := fetch(sql.NAMED, values):
        for pk, node_type, title in rows:
            ids, names = types.setdefault(node_type, (array("q"), Names()))
            ids.append(pk)
            names.add(title)
        values["after"] = rows[-1][0]
    while types:
        _, (ids, names) = types.popitem()
        for one, other in names.near(LOOKED_AT):
            yield ids[one], ids[other]


def _batches(pairs: Iterator[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    while batch := list(islice(pairs, CHUNK)):
        yield batch


def _named(project: Project, pairs: Sequence[tuple[int, int]]) -> dict[int, Named]:
    ids = list({pk for pair in pairs for pk in pair})
    rows = fetch(sql.WITH_USES, {**scope_values(project), "ids": ids})
    return {row[0]: Named(*row) for row in rows}


def _one_thing(
    pairs: Sequence[tuple[int, int]], named: Mapping[int, Named]
) -> Iterator[tuple[Named, Named, str]]:
    """Yield the pairs that may be one thing, with the reason."""
    for first, second in pairs:
        # What went since it was read is not there.
        if first in named and second in named:
            one, other = named[first], named[second]
            share = alike(trigrams(one.title), trigrams(other.title))
            if share >= LOOKED_AT and (why := because(one.title, other.title, share)):
                yield one, other, why


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


def because(one: str, other: str, share: float) -> str:
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
    if share >= ALIKE:
        return f"their spelling is {share:.0%} alike"
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
