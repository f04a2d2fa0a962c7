"""Claims that cannot both hold, where neither has replaced the other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

from connections.models import Audience, Project
from graph.audiences import Audiences
from graph.copying import fetch
from graph.review.kinds import Flagged, finders, usage_counts
from graph.review.pages import about, evidence_of, fingerprint, one_line
from graph.review.uses import uses_of
from memory import review_sql
from memory.learning.frames import Frame, contradicts
from memory.learning.stances import opposed, stances
from memory.models import Observation

Type = Observation.Type
# A fact and a decision can contradict one another, the others only their own type.
_STATED = frozenset({Type.FACT.value, Type.DECISION.value})
# A word that more claims share tells no two of them apart; of the rest, the rarest.
MOST_SHARING, RAREST = 30, 4
PAGE, BATCH = 5_000, 1_000


@usage_counts.register("citations")
def citations(project: Project, nodes: Sequence[int]) -> Mapping[int, int]:
    """Return in how many answers nodes are cited."""
    return dict(
        fetch(review_sql.CITATIONS, [project.tenant_id, project.pk, list(nodes)])
    )


@dataclass(frozen=True)
class Said:
    """A claim that holds now: an observation of anybody's, or a decision read out of
    texts."""

    node_id: int
    key: str
    type: str
    text: str
    said_at: datetime | None
    audience_id: int

    @cached_property
    def frame(self) -> Frame:
        return Frame(self.text)

    @cached_property
    def stances(self) -> Mapping[str, bool]:
        """Return of each name it speaks of whether it is used, or used no longer."""
        return stances(self.text)

    @property
    def family(self) -> str:
        return "stated" if self.type in _STATED else self.type


@finders.register("contradiction")
def find_contradictions(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield pairs of claims that disagree, for those who may see both of them.

    What one person's memory holds against another's is nobody's to see, and left out.
    """
    private = _private(project)
    audiences = Audiences(project)
    pairs = [
        (old, new, reason)
        for old, new, reason in contradictions(_said(project, now))
        if not private >= {old.audience_id, new.audience_id}
        or old.audience_id == new.audience_id
    ]
    for start in range(0, len(pairs), BATCH):
        batch = pairs[start : start + BATCH]
        nodes = list({one.node_id for old, new, _ in batch for one in (old, new)})
        uses, evidence = uses_of(project, nodes), evidence_of(project, nodes)
        for old, new, reason in batch:
            yield Flagged(
                subject=about(old.key, new.key),
                fingerprint=fingerprint(
                    *(
                        (one.text, one.said_at, evidence.get(one.node_id, ""))
                        for one in sorted((old, new), key=lambda one: one.key)
                    )
                ),
                why=_why(old, new, reason),
                audience_id=audiences.all_of({old.audience_id, new.audience_id}),
                node_id=old.node_id,
                other_id=new.node_id,
                detail={"reason": reason, "types": [old.type, new.type]},
                uses=uses[old.node_id] + uses[new.node_id],
            )


def contradictions(said: Sequence[Said]) -> Iterator[tuple[Said, Said, str]]:
    """Yield each pair of `said` that cannot both hold, the older first, with the reason.

    Only those are compared that share a topic, a name they take a stance on, or one of
    their rare words.
    """
    for family in {one.family for one in said}:
        among = [one for one in said if one.family == family]
        for old, new in _candidates(among):
            if reason := disagreement(old, new):
                yield old, new, reason


def disagreement(old: Said, new: Said) -> str:
    """Return why `new` and `old` cannot both hold; "" where they can."""
    if names := opposed(old.stances, new.stances):
        return f"one takes up {names[0]}, the other gives it up"
    if contradicts(new.frame, old.frame):
        return "they say different things of one subject"
    return ""


def _candidates(among: Sequence[Said]) -> Iterator[tuple[Said, Said]]:
    common = Counter(word for one in among for word in one.frame.words)
    blocks: dict[str, list[Said]] = defaultdict(list)
    takers: dict[str, list[Said]] = defaultdict(list)
    givers: dict[str, list[Said]] = defaultdict(list)
    for one in among:
        for mark in _marks(one, common):
            blocks[mark].append(one)
        for name, takes_up in one.stances.items():
            (takers if takes_up else givers)[name].append(one)
    pairs = chain(
        *(combinations(_newest(block), 2) for block in blocks.values()),
        *(product(_newest(takers[n]), _newest(givers[n])) for n in sorted(givers)),
    )
    seen: set[tuple[int, int]] = set()
    for one, other in pairs:
        old, new = _in_order(one, other)
        if (old.node_id, new.node_id) not in seen:
            seen.add((old.node_id, new.node_id))
            yield old, new


def _marks(one: Said, common: Counter[str]) -> Iterable[str]:
    words = (word for word in one.frame.words if 1 < common[word] <= MOST_SHARING)
    rare = sorted(words, key=lambda word: (common[word], word))[:RAREST]
    return (f"topic {one.frame.topic}", *rare) if one.frame.topic else rare


def _newest(block: Sequence[Said]) -> Sequence[Said]:
    """Return all of a block, or the newest where more share it than can be compared."""
    return sorted(block, key=_moment)[-MOST_SHARING:]


def _in_order(one: Said, other: Said) -> tuple[Said, Said]:
    """Return both, the older first; what has no date counts as older."""
    old, new = sorted((one, other), key=_moment)
    return old, new


def _moment(said: Said) -> tuple[bool, float, str]:
    at = said.said_at
    return at is not None, at.timestamp() if at else 0.0, said.key


def _said(project: Project, now: datetime) -> list[Said]:
    found: list[Said] = []
    values: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "now": now,
        "most": PAGE,
    }
    after = 0
    while rows := fetch(review_sql.CLAIMS, {**values, "after": after}):
        found += [Said(*row) for row in rows]
        after = rows[-1][0]
    return found


def _private(project: Project) -> set[int]:
    rows = Audience.objects.filter(project=project, kind=Audience.Kind.PRIVATE)
    return set(rows.values_list("pk", flat=True))


def _why(old: Said, new: Said, reason: str) -> str:
    return (
        f"\u201c{one_line(old.text)}\u201d and \u201c{one_line(new.text)}\u201d cannot "
        f"both hold: {reason}."
    )
