"""What could be asked next, from what was found: each has an answer in the project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory.agent.sources import Source
from memory.agent.tools import Reading

MOST, LONGEST = 3, 90
_ABOUT = {
    "meeting": "What was decided in “{}”?",
    "sentence": "What else was said in “{}”?",
    "section": "What else does “{}” say?",
    "file": "What else does “{}” say?",
    "email": "Who answered “{}”, and what?",
    "decision": "Why was it decided that “{}”?",
}


def followups(reading: Reading, cited: Iterable[Source]) -> list[str]:
    """Return up to three questions about what was cited, then what else was found."""
    asked = reading.question.casefold()
    said: dict[str, str] = {}
    for question in (*_ties(reading), *_titles(cited), *_rest(reading)):
        if question.casefold() != asked:
            said.setdefault(question.casefold(), question)
    return list(said.values())[:MOST]


def _ties(reading: Reading) -> Iterator[str]:
    """Yield how two things hang together that the question or its results name."""
    if reading.first is None:
        return
    named = [hint.name for hint in reading.first.parsed.hints if hint.node_id]
    for result in reading.first.results[:3]:
        named += [name for name in result.entities if name not in named]
    short = [name for name in named if name and len(name) <= LONGEST // 2]
    if len(short) > 1:
        yield f"How is {short[0]} connected to {short[1]}?"


def _titles(sources: Iterable[Source]) -> Iterator[str]:
    for source in sources:
        title = " ".join(source.title.split())
        if title and len(title) <= LONGEST:
            yield _ABOUT.get(source.node_type, "What else is known about “{}”?").format(
                title
            )


def _rest(reading: Reading) -> Iterator[str]:
    yield from _titles(reading.sources.found.values())
    if reading.first is None:
        return
    for hint in reading.first.parsed.hints:
        if hint.node_id and len(hint.name) <= LONGEST:
            yield f"What is the latest about {hint.name}?"
