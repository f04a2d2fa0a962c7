"""`python -m benchmarks [NAME ...]`: run all benchmarks, or those named."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from benchmarks import evaluate, ingest, search, sources, walks
from benchmarks.database import scratch_database
from benchmarks.report import Table, Unavailable, heading, note, warn

BENCHMARKS: dict[str, Callable[[], Table]] = {
    "ingest": ingest.run,
    "search": search.run,
    "evaluate": evaluate.run,
    "sources": sources.run,
    "walks": walks.run,
}


def main() -> int:
    """Print a table for each benchmark; 1 when one could not run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="FABRIC_BENCH_SIZE: how many messages; FABRIC_DATA: real data.",
    )
    parser.add_argument("name", nargs="*", choices=[*BENCHMARKS, []])
    skipped = 0
    for name in parser.parse_args().name or BENCHMARKS:
        heading(name)
        started = time.perf_counter()
        try:
            with scratch_database():
                table = BENCHMARKS[name]()
        except Unavailable as reason:
            warn(f"{name} was not run: {reason}")
            skipped += 1
            continue
        table.show()
        note(f"{time.perf_counter() - started:.0f} s in all")
    return min(skipped, 1)


if __name__ == "__main__":
    sys.exit(main())
