"""An answer while it is written: its text so far, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory.agent import events, storing, support
from memory.agent.citations import CitationFilter
from memory.agent.database import database
from memory.agent.events import Event
from memory.agent.newer import (
    Checked,
    ages_in_words,
    in_words,
    look_for_newer,
    tells_age,
)
from memory.agent.sources import Source
from memory.agent.tools import Reading, Told, call_tool
from memory.answers import Call, ChatAnswer, Cited
from memory.models import Turn
from memory.sentences import sentences
from retrieval.effort import effort

POLL_SECONDS = 0.4


class Stopped(Exception):
    """The reader wants no more of the answer."""


@dataclass(slots=True)
class Draft:
    """What one answer has read and said."""

    reading: Reading
    turn: Turn | None
    stop: Callable[[], bool]
    model: str
    text: str = ""
    # Where the last words that only told what would be looked up end.
    narrated: int = 0
    quotes: dict[int, str] = field(default_factory=dict)
    citations: list[Cited] = field(default_factory=list)
    checks: list[Checked] = field(default_factory=list)
    support: list[support.Supported] = field(default_factory=list)
    tokens_read: int = 0
    tokens_written: int = 0
    # The last call of a tool, and what it told.
    told: tuple[Call, Told] | None = None
    _filter: CitationFilter = field(init=False)
    _polled: float = field(default_factory=time.monotonic)
    _touched: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        sources = self.reading.sources
        self._filter = CitationFilter(sources.is_known, sources.number_of)

    def check(self) -> None:
        """Raise `Stopped` where nobody waits any more; keep what came every while."""
        if self.stop():
            raise Stopped
        now = time.monotonic()
        if self.turn is None or now - self._polled < POLL_SECONDS:
            return
        self._polled = now
        with database():
            if not storing.keep(self.turn.pk, self.text):
                raise Stopped
            if now - self._touched >= storing.TOUCH_SECONDS:
                self._touched = now
                storing.touch(self.turn.conversation_id)

    def call(self, name: str, arguments: Mapping[str, Any] | None) -> Iterator[Event]:
        """Call a tool and tell of it; what it says is then in `told`."""
        self.check()
        yield events.status("searching", _doing(name, arguments))
        before = len(self.reading.sources.found)
        shown = len(self.reading.tables)
        self.told = call_tool(self.reading, name, arguments)
        yield events.call(self.told[0])
        if new := self.reading.sources.since(before):
            yield events.sources(new)
        yield from self._new_tables(shown)
        self.check()

    def _new_tables(self, shown: int) -> Iterator[Event]:
        for place, table in enumerate(self.reading.tables[shown:], start=shown):
            yield events.sql(table)
            if table.chart:
                yield events.chart(place, table.chart)

    def look_for_newer(self, told: Told) -> Iterator[Event]:
        """Look for what is newer than the stale claims just read, each once."""
        known = {check.source.number for check in self.checks}
        before = len(self.reading.sources.found)
        fresh = [s for s in told.sources if s.number not in known]
        made = look_for_newer(self.reading, fresh)
        self.checks += made
        for check in made:
            yield events.call(check.call)
        if new := self.reading.sources.since(before):
            yield events.sources(new)

    def say(self, text: str) -> Iterator[Event]:
        """Write `text`, whose numbers are those of sources; tell what is settled."""
        yield from self._tell(self._filter.feed(text))

    def end_text(self) -> Iterator[Event]:
        yield from self._tell(self._filter.close())

    def say_notes(self) -> Iterator[Event]:
        """Say of each stale source that is cited how old it is, and what the look for
        newer found; what already says so is left alone."""
        cited = list(self._filter.cited.items())
        checked = {check.source.number for check in self.checks}
        found = ((n, self.reading.sources.found[number]) for number, n in cited)
        untold = [
            source
            for n, source in found
            if source.number not in checked and not tells_age(self.text, n, source)
        ]
        for check in self.checks:
            if check.source.number in self._filter.cited:
                newer = [source.number for source in check.newer]
                note = in_words(check, check.source.number, newer)
                yield from self.say(f"\n\n{note}")
        if ages := ages_in_words(untold):
            yield from self.say(f"\n\n{ages}")
        yield from self.end_text()

    def weigh(self) -> bool:
        """Judge what was said so far; return whether any of its claims is borne out."""
        numbers = self._filter.cited
        cited = {n: self.reading.sources.found[number] for number, n in numbers.items()}
        with database():
            self.support = support.supported(
                self.reading.project, self.text[self.narrated :], cited
            )
        return any(one.numbers for one in self.support)

    @property
    def is_grounded(self) -> bool:
        return bool(self.support) and all(one.numbers for one in self.support)

    @property
    def cited_sources(self) -> list[Source]:
        return [self.reading.sources.found[number] for number in self._filter.cited]

    @property
    def also_read(self) -> tuple[int, ...]:
        """Return the nodes that were read and not cited, the first read first."""
        cited = {source.node_id for source in self.cited_sources}
        read = (source.node_id for source in self.reading.sources.found.values())
        return tuple(dict.fromkeys(n for n in read if n is not None and n not in cited))

    def answer(self, state: Turn.State) -> ChatAnswer:
        """Return the answer as far as it came."""
        turn, reading = self.turn, self.reading
        return ChatAnswer(
            conversation=turn.conversation_id if turn else None,
            turn=turn.pk if turn else None,
            question=reading.question,
            answer=self.text,
            grounded=self.is_grounded,
            citations=tuple(self.citations),
            calls=tuple(reading.calls),
            effort=effort(
                arms=reading.arms,
                hops=reading.hops,
                calls=len(reading.calls),
                tokens=self.tokens_read + self.tokens_written,
            ),
            model=self.model,
            state=state.value,
            support=tuple(one.as_json() for one in self.support),
            unknown_numbers=self._filter.unknown_numbers,
            tables=tuple(reading.tables),
        )

    def _tell(self, settled: str) -> Iterator[Event]:
        for piece in sentences(settled.replace("\x00", "\ufffd")):
            self.text += piece
            yield events.delta(piece)
            for number, n in list(self._filter.cited.items())[len(self.citations) :]:
                if f"[{n}]" not in self.text:
                    break
                cited = self.reading.sources.found[number].cited(n, self._quote(number))
                self.citations.append(cited)
                yield events.citation(cited)

    def _quote(self, number: int) -> str:
        """Return the words of a source that the last sentence rests on."""
        if number not in self.quotes:
            source = self.reading.sources.found[number]
            if source.quote:
                return source.quote
            last = sentences(self.text.rstrip())[-1:]
            with database():
                self.quotes[number] = support.quote_of(
                    self.reading.project, source, last, self.reading.question
                )
        return self.quotes[number]


def _doing(name: str, arguments: Mapping[str, Any] | None) -> str:
    given = arguments or {}
    said = given.get("query") or given.get("of") or given.get("question") or ""
    words = " ".join(str(said).split())[:80]
    return f"{name.replace('_', ' ').capitalize()}: {words}" if words else name
