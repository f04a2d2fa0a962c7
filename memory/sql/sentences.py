"""The answer of rows in one sentence; every number in it stands in the rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from connections.databases.base import Cell, ResultColumn, Rows
from memory.sql.cells import in_words, is_number

LISTED, COLUMNS = 10, 4
NOTHING = "No row of the database answers that."
_HOW_MANY = re.compile(
    r"\b(?:how many|wie ?viele?|number of|count of|anzahl (?:der|von))\s+"
    r"(?:different |distinct |verschiedenen? )?(?P<what>[^\W\d_][\w-]*)",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"^(?:count|n|number|total|anzahl)?(?:_?\w*count\w*)?$", re.I)
_TOP = re.compile(
    r"\b(?:the\s+|die\s+)?(?P<top>(?:top|bottom|largest|smallest|highest|lowest|best"
    r"|first|last|latest|ersten|letzten|größten|kleinsten)\s+\d*\s*[^\W\d_][^?.!,;]{1,80})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence in pieces: each with the place of the row that it quotes, or None."""

    pieces: tuple[tuple[str, int | None], ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


def sentence_of(question: str, rows: Rows) -> Sentence:
    """Return what `rows` answer to `question`: a number, a few values, a short list."""
    if not rows.rows:
        return Sentence(((NOTHING, None),))
    if len(rows.rows) == 1:
        return Sentence(((_of_one(question, rows), 0),))
    return _of_many(question, rows)


def row_in_words(columns: Sequence[ResultColumn], row: Sequence[Cell]) -> str:
    """Return a row as a line: each column's name, and its value as it is read."""
    return "; ".join(
        f"{label(column.name)}: {in_words(cell)}"
        for column, cell in zip(columns, row, strict=True)
    )


def label(name: str) -> str:
    """Return a column's name as words."""
    return " ".join(name.replace("_", " ").split()) or "value"


def _of_one(question: str, rows: Rows) -> str:
    (row,) = rows.rows
    if len(row) > 1:
        return f"{_capital(row_in_words(rows.columns, row))}."
    name = rows.columns[0].name
    counted = _HOW_MANY.search(question)
    if is_number(row[0]) and counted and _COUNTS.match(name):
        return f"{in_words(row[0])} {counted['what']}."
    return f"{_capital(label(name))}: {in_words(row[0])}."


def _of_many(question: str, rows: Rows) -> Sentence:
    pieces: list[tuple[str, int | None]] = [(_headed(question), None)]
    shown = rows.rows[:LISTED]
    for place, row in enumerate(shown):
        gap = "; " if place + 1 < len(shown) else ""
        pieces.append((_briefly(rows.columns, row), place))
        if gap:
            pieces.append((gap, None))
    has_more = len(rows.rows) > len(shown) or rows.truncated
    pieces.append(("; and more." if has_more else ".", None))
    return Sentence(tuple(pieces))


def _headed(question: str) -> str:
    """Return what the list is of, in the words of the question."""
    if asked := _TOP.search(question):
        words = " ".join(asked["top"].split())
        return f"{_capital(words)}: "
    return "Found: "


def _briefly(columns: Sequence[ResultColumn], row: Sequence[Cell]) -> str:
    """Return a row as its first value, the others behind it in brackets."""
    first, rest = in_words(row[0]), row[1:COLUMNS]
    if not rest:
        return first
    if len(rest) == 1:
        return f"{first} ({in_words(rest[0])})"
    named = zip(columns[1:COLUMNS], rest, strict=True)
    said = ", ".join(f"{label(column.name)} {in_words(cell)}" for column, cell in named)
    return f"{first} ({said})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
