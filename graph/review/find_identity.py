"""Persons who may be one, where nobody has said yet whether they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from connections.models import Project
from graph.audiences import Audiences
from graph.copying import fetch
from graph.models import IdentityDecision
from graph.review import finding_sql
from graph.review.alike import Pair, Someone, alike, someone
from graph.review.kinds import Flagged, finders
from graph.review.pages import about, fingerprint
from graph.review.uses import uses_of

BATCH = 1_000


@dataclass(slots=True)
class _Held:
    """A person as the identities have it, and the audiences of all of them."""

    key: str
    title: str
    names: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    identities: list[str] = field(default_factory=list)
    audiences: set[int] = field(default_factory=set)


@finders.register("identity")
def find_identity(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield the pairs of persons who may be one, unless a person decided on them: on
    any identity of the one and any of the other."""
    held = _held(project, now)
    people = [
        someone(person, who.key, who.names, who.addresses, who.identities)
        for person, who in held.items()
    ]
    decided = _decided(project)
    open_pairs = [pair for pair in alike(people) if not _is_decided(pair, decided)]
    audiences = Audiences(project)
    for start in range(0, len(open_pairs), BATCH):
        batch = open_pairs[start : start + BATCH]
        uses = uses_of(
            project, list({who.person_id for p in batch for who in (p.one, p.other)})
        )
        for pair in batch:
            one, other = held[pair.one.person_id], held[pair.other.person_id]
            yield Flagged(
                subject=about(pair.one.key, pair.other.key),
                fingerprint=_fingerprint(pair),
                why=_why(one, other, pair),
                audience_id=audiences.all_of(one.audiences | other.audiences),
                node_id=pair.one.person_id,
                other_id=pair.other.person_id,
                detail={
                    "reasons": list(pair.reasons),
                    "similarity": round(pair.score, 3),
                    "identities": [*one.identities, *other.identities],
                },
                uses=uses[pair.one.person_id] + uses[pair.other.person_id],
            )


def _held(project: Project, now: datetime) -> dict[int, _Held]:
    values = {"tenant": project.tenant_id, "project": project.pk, "now": now}
    found: dict[int, _Held] = {}
    for row in fetch(finding_sql.IDENTITIES, values):
        key, _, address, names, person, audience, person_key, title, seen_by = row
        who = found.setdefault(person, _Held(person_key, title))
        who.names += names
        who.addresses.append(address)
        who.identities.append(key)
        who.audiences |= {audience, seen_by}
    return found


def _decided(project: Project) -> dict[str, set[str]]:
    """Return of each identity those that a person's word ties to it, or parts from it."""
    decided: dict[str, set[str]] = defaultdict(set)
    rows = IdentityDecision.objects.filter(
        tenant_id=project.tenant_id, project_id=project.pk
    )
    for one, other in rows.values_list("first_key", "second_key"):
        decided[one].add(other)
        decided[other].add(one)
    return decided


def _is_decided(pair: Pair, decided: dict[str, set[str]]) -> bool:
    theirs = set(pair.other.identities)
    return any(decided.get(key, set()) & theirs for key in pair.one.identities)


def _fingerprint(pair: Pair) -> str:
    return fingerprint(
        *(part for who in (pair.one, pair.other) for part in _said_of(who)),
        *sorted(pair.reasons),
    )


def _said_of(who: Someone) -> tuple[object, ...]:
    return sorted(who.identities), sorted(who.names), sorted(who.addresses)


def _why(one: _Held, other: _Held, pair: Pair) -> str:
    return (
        f"{one.title} and {other.title} may be one person: {'; '.join(pair.reasons)}."
    )
