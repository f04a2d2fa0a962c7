"""Erasing: messages a second, and that nothing of them is left in any table.

The project has two sources of one size with the same people and channels; one goes.
Reading it is the baseline: what was a second's work to write should be no more than a
few to take back.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.corpus import texts
from benchmarks.database import read
from benchmarks.report import Table, progress, ratio, size
from connections.models import Source
from graph.erasing import erase
from graph.erasing_plan import plan_source
from graph.models import Record
from graph.residue import scan

RATE, PROBES = 200.0, 400


def run() -> list[Table]:
    """Return what erasing took, and what was read to prove it."""
    count = size()
    read("bench/erasing", "made-up", Path("/"), name=f"kept-{count}")
    started = time.perf_counter()
    project, _ = read("bench/erasing", "made-up", Path("/"), name=f"gone-{count}")
    reading = time.perf_counter() - started
    source = Source.objects.get(project=project, name=f"gone-{count}")
    only = _only_in_it(source, count)
    held = scan(only, project=project)
    progress(f"{count} messages in {held.left} rows: erasing")
    started = time.perf_counter()
    plan = plan_source(source)
    planning = time.perf_counter() - started
    report = erase(plan, by=None, reason="measured", token=plan.token)
    erasing = time.perf_counter() - started - planning
    started = time.perf_counter()
    left = scan(only, project=project)
    scanning = time.perf_counter() - started
    speed = Table(
        "what",
        "seconds",
        "messages a second",
        "target",
        "against reading",
        caption=f"A source of {count:,} messages read into, then erased from, a "
        f"project of {2 * count:,}.",
    )
    speed.add("reading it", f"{reading:.1f}", f"{count / reading:,.0f}", "", "1.00x")
    speed.add("the plan", f"{planning:.1f}", "", "", ratio(planning, reading))
    speed.add(
        "erasing it, with proof",
        f"{erasing:.1f}",
        f"{count / erasing:,.0f}",
        f"{RATE:,.0f}",
        ratio(erasing, reading),
    )
    proof = Table(
        "texts looked for",
        "rows that held them",
        "tables read",
        "columns",
        "rows",
        "seconds",
        "rows found after",
        "target",
        "rows of the other source",
    )
    proof.add(
        len(only),
        f"{held.left:,}",
        left.tables,
        left.columns,
        f"{left.rows:,}",
        f"{scanning:.1f}",
        f"{left.left} of {left.rows:,}",
        0,
        f"{Record.objects.filter(project=project).count():,} ({report.left} by its own)",
    )
    return [speed, proof]


def _only_in_it(source: Source, count: int) -> list[str]:
    """Return whole texts of messages spread over the source."""
    every = max(1, count // PROBES)
    name = source.name.rpartition("-")[0]
    return [text for n, text in enumerate(texts(name, count)) if n % every == 0]
