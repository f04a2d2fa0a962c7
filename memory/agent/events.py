"""What an answer tells while it is made: one vocabulary, with a model or without.

The order of a turn: `status` (started), then any of `status filters call sources`,
then `delta` and `citation`, then `followups`, and last `done` or `error`. `ping` comes
whenever nothing else does for a while. `sql` and `chart` come of databases.
As server-sent events each is `event: NAME`, `data: OBJECT`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from connections.records import JSON
from memory.answers import Call, ChatAnswer, Cited
from memory.sql.tables import ShownTable

Name = Literal[
    "status",
    "filters",
    "call",
    "sources",
    "delta",
    "citation",
    "sql",
    "chart",
    "followups",
    "done",
    "error",
    "ping",
]
State = Literal["started", "searching", "writing"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened; `data` is an object of JSON."""

    name: Name
    data: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that the question was understood to have.

    `how` is "typed" in the question, "guessed" from it, or "ignored": a guess taken
    back. Sending `ignore` in the request's list of that name takes a guess back;
    leaving it out brings it back. Of what was typed it is empty.
    """

    label: str
    text: str
    how: Literal["typed", "guessed", "ignored"]
    ignore: str


def status(
    state: State, text: str, *, conversation: str | None = None, turn: int | None = None
) -> Event:
    """`{state, text, conversation, turn}`: what goes on, in a few words.

    The first is "started"; it names the stored turn, by which it can be stopped
    (`POST /api/v1/chat/turns/{turn}/stop/`), or null where nothing is stored. Then
    "searching" before every call of a tool, and "writing" before the answer.
    """
    told = {"state": state, "text": text, "conversation": conversation, "turn": turn}
    return Event("status", told)


def filters(found: Mapping[str, JSON], chips: Sequence[Chip]) -> Event:
    """`{filters, chips: [{label, text, how, ignore}]}`: how the question was read.

    `filters` is what a search says of it; it comes only where there is a chip.
    """
    shown: list[JSON] = [asdict(chip) for chip in chips]
    return Event("filters", {"filters": dict(found), "chips": shown})


def call(made: Call) -> Event:
    """`{name, arguments, took_ms, result_count, error}`: a tool was called."""
    return Event("call", asdict(made))


def sources(found: Sequence[Cited]) -> Event:
    """`{sources: [a citation without its quote]}`: what the answer may rest on.

    It may come several times, each with what is new. `n` is the number of the source
    among those read; the number in the answer comes with `citation`.
    """
    told: list[JSON] = [
        {name: value for name, value in one.as_json().items() if name != "quote"}
        for one in found
    ]
    return Event("sources", {"sources": told})


def delta(text: str) -> Event:
    """`{text}`: some more of the answer; all of them joined are the answer.

    Its `[n]` are final, and never split over two deltas.
    """
    return Event("delta", {"text": text})


def citation(cited: Cited) -> Event:
    """A citation as in the answer: it comes after the delta that first refers to it."""
    return Event("citation", cited.as_json())


def sql(table: ShownTable) -> Event:
    """`{connection, sql, columns, rows, row_count, truncated, took_ms, ...}`: a table.

    As in the answer's `sql`: besides, `question`, `reading`, `assumptions`, `tables`,
    and the ids of the database and of the run. It comes after the call that asked.
    """
    return Event("sql", table.as_json())


def chart(place: int, shape: Mapping[str, JSON]) -> Event:
    """`{place, ...}`: how the answer's table of that place (from 0) may be drawn."""
    return Event("chart", {"place": place, **shape})


def followups(questions: Sequence[str]) -> Event:
    """`{questions: [text]}`: up to three that could be asked next, from what was found."""
    return Event("followups", {"questions": list(questions)})


def done(answer: ChatAnswer) -> Event:
    """The whole answer, as the API gives it where it is not streamed.

    Its `state` is "done", or "stopped" where the reader stopped it: then `answer` is
    what had come. `support` says of each sentence which citations bear it out.
    """
    return Event("done", answer.as_json())


def error(
    problem: Mapping[str, JSON], *, answer: ChatAnswer | None, can_retry: bool
) -> Event:
    """`{type, title, status, detail, code, can_retry, conversation, turn, answer}`.

    A problem as the API tells any other, with what had come. Where `can_retry`, asking
    the same question in `conversation` again takes up the failed turn.
    """
    so_far: dict[str, JSON] = {
        "can_retry": can_retry,
        "conversation": str(answer.conversation) if answer else None,
        "turn": answer.turn if answer else None,
        "answer": answer.answer if answer else "",
    }
    return Event("error", {**problem, **so_far})


def ping() -> Event:
    """`{}`: nothing new; it keeps a proxy from closing the connection."""
    return Event("ping", {})
