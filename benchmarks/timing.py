"""How long questions take, one after another or from several callers at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.db import connections

from benchmarks.report import median, percentile, progress


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of many runs."""

    p50: float
    p95: float

    @classmethod
    def of(cls, took_ms: Sequence[float]) -> Timing:
        return cls(median(took_ms), percentile(took_ms, 0.95))


@dataclass(frozen=True, slots=True)
class Busy:
    """What callers at once got: answers a second, their latency, errors by kind."""

    callers: int
    rate: float
    timing: Timing
    errors: Counter[str]


def timed(
    asked: Sequence[str], ask: Callable[[str], object], *, warm: bool = True
) -> Timing:
    """Time each question, after all were asked once where it is to be `warm`."""
    if warm:
        for question in asked:
            ask(question)
    return Timing.of([_took(ask, question) for question in asked])


def timed_together(
    asked: Sequence[str], ask: Callable[[str], object], *, callers: int, rounds: int = 3
) -> Busy:
    """Let threads, each on a connection of its own, ask all questions `rounds` times."""
    shares = [list(asked[number:]) + list(asked[:number]) for number in range(callers)]
    errors: Counter[str] = Counter()

    def call(questions: Iterable[str]) -> list[float]:
        took = []
        try:
            for question in questions:
                try:
                    took.append(_took(ask, question))
                except Exception as error:  # noqa: BLE001 - counted, and shown
                    errors[type(error).__name__] += 1
        finally:
            connections.close_all()
        return took

    started = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        found = list(pool.map(call, (share * rounds for share in shares)))
    seconds = time.perf_counter() - started
    took = [each for share in found for each in share]
    return Busy(callers, len(took) / seconds, Timing.of(took), errors)


def _took(ask: Callable[[str], object], question: str) -> float:
    progress(question[:60])
    started = time.perf_counter()
    ask(question)
    return (time.perf_counter() - started) * 1000
