"""What a benchmark prints: one table in Markdown, and what it was measured on."""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

SIZE, LEAST = 50_000, 1000
T = TypeVar("T")


class Unavailable(Exception):
    """A benchmark cannot run here; the message says what it needs."""


class Table:
    """Rows under a head, and under a caption where there is one, as Markdown."""

    def __init__(self, *head: str, caption: str = "") -> None:
        self.head = head
        self.caption = caption
        self.rows: list[tuple[str, ...]] = []

    def add(self, *cells: object) -> None:
        self.rows.append(tuple("" if cell is None else str(cell) for cell in cells))

    def markdown(self) -> str:
        lines = [
            "| " + " | ".join(cells) + " |"
            for cells in (self.head, ("---",) * len(self.head), *self.rows)
        ]
        return "\n".join([*((self.caption, "") if self.caption else ()), *lines])


def write_results(page: Path, name: str, results: str) -> None:
    """Put `results` between the marks of the benchmark `name` in a page."""
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- results: {name} -->\n", "<!-- end -->"
    head, found, rest = text.partition(begin)
    _, ended, tail = rest.partition(end)
    if not found or not ended:
        raise Unavailable(f"{page} has no marks {begin.strip()} and {end}.")
    page.write_text(f"{head}{begin}{results}\n{end}{tail}", encoding="utf-8")


def note(text: str) -> None:
    print(f"{text}\n", flush=True)


def warn(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def progress(text: str) -> None:
    """Say on stderr what is going on; nothing where nobody watches."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def machine() -> str:
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), load {load:.1f} at the start, "
        f"Python {platform.python_version()}"
    )


def sizes() -> list[int]:
    """Return how many messages to measure with, one after the other."""
    given = os.environ.get("FABRIC_BENCH_SIZE", "").strip() or str(SIZE)
    found = [part.strip().replace("_", "") for part in given.split(",")]
    if not all(part.isdecimal() and int(part) >= LEAST for part in found):
        raise Unavailable(
            f"FABRIC_BENCH_SIZE={given!r} is no number from {LEAST} on,"
            " nor several with commas between them."
        )
    return [int(part) for part in found]


def size() -> int:
    """Return the first of FABRIC_BENCH_SIZE, for benchmarks of one size."""
    return sizes()[0]


def sampled(questions: Sequence[T]) -> Sequence[T]:
    """Return FABRIC_BENCH_QUESTIONS of them, spread evenly; all where it is unset."""
    given = os.environ.get("FABRIC_BENCH_QUESTIONS", "").strip()
    if not given:
        return questions
    if not given.isdecimal() or int(given) < 1:
        raise Unavailable(f"FABRIC_BENCH_QUESTIONS={given!r} is no number from 1 on.")
    count = min(int(given), len(questions))
    return [questions[place * len(questions) // count] for place in range(count)]


def real_data(*parts: str) -> Path:
    """Return a folder or file of the real data: FABRIC_DATA names where it lies."""
    given = os.environ.get("FABRIC_DATA", "").strip()
    if not given:
        raise Unavailable(
            "it needs real data: set FABRIC_DATA to the folder that holds "
            "email/, slack/, documents/ and retrieval/."
        )
    path = Path(given).joinpath(*parts)
    if not path.exists():
        raise Unavailable(f"{path} does not exist.")
    return path


def ratio(ours: float, other: float) -> str:
    return f"{ours / other:.2f}x" if other else ""


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of `values` do not exceed."""
    ordered = sorted(values) or [0.0]
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0
