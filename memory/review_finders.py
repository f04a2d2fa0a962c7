"""Claims that cannot both hold, where neither has replaced the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from connections.models import Audience, Project
from graph.audiences import Audiences
from graph.copying import fetch
from graph.review.kinds import Flagged, finders, usage_counts
from graph.review.pages import about, evidence_of, fingerprint, one_line
from graph.review.uses import uses_of
from memory import review_finders_sql
from memory.claim_pairs import Mark, candidates, number
from memory.learning.frames import Frame, contradicts
from memory.learning.stances import opposed, stances
from memory.models import Observation

T = TypeVar("T")
Type = Observation.Type
# A fact and a decision can contradict one another, the others only their own type.
_STATED = frozenset({Type.FACT.value, Type.DECISION.value})
PAGE, BATCH = 2_000, 1_000


@usage_counts.register("citations")
def citations(project: Project, nodes: Sequence[int]) -> Mapping[int, int]:
    """Return in how many answers nodes are cited."""
    return dict(
        fetch(
            review_finders_sql.CITATIONS, [project.tenant_id, project.pk, list(nodes)]
        )
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


def mark(one: Said) -> Mark:
    """Return what is kept of a claim until it is known which are worth comparing."""
    frame, names = one.frame, one.stances
    moment = one.said_at.timestamp() if one.said_at else 0.0
    return Mark(
        node_id=one.node_id,
        family="stated" if one.type in _STATED else one.type,
        # What has no date counts as older.
        at=(one.said_at is not None, moment, one.node_id),
        words=tuple(number(word) for word in frame.words),
        topic=number(frame.topic),
        takes=tuple(name for name, is_taken in names.items() if is_taken),
        gives=tuple(name for name, is_taken in names.items() if not is_taken),
    )


Load = Callable[[Sequence[int]], Mapping[int, Said]]


@finders.register("contradiction")
def find_contradictions(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield pairs of claims that disagree, for those who may see both of them.

    What one person's memory holds against another's is nobody's to see, and left out.
    """
    private, audiences = _private(project), Audiences(project)
    marks = (mark(Said(*row)) for row in _claims(project, now))

    def load(nodes: Sequence[int]) -> dict[int, Said]:
        values = {**_scope(project, now), "nodes": list(nodes)}
        return {
            row[0]: Said(*row) for row in fetch(review_finders_sql.THESE_CLAIMS, values)
        }

    for found in _batches(contradictions(marks, load)):
        nodes = list({one.node_id for old, new, _ in found for one in (old, new)})
        uses, evidence = uses_of(project, nodes), evidence_of(project, nodes)
        for old, new, reason in found:
            if old.audience_id != new.audience_id and (
                private >= {old.audience_id, new.audience_id}
            ):
                continue
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


def contradictions(
    marks: Iterable[Mark], load: Load
) -> Iterator[tuple[Said, Said, str]]:
    """Yield each pair of claims that cannot both hold, the older first, with the reason.

    Only those are compared that share a topic, a name on which they take opposite
    stances, or one of their rare words; `load` gives their texts.
    """
    for pairs in _batches(candidates(marks)):
        said = load(list({node for pair in pairs for node in pair}))
        for one, other in pairs:
            # What went since it was marked is not there.
            if one in said and other in said:
                old, new = said[one], said[other]
                if reason := disagreement(old, new):
                    yield old, new, reason


def disagreement(old: Said, new: Said) -> str:
    """Return why `new` and `old` cannot both hold; "" where they can."""
    if names := opposed(old.stances, new.stances):
        return f"one takes up {names[0]}, the other gives it up"
    if contradicts(new.frame, old.frame):
        return "they say different things of one subject"
    return ""


def _batches(found: Iterable[T]) -> Iterator[list[T]]:
    rows = iter(found)
    while batch := list(islice(rows, BATCH)):
        yield batch


def _scope(project: Project, now: datetime) -> dict[str, Any]:
    return {"tenant": project.tenant_id, "project": project.pk, "now": now}


def _claims(project: Project, now: datetime) -> Iterator[tuple[Any, ...]]:
    after = 0
    values = {**_scope(project, now), "most": PAGE}
    while rows := fetch(review_finders_sql.CLAIMS, {**values, "after": after}):
        yield from (row for row in rows if row[1] is not None)
        after = rows[-1][0]


def _private(project: Project) -> set[int]:
    rows = Audience.objects.filter(project=project, kind=Audience.Kind.PRIVATE)
    return set(rows.values_list("pk", flat=True))


def _why(old: Said, new: Said, reason: str) -> str:
    return (
        f"\u201c{one_line(old.text)}\u201d and \u201c{one_line(new.text)}\u201d cannot "
        f"both hold: {reason}."
    )
