"""A search for fusion weights over collected hits, with whole groups held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.sets import columns, scored
from retrieval.evaluation import CUTS, Question

WEIGHTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0)
CONSTANTS = (1.0, 5.0, 10.0, 20.0, 40.0, 60.0)
SWEEPS = 3
Rows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Settings:
    """Weights of arms, in the order of the arms, and the constant of the fusion."""

    weights: tuple[float, ...]
    k: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with every arm's ranks of every key found, infinite where not found.

    Keys are in order, so that equal scores come by key.
    """

    question: Question
    keys: tuple[str, ...]
    ranks: Rows

    @classmethod
    def of(
        cls, question: Question, found: Mapping[str, Sequence[str]], arms: Sequence[str]
    ) -> Asked:
        keys = sorted({key for hits in found.values() for key in hits})
        place = {key: number for number, key in enumerate(keys)}
        ranks = np.full((len(keys), len(arms)), np.inf)
        for column, arm in enumerate(arms):
            for rank, key in enumerate(found[arm], start=1):
                ranks[place[key], column] = rank
        return cls(question, tuple(keys), ranks)

    def ranked(self, settings: Settings) -> list[str]:
        """Return the best keys by weighted reciprocal rank fusion."""
        scores = (np.array(settings.weights) / (settings.k + self.ranks)).sum(axis=1)
        best = np.argsort(-scores, kind="stable")[: max(CUTS)]
        return [self.keys[place] for place in best if scores[place] > 0]


@dataclass(slots=True)
class Trials:
    """What settings score on every question; each is computed once.

    A set counts as much as any other, whatever its number of questions.
    """

    asked: Sequence[Asked]
    sets: Sequence[str]
    groups: Sequence[str]
    done: dict[Settings, Rows] = field(default_factory=dict)

    def scores(self, settings: Settings) -> Rows:
        """Return, for each question, the metrics that are compared."""
        if settings not in self.done:
            rows = [scored(each.ranked(settings), each.question) for each in self.asked]
            self.done[settings] = columns(np.array(rows))
        return self.done[settings]

    def goodness(self, settings: Settings, kept: NDArray[np.bool_]) -> float:
        """Return the mean over sets of the mean over `kept` questions."""
        rows, names = self.scores(settings).mean(axis=1), np.array(self.sets)
        means = [
            rows[kept & (names == name)].mean()
            for name in dict.fromkeys(self.sets)
            if (kept & (names == name)).any()
        ]
        return float(np.mean(means)) if means else 0.0

    def fitted(self, begin: Settings, kept: NDArray[np.bool_]) -> Settings:
        """Return the best settings for the `kept` questions, one coordinate at a time."""
        best, value = begin, self.goodness(begin, kept)
        for _ in range(SWEEPS):
            before = best
            for coordinate in range(len(begin.weights) + 1):
                for trial in _along(best, coordinate):
                    if (found := self.goodness(trial, kept)) > value:
                        best, value = trial, found
            if best == before:
                break
        return best

    def held_out(
        self, begin: Settings, report: Callable[[str], None] = lambda _: None
    ) -> tuple[Rows, dict[str, Settings]]:
        """Return the scores of each question by weights fitted without its group, and
        those weights by group."""
        rows = np.zeros_like(self.scores(begin))
        groups, chosen = np.array(self.groups), {}
        for group in dict.fromkeys(self.groups):
            report(f"fold {group}")
            inside = groups == group
            chosen[group] = self.fitted(begin, ~inside)
            rows[inside] = self.scores(chosen[group])[inside]
        return rows, chosen


def _along(settings: Settings, coordinate: int) -> Iterator[Settings]:
    """Yield `settings` with one weight, or the constant, at each value of its grid."""
    if coordinate == len(settings.weights):
        yield from (replace(settings, k=k) for k in CONSTANTS)
        return
    for weight in WEIGHTS:
        weights = list(settings.weights)
        weights[coordinate] = weight
        if any(weights):
            yield replace(settings, weights=tuple(weights))
