"""`python -m benchmarks [NAME ...]`: run all benchmarks, or those named."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import (
    admin,
    agent,
    audit,
    databases,
    discovery,
    erasing,
    extraction,
    fit,
    guard,
    ingest,
    injection,
    integrity,
    learned,
    memory,
    memory_graph,
    picture,
    portability,
    quality,
    review,
    review_pages,
    search,
    sources,
    stale,
    text_to_sql,
    walks,
)
from benchmarks.database import scratch_database
from benchmarks.report import Table, Unavailable, machine, note, warn, write_results

BENCHMARKS: dict[str, Callable[[], Sequence[Table]]] = {
    "ingest": ingest.run,
    "search": search.run,
    "quality": quality.run,
    "sources": sources.run,
    "extraction": extraction.run,
    "walks": walks.run,
    "memory": memory.run,
    "agent": agent.run,
    "injection": injection.run,
    "learned": learned.run,
    "memory_graph": memory_graph.run,
    "picture": picture.run,
    "guard": guard.run,
    "databases": databases.run,
    "discovery": discovery.run,
    "erasing": erasing.run,
    "portability": portability.run,
    "text_to_sql": text_to_sql.run,
    "integrity": integrity.run,
    "audit": audit.run,
    "admin": admin.run,
    "review": review.run,
    "stale": stale.run,
    "review_pages": review_pages.run,
    "fit": fit.run,
}
# Fitting proposes weights; it measures nothing that a reader asks for.
ASKED_FOR = ("fit",)
PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"


def main() -> int:
    """Print the tables of each benchmark; 1 when one could not run."""
    options = _options()
    skipped = 0
    for name in options.name or [n for n in BENCHMARKS if n not in ASKED_FOR]:
        about = machine()
        note(f"\n## {name}\n\n{about}")
        started = time.perf_counter()
        try:
            with scratch_database():
                tables = BENCHMARKS[name]()
        except Unavailable as reason:
            warn(f"{name} was not run: {reason}")
            skipped += 1
            continue
        results = "\n\n".join([about, *(table.markdown() for table in tables)])
        note(results)
        if options.write:
            write_results(PAGE, name, results)
        note(f"{time.perf_counter() - started:.0f} s in all")
    return min(skipped, 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=(
            "FABRIC_BENCH_SIZE: how many messages, several with commas between them; "
            "FABRIC_BENCH_QUESTIONS: ask a sample of so many; FABRIC_BENCH_KEEP: keep "
            "the databases of `search` for the next run; FABRIC_DATA: real data."
        ),
    )
    parser.add_argument("name", nargs="*", choices=[*BENCHMARKS, []])
    parser.add_argument(
        "--write", action="store_true", help=f"put the tables into {PAGE.name}"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
