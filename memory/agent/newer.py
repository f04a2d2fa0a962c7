"""A stale claim is not leaned on before newer evidence was looked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from memory.agent.sources import Source
from memory.agent.tools import Reading, call_tool
from memory.answers import Call

MOST_CHECKED, NEWER = 2, 3


@dataclass(frozen=True, slots=True)
class Checked:
    """A stale source, and what is newer than it."""

    source: Source
    newer: tuple[Source, ...]
    call: Call


def look_for_newer(reading: Reading, read: Iterable[Source]) -> list[Checked]:
    """Search for what is newer than the stale claims among `read`, for the best two."""
    stale = [s for s in read if s.needs_newer and s.timestamp]
    found = []
    for source in stale[:MOST_CHECKED]:
        said = timezone.localtime(source.timestamp)
        wanted = {
            "query": source.name[:1000],
            "limit": NEWER + 1,
            "since": said.isoformat(),
        }
        call, told = call_tool(reading, "search", wanted)
        newer = [
            one
            for one in told.sources
            if one.number != source.number and one.timestamp
            if source.timestamp and one.timestamp > source.timestamp
        ]
        found.append(Checked(source, tuple(newer[:NEWER]), call))
    return found


def in_words(checked: Checked, number: int, newer: Iterable[int]) -> str:
    """Return what was found, in a sentence with the numbers of the citations."""
    source = checked.source
    listed = "".join(f"[{n}]" for n in newer)
    outcome = (
        f"newer evidence speaks of it {listed}; compare the two"
        if listed
        else "I looked for newer evidence and found none"
    )
    return (
        f"Note that [{number}] is {source.stale.days} days old "
        f"(threshold: {source.stale.threshold} days): {outcome}."
    )
