"""The fixed plan without a model: search, quote what answers, cite it."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from memory.agent import events
from memory.agent.database import database
from memory.agent.draft import Draft
from memory.agent.events import Event
from memory.agent.plain_words import plain
from memory.agent.reading_tools import PASSAGES
from memory.agent.sources import Source
from memory.agent.support import Supported
from memory.extract import Passage, choose
from memory.sentences import numbers_of
from memory.sql.choosing import worth_asking
from retrieval.results import Result, SearchAnswer
from retrieval.slips import without_slips

MODEL = "extractive"
NOTHING = (
    "Nothing in this project supports an answer to that. "
    "I searched {arms} and read the {count} best passages; none says it."
)
NO_DATA = (
    "Nothing was found: this project has nothing you may see on any of these words."
)
IN_VAIN = "The database was asked too, and gave no answer. {why}"
# Beside rows that answer, a passage has to be about nearly all that was asked.
BESIDE_ROWS = 0.8
QUESTION_CHARACTERS = 1000
_TIE = re.compile(
    r"\b(?:connect\w*|related?|relation\w*|linked?|tied?|hang\w* together)\b",
    re.IGNORECASE,
)


def answer_offline(draft: Draft) -> Iterator[Event]:
    """Tell what the best passages say, word for word; without any, say so."""
    reading = draft.reading
    yield from first_search(draft)
    found = reading.first
    if found is None:
        return
    if draft.told:
        yield from draft.look_for_newer(draft.told[1])
    yield from _tell_ties(draft, found)
    with database():
        asked = without_slips(reading.question, found.parsed.slips).strip()
        passages = choose(reading.project, asked, found.results) if asked else []
    if (yield from _tell_rows(draft, passages)):
        passages = [one for one in passages if one.support >= BESIDE_ROWS]
    yield events.status("writing", "Writing the answer")
    yield from _quote(draft, passages)
    if not draft.text:
        yield from draft.say(_no_answer(found))
        yield from draft.end_text()
    else:
        yield from draft.say_notes()


def first_search(draft: Draft) -> Iterator[Event]:
    """Search for the question as it was asked; every answer begins so.

    Raises what the search does where the question itself cannot be asked.
    """
    reading = draft.reading
    wanted = {"query": reading.question, "limit": PASSAGES}
    yield from draft.call("search", wanted)
    if draft.told and draft.told[1].failure:
        raise draft.told[1].failure


def _tell_ties(draft: Draft, found: SearchAnswer) -> Iterator[Event]:
    """Where it is asked how two things hang together, say the ways between them."""
    keys = list(dict.fromkeys(h.key for h in found.parsed.hints if h.node_id and h.key))
    if len(keys) < 2 or not _TIE.search(draft.reading.question):
        return
    yield from draft.call("paths", {"from": keys[0][:500], "to": keys[1][:500]})
    if not draft.told or not draft.told[1].count:
        return
    told = draft.told[1]
    numbers = "".join(f"[{source.number}]" for source in told.sources)
    ways = "\n".join(f"- {plain(way)}" for way in told.notes)
    yield from draft.say(f"They hang together so {numbers}:\n\n{ways}")
    yield from draft.end_text()
    cited = tuple(range(1, len(draft.citations) + 1))
    draft.support += [Supported(plain(way), cited) for way in told.notes if cited]


def _tell_rows(draft: Draft, passages: list[Passage]) -> Generator[Event, None, bool]:
    """Where a database may answer better than the passages do, ask it; return whether
    it answered."""
    reading = draft.reading
    with database():
        support = max((one.support for one in passages), default=0.0)
        asked = worth_asking(
            reading.question, reading.project, reading.user, beside=support
        )
    if asked is None:
        return False
    wanted = {
        "question": reading.question[:QUESTION_CHARACTERS],
        "database": asked.name,
    }
    yield from draft.call("ask_database", wanted)
    if draft.told is None:
        return False
    call, told = draft.told
    begins = len(draft.text)
    yield from draft.say(told.answer or IN_VAIN.format(why=plain(call.error)))
    yield from draft.end_text()
    for line in draft.text[begins:].splitlines():
        if numbers := numbers_of(line):
            draft.support.append(Supported(line.strip(), numbers))
    return not call.error


def _quote(draft: Draft, passages: list[Passage]) -> Iterator[Event]:
    for passage in passages:
        source = _source_of(draft, passage.result)
        draft.quotes[source.number] = passage.quote
        words = f"{plain(passage.introduction)} \u201c{plain(passage.quote)}\u201d"
        begins = len(draft.text)
        gap = "\n\n" if draft.text else ""
        yield from draft.say(f"{gap}{words} [{source.number}]")
        yield from draft.end_text()
        said = draft.text[begins:].strip()
        number = next(c.n for c in draft.citations if c.key == source.key)
        draft.support.append(Supported(said, (number,)))
        draft.check()


def _source_of(draft: Draft, result: Result) -> Source:
    (source,) = draft.reading.sources.add_results([result])
    return source


def _no_answer(found: SearchAnswer) -> str:
    if not found.results:
        return NO_DATA
    arms = " and ".join(name for name, count in found.arms.items() if count)
    return NOTHING.format(arms=arms, count=len(found.results))
