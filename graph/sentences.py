"""Sentences of running text, and the parts of a text that are not its own words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

# Lines of mail are broken near the 72nd column within a sentence; a shorter line ends.
WRAPPED_AT = 50
LONGEST_QUOTE = 600

_ENDS = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]*_]*(?=\s)|\n")
_NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|approx|mr|mrs|ms|dr|prof|no|st)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_NEW_LINE_BEGINS = re.compile(r"\s*(?:$|[-*•>#|]|\d{1,3}[.)]\s|\n)")
# Code between fences, addresses, paths of files, and what others said ("> ...").
_FOREIGN = re.compile(
    r"```.*?(?:```|\Z)"
    r"|^[ \t]*>.*$"
    r"|\b[a-z][a-z0-9+.-]*://\S+|\bwww\.\S+"
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|(?<![\w/])(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)+/?"
    r"|\b[\w.-]+(?:/[\w.-]+){2,}",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Where something stands in a text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


class Sentences:
    """The sentences of one text; nothing is read before it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _starts(self) -> Sequence[int]:
        starts = [0]
        for match in _ENDS.finditer(self.text):
            if match.group() == "\n":
                if self._is_wrapped(match.start()):
                    continue
            elif _NO_END.search(self.text, max(0, match.end() - 8), match.end()):
                continue
            starts.append(match.end())
        return starts

    def _is_wrapped(self, newline: int) -> bool:
        """Return whether the sentence goes on in the next line."""
        line = newline - 1 - self.text.rfind("\n", 0, newline)
        following = self.text[newline + 1 : newline + 12]
        return line >= WRAPPED_AT and not _NEW_LINE_BEGINS.match(following)

    def around(self, at: int) -> Span:
        """Return the sentence that `at` stands in, without blanks at its ends."""
        place = bisect_right(self._starts, at)
        start = self._starts[place - 1]
        end = self._starts[place] if place < len(self._starts) else len(self.text)
        said = self.text[start:end]
        return Span(
            start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())
        )

    def __iter__(self) -> Iterator[Span]:
        """Yield the sentences in order, without blanks at their ends."""
        for start in self._starts:
            if start < len(self.text) and (span := self.around(start)).start < span.end:
                yield span

    @cached_property
    def _foreign(self) -> Sequence[Span]:
        return [Span(*match.span()) for match in _FOREIGN.finditer(self.text)]

    def is_foreign(self, start: int, end: int) -> bool:
        """Return whether it touches code, an address, a path, or another's words."""
        return any(f.start < end and start < f.end for f in self._foreign)


def quotable(text: str, sentence: Span, at: int) -> Span:
    """Return `sentence`, or of a very long one whole words around `at`."""
    if sentence.end - sentence.start <= LONGEST_QUOTE:
        return sentence
    start = max(sentence.start, at - LONGEST_QUOTE // 2)
    end = min(sentence.end, start + LONGEST_QUOTE)
    if start > sentence.start and (blank := text.find(" ", start, at)) > 0:
        start = blank + 1
    if end < sentence.end and (blank := text.rfind(" ", at, end)) > at:
        end = blank
    return Span(start, end)
