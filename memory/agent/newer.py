"""A stale claim is not leaned on before newer evidence was looked for, and what is
stale is not cited without its age."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from connections.records import node_types
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
        f"Note that [{number}] is {source.stale.told} old ({source.stale.days} days, "
        f"threshold: {source.stale.threshold}): {outcome}."
    )


def ages_in_words(cited: Iterable[Source]) -> str:
    """Return how old those of `cited` are that are stale, in a sentence; "" for none.

    What only orders others (a thread, a person) has an age that says nothing.
    """
    by_age: dict[str, list[int]] = {}
    for source in cited:
        kind = node_types.get(source.node_type)
        if source.stale.told and not (kind and kind.structure):
            by_age.setdefault(source.stale.told, []).append(source.number)
    told = [
        f"{''.join(f'[{n}]' for n in numbers)} {'is' if len(numbers) == 1 else 'are'} "
        f"{age} old"
        for age, numbers in by_age.items()
    ]
    return f"Mind the age: {', '.join(told)}." if told else ""


def tells_age(text: str, number: int, source: Source) -> bool:
    """Return whether a paragraph of `text` that cites `number` says how old it is."""
    days = f"{source.stale.days} days"
    return any(
        f"[{number}]" in said and (f"{source.stale.told} old" in said or days in said)
        for said in text.splitlines()
    )
