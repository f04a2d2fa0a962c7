"""Items of the queue from what a finder found: made, met again, withdrawn."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from connections.models import Project
from graph.copying import execute, fetch
from graph.review import flagging_sql
from graph.review.kinds import Flagged

# What is written in one transaction: a scan that dies loses no more than this.
BATCH = 1_000
# So many of those that wait are read at once, 16 bytes each.
LOOKED_AT = 10_000


@dataclass(frozen=True, slots=True)
class Flags:
    """What became of a kind's items: so many of each.

    `reopened` were decided or withdrawn; `changed` were open or snoozed and learned
    something new; `unchanged` were left as they are, also those decided.
    """

    created: int = 0
    reopened: int = 0
    unchanged: int = 0
    withdrawn: int = 0
    changed: int = 0


def priority_of(found: Flagged) -> float:
    """Return what comes first: what is used much, and is far beyond its threshold."""
    aged = found.age_days is not None and found.threshold
    ratio = (found.age_days or 0) / (found.threshold or 1) if aged else 1.0
    return (1 + math.log1p(found.uses)) * ratio


def flag(
    project: Project,
    kind: str,
    found: Iterable[Flagged],
    *,
    now: datetime,
    complete: bool = True,
) -> Flags:
    """Make an item of each that is new, and tell the others what is known now.

    With `complete`, `found` is all there is of the kind: open and snoozed items that
    are not in it are withdrawn. Written in batches of their own; to die between two of
    them loses nothing, and the same again changes nothing.
    """
    writer = _Writer(project, kind, now)
    for batch in _batches(found):
        writer.write(batch)
    withdrawn = writer.withdraw() if complete else 0
    return Flags(
        writer.created, writer.reopened, writer.unchanged, withdrawn, writer.changed
    )


def _batches(found: Iterable[Flagged]) -> Iterator[list[Flagged]]:
    """Yield batches, a subject at most once in each."""
    batch: dict[str, Flagged] = {}
    for one in found:
        batch.setdefault(one.subject, one)
        if len(batch) == BATCH:
            yield list(batch.values())
            batch = {}
    if batch:
        yield list(batch.values())


class _Writer:
    """Writes batches of one kind, and remembers which subjects were met, 8 bytes each."""

    def __init__(self, project: Project, kind: str, now: datetime) -> None:
        self.scope: dict[str, Any] = {
            "tenant": project.tenant_id,
            "project": project.pk,
            "kind": kind,
            "now": now,
        }
        ((self.began, is_first),) = fetch(flagging_sql.CLOCK, self.scope)
        self.scope["is_first"] = is_first
        self.met = array("q")
        self.created = self.reopened = self.changed = self.unchanged = 0

    def write(self, batch: Sequence[Flagged]) -> None:
        values = self.scope | {"found": json.dumps([_row(one) for one in batch])}
        ((found, met, made, reopened, touched),) = fetch(flagging_sql.PUT, values)
        self.met.extend(met)
        self.created += made
        self.reopened += reopened
        self.changed += touched - made - reopened
        self.unchanged += found - touched

    def withdraw(self) -> int:
        """Withdraw what waits and was not met; return how many."""
        met = np.sort(np.array(self.met, dtype=np.int64))
        after, withdrawn = 0, 0
        while rows := fetch(
            flagging_sql.WAITING, {**self.scope, "after": after, "most": LOOKED_AT}
        ):
            after = rows[-1][0]
            ids, subjects = np.array(rows, dtype=np.int64).T
            lost = ids[~_is_in(subjects, met)].tolist()
            if lost:
                values = {**self.scope, "ids": lost, "began": self.began}
                withdrawn += execute(flagging_sql.WITHDRAW, values)
        return withdrawn


def _is_in(some: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not ordered.size:
        return np.zeros(some.shape, dtype=np.bool_)
    places = np.minimum(np.searchsorted(ordered, some), ordered.size - 1)
    return ordered[places] == some


def _row(one: Flagged) -> dict[str, Any]:
    return {
        "subject": one.subject,
        "fingerprint": one.fingerprint,
        "why": one.why,
        "audience_id": one.audience_id,
        "node_id": one.node_id,
        "other_id": one.other_id,
        "detail": dict(one.detail),
        "age_days": one.age_days,
        "threshold": one.threshold,
        "uses": one.uses,
        "priority": priority_of(one),
    }
