"""What a benchmark prints: one table in Markdown, and what it was measured on."""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

SIZE = 50_000


class Unavailable(Exception):
    """A benchmark cannot run here; the message says what it needs."""


class Table:
    """Rows under a head, printed as Markdown."""

    def __init__(self, *head: str) -> None:
        self.head = head
        self.rows: list[tuple[str, ...]] = []

    def add(self, *cells: object) -> None:
        self.rows.append(tuple("" if cell is None else str(cell) for cell in cells))

    def show(self) -> None:
        for cells in (self.head, ("---",) * len(self.head), *self.rows):
            print("| " + " | ".join(cells) + " |")
        print(flush=True)


def heading(name: str) -> None:
    print(f"\n## {name}\n\n{machine()}\n", flush=True)


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
        f"Python {platform.python_version()}, FABRIC_BENCH_SIZE={size()}"
    )


def size() -> int:
    """Return how many messages the made-up workspace has: FABRIC_BENCH_SIZE."""
    given = os.environ.get("FABRIC_BENCH_SIZE", "").strip() or str(SIZE)
    if not given.isdecimal() or int(given) < 1000:
        raise Unavailable(f"FABRIC_BENCH_SIZE={given!r} is no number from 1000 on.")
    return int(given)


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
