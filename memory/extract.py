"""The words of a source that answer a question, and whether any do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from connections.models import Project
from retrieval.frequencies import weigh_words, words_of
from retrieval.results import Result

QUOTE_CHARACTERS = 420
PASSAGES = 4
# A passage supports an answer when it has this share of what the question asks about,
# each word weighing as much as it is rare in the project.
SUPPORT = 0.45
# Passages far below the best one only pad the answer.
BESIDE_BEST = 0.7
# A question is rarely its own answer.
ASKED = 0.6
_ADDRESS = re.compile(r"\s*<[^<>\s]*@[^<>]*>")
_SENTENCE = re.compile(
    r"[^.!?\n]+(?:[.!?]+(?=\s|$|[\"'\u201d)])[\"'\u201d)]*|[.!?]|\n|$)*"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of one result, exactly as they stand there, and their support, 0 to 1."""

    result: Result
    quote: str
    support: float

    @property
    def introduction(self) -> str:
        """Return who said it, when and where, without addresses and recipients."""
        said = _ADDRESS.sub("", self.result.context or self.result.title)
        return f"{said.partition(' · to ')[0]}:"


def choose(project: Project, question: str, results: Sequence[Result]) -> list[Passage]:
    """Return the passages that answer `question`, best first; none where none does."""
    weights = weigh_words(project, question)
    if not weights or not results:
        return []
    windows = [
        (place, quote)
        for place, result in enumerate(results)
        for quote in _windows(result.text)
    ]
    around = [f"{result.title}\n{result.context}" for result in results]
    said = words_of(project, [*around, *(quote for _, quote in windows)])
    best: dict[str, Passage] = {}
    for (place, quote), own in zip(windows, said[len(results) :], strict=True):
        result, other = results[place], said[place]
        support = _support(weights, own, own | other)
        if quote.endswith("?"):
            support *= ASKED
        passage = Passage(result, quote, support)
        if not own & weights.keys():
            continue
        known = best.get(result.key)
        if known is None or (passage.support, -len(quote)) > (
            known.support,
            -len(known.quote),
        ):
            best[result.key] = passage
    ranked = sorted(
        best.values(),
        key=lambda p: p.support * (0.6 + 0.4 * p.result.relevance),
        reverse=True,
    )
    enough = max(SUPPORT, BESIDE_BEST * max((p.support for p in ranked), default=0))
    return [p for p in ranked if p.support >= enough][:PASSAGES]


def best_window(project: Project, asked: str, text: str) -> str:
    """Return the run of sentences of `text` that has most of the words of `asked`."""
    windows = _windows(text)
    if len(windows) < 2:
        return windows[0] if windows else ""
    weights = weigh_words(project, asked)
    said = words_of(project, windows)
    places = range(len(windows))
    best = max(
        places,
        key=lambda i: (
            sum(weights.get(word, 0.0) for word in said[i]),
            -len(windows[i]),
        ),
    )
    return windows[best]


def _support(weights: dict[str, float], own: set[str], either: set[str]) -> float:
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in either) / total


def _windows(text: str) -> list[str]:
    """Return runs of whole sentences of `text`, each short enough to quote."""
    spans = [
        match.span()
        for match in _SENTENCE.finditer(text)
        if match.group().strip() and not match.group().lstrip().startswith("#")
    ]
    windows = []
    for first in range(len(spans)):
        for last in range(first, min(first + 3, len(spans))):
            quote = text[spans[first][0] : spans[last][1]].strip()
            if len(quote) <= QUOTE_CHARACTERS:
                windows.append(quote)
            elif first == last:
                windows.append(_shortened(quote))
    return windows or ([_shortened(text.strip())] if text.strip() else [])


def _shortened(sentence: str) -> str:
    end = sentence.rfind(" ", 0, QUOTE_CHARACTERS)
    return sentence[: end if end > 0 else QUOTE_CHARACTERS]
