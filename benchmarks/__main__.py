"""`python -m benchmarks [NAME ...]`: run all benchmarks, or those named."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from benchmarks.database import scratch_database
from benchmarks.report import Table, Unavailable, machine, note, warn, write_results

# Modules here, each with a `run`. Only those asked for are imported: what others need
# would count in the memory that one of them measures.
BENCHMARKS = (
    "ingest", "search", "quality", "sources", "extraction", "walks", "memory",
    "agent", "injection", "learned", "memory_graph", "picture", "guard", "databases",
    "discovery", "erasing", "portability", "text_to_sql", "integrity", "audit",
    "admin", "review", "stale", "review_pages", "fit",
)  # fmt: skip
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
                tables: Sequence[Table] = import_module(f"benchmarks.{name}").run()
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
