"""The passage of a text that answers a question best, its words marked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import connection

from connections.models import Project
from retrieval import passages_sql

# A word's letters, with the accents that are characters of their own.
_WORD = re.compile(r"\w+")
PASSAGE, TITLE = 420, 300
# So much of a text is looked through; a longer one is kept in parts anyway.
LOOKED_THROUGH, WORDS_LOOKED_UP = 6000, 20_000
LONGEST_WORD = 100


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text, plain or marked."""

    text: str
    is_marked: bool = False


def matching_words(
    project: Project, question: str, texts: Iterable[str]
) -> frozenset[str]:
    """Return the words of `texts`, in lower case, that share a stem with `question`."""
    asked = _WORD.findall(question)
    said = {
        word.lower()
        for text in texts
        for word in _WORD.findall(text[:LOOKED_THROUGH])
        if len(word) <= LONGEST_WORD
    }
    if not asked or not said:
        return frozenset()
    values: dict[str, int | str | list[str]] = {
        "project": project.pk,
        "language": project.language,
        "question": question,
        "words": " ".join(asked),
        "said": sorted(said)[:WORDS_LOOKED_UP],
    }
    with connection.cursor() as cursor:
        cursor.execute(passages_sql.MATCHING, values)
        return frozenset(row[0] for row in cursor.fetchall())


def passage(
    text: str, words: Collection[str], most: int = PASSAGE
) -> tuple[Piece, ...]:
    """Return about `most` characters of `text` with the most different `words` in
    them, unchanged but for the ellipses where it is cut."""
    text = text.strip()
    looked = text[:LOOKED_THROUGH]
    found = [
        (match.start(), match.end(), match[0].lower())
        for match in _WORD.finditer(looked)
        if match[0].lower() in words
    ]
    start = _best_start(found, most) if len(text) > most else 0
    start, end = _whole_words(text, start, most)
    marks = [(a, b) for a, b, _ in found if start <= a and b <= end]
    return tuple(_pieces(text, start, end, marks))


def _best_start(found: list[tuple[int, int, str]], most: int) -> int:
    """Return where a window with the most different words begins; a tie: the first."""
    best, best_start, first = 0, 0, 0
    for last in range(len(found)):
        while first < last and found[last][1] - found[first][0] > most:
            first += 1
        different = len({word for _, _, word in found[first : last + 1]})
        if different > best:
            best, best_start = different, found[first][0]
    return best_start


def _whole_words(text: str, start: int, most: int) -> tuple[int, int]:
    if len(text) <= most:
        return 0, len(text)
    # A few words before the first mark say what it is about.
    start = max(0, min(start - most // 6, len(text) - most))
    if start:
        gap = text.find(" ", start, start + 40)
        start = gap + 1 if gap >= 0 else start
    end = min(len(text), start + most)
    if end < len(text):
        gap = text.rfind(" ", max(start, end - 40), end)
        end = gap if gap > start else end
    return start, end


def _pieces(
    text: str, start: int, end: int, marks: list[tuple[int, int]]
) -> list[Piece]:
    pieces, at = [Piece("\u2026" if start else "")], start
    for first, after in marks:
        pieces += [Piece(text[at:first]), Piece(text[first:after], is_marked=True)]
        at = after
    pieces += [Piece(text[at:end]), Piece("\u2026" if end < len(text) else "")]
    return [piece for piece in pieces if piece.text]
