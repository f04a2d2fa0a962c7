"""Reranking: a closer look at the best results, where there is somebody to take it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass
from math import isfinite, log
from typing import Protocol

from connections.registry import Registry
from retrieval.ranking import scale_relevance

SECONDS = 5.0
# One that hangs keeps its thread; the others go on, and too many of them wait, in time.
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="rerank")
_WORD = re.compile(r"\w+")


class RerankError(Exception):
    """A reranker that cannot do what was asked; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text to be ranked anew, and its fused score."""

    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Reranked:
    """Positions of the candidates, the best first, and their new scores beside them.

    `by` names the reranker that ran, "" for none; `dropped` says which one failed, and
    why: then the order and the scores are the fused ones. `tokens` are a model's.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...]
    by: str = ""
    dropped: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Scored:
    """A score a text, in the order of the texts, and the tokens that took."""

    scores: Sequence[float]
    tokens: int = 0


class Reranker(Protocol):
    """Judges how well texts answer a question; more is better.

    `share` is its part, from 0 to 1, in the new score; the rest is the fused one's.
    """

    @property
    def share(self) -> float: ...

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float] | Scored:
        """Return one finite score a text, in the order of the texts."""
        ...


# By the name that FABRIC_RERANKER takes; a factory is called for every use, so one that
# loads a model keeps it.
rerankers: Registry[Callable[[], Reranker]] = Registry("reranker")


def rerank(
    name: str,
    question: str,
    candidates: Sequence[Candidate],
    *,
    seconds: float = SECONDS,
) -> Reranked:
    """Return `candidates` in the order of the reranker `name`; "" keeps theirs.

    One that fails, or takes over `seconds`, is named in the answer, and the fused order
    stays. Raises `UnknownName` for a reranker that does not exist.
    """
    fused = Reranked(
        tuple(range(len(candidates))), tuple(one.score for one in candidates)
    )
    if not name or not candidates:
        return fused
    factory = rerankers[name]
    texts = [one.text for one in candidates]
    asked = _threads.submit(lambda: _judge(factory(), question, texts))
    try:
        share, scored = _wait(asked, seconds)
    except RerankError as error:
        return Reranked(fused.order, fused.scores, dropped=f"{name}: {error}")
    return _blended(name, share, scored, fused.scores)


def _judge(
    reranker: Reranker, question: str, texts: Sequence[str]
) -> tuple[float, Scored]:
    given = reranker.scores(question, texts)
    scored = given if isinstance(given, Scored) else Scored(given)
    if len(scored.scores) != len(texts) or not all(map(isfinite, scored.scores)):
        raise RerankError("it did not give one number for each text.")
    return reranker.share, scored


def _wait(asked: Future[tuple[float, Scored]], seconds: float) -> tuple[float, Scored]:
    try:
        return asked.result(timeout=seconds)
    except RerankError:
        raise
    except Exception as error:
        if isinstance(error, TookTooLong) and not asked.done():
            asked.cancel()
            raise RerankError(f"it took more than {seconds:g} s.") from None
        # Whatever a plugin fails of, the answer comes, and says so.
        raise RerankError(f"{type(error).__name__}: {error}") from error


def _blended(
    name: str, share: float, scored: Scored, fused: Sequence[float]
) -> Reranked:
    """Mix both scores, each scaled to 0..1; equals stay in the fused order."""
    least = min(scored.scores)
    judged = scale_relevance([score - least for score in scored.scores])
    mixed = [
        share * new + (1 - share) * old
        for new, old in zip(judged, scale_relevance(fused), strict=True)
    ]
    order = sorted(range(len(mixed)), key=lambda i: (-mixed[i], i))
    return Reranked(
        tuple(order), tuple(mixed[i] for i in order), by=name, tokens=scored.tokens
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """A deterministic reranker without a model: what share of the question's words a
    text has, each weighing what its rarity is worth, and how close together they stand.

    `words` cuts a text into words (or lexemes), in their order; `rarity` is the worth
    of a word in the project: without it, of one in the texts themselves.
    """

    words: Callable[[str], Sequence[str]] = lambda text: _WORD.findall(text.lower())
    rarity: Mapping[str, float] | None = None
    share: float = 0.5
    closeness: float = 0.3

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        asked = set(self.words(question))
        said = [self.words(text) for text in texts]
        worth = self.rarity or _rarity(asked, said)
        return [self._score(asked, worth, words) for words in said]

    def _score(
        self, asked: set[str], worth: Mapping[str, float], words: Sequence[str]
    ) -> float:
        covered = coverage(asked, worth, words)
        near = proximity(asked, words)
        return covered * (1 - self.closeness + self.closeness * near)


def _rarity(asked: set[str], said: Sequence[Sequence[str]]) -> dict[str, float]:
    having = Counter(word for words in said for word in asked.intersection(words))
    return {
        word: log(1 + (len(said) - having[word] + 0.5) / (having[word] + 0.5))
        for word in asked
    }


def coverage(
    asked: set[str], worth: Mapping[str, float], words: Sequence[str]
) -> float:
    """Return the share, from 0 to 1, of what the words asked for are worth in all."""
    total = sum(worth.get(word, 0.0) for word in sorted(asked))
    had = sum(worth.get(word, 0.0) for word in sorted(asked.intersection(words)))
    return had / total if total > 0 else 0.0


def proximity(asked: set[str], words: Sequence[str]) -> float:
    """Return how close together the words asked for stand, from 0 to 1: their number,
    less one, over the steps across the shortest stretch of text with all of those the
    text has; 0 with fewer than two."""
    places = [(place, word) for place, word in enumerate(words) if word in asked]
    wanted = len({word for _, word in places})
    if wanted < 2:
        return 0.0
    inside: Counter[str] = Counter()
    start, shortest = 0, len(words)
    for place, word in places:
        inside[word] += 1
        while len(inside) == wanted:
            first, leaving = places[start]
            shortest = min(shortest, place - first)
            inside[leaving] -= 1
            if not inside[leaving]:
                del inside[leaving]
            start += 1
    return (wanted - 1) / shortest


rerankers.add("rules", Rules)
