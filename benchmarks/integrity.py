"""How long each check of a graph takes, beside reading its tables once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from django.utils import timezone

from benchmarks.integrity_sql import COUNTS, FILL, READ_ALL
from benchmarks.report import Table, note, progress, ratio, size
from connections.management.base import create_project
from connections.models import Project, Source
from graph.audiences import Audiences
from graph.checking import Finding, check_graph
from graph.copying import execute, fetch
from graph.integrity import analyze
from graph.models import EmbeddingModel
from graph.review.find_duplicates import duplicates

NODES, NAMES = 200_000, 0.2
TARGET = 60.0


def run() -> list[Table]:
    """Check a made-up graph without faults, and look for names nearly alike in it."""
    project = create_project("checked/main")
    nodes = size() if os.environ.get("FABRIC_BENCH_SIZE") else NODES
    _fill(project, nodes)
    counted = fetch(COUNTS, [])[0]
    note(
        f"{counted[0]:,} nodes ({NAMES:.0%} of them names), {counted[1]:,} edges, "
        f"{counted[2]:,} pieces of evidence; load {os.getloadavg()[0]:.1f}."
    )
    baseline = _seconds(lambda: fetch(READ_ALL, []))
    found: list[Finding] = []

    def tell(finding: Finding) -> None:
        found.append(finding)
        progress(f"{finding.name}: {finding.seconds:.1f} s")

    kept = check_graph(project, tell=tell)
    table = Table(
        "check",
        "seconds",
        "times reading all",
        "found",
        "out of",
        caption=(
            f"All {len(found)} checks: {kept.seconds:.1f} s (target {TARGET:.0f} s); "
            f"reading the three tables once: {baseline:.2f} s."
        ),
    )
    for each in found:
        table.add(
            each.name,
            f"{each.seconds:.2f}",
            ratio(each.seconds, baseline),
            f"{each.found:,}",
            f"{each.of:,}",
        )
    pairs = 0
    started = time.perf_counter()
    for _ in duplicates(project, timezone.now()):
        pairs += 1
    took = time.perf_counter() - started
    names = int(nodes * NAMES)
    table.add(
        "names nearly alike (the finder)",
        f"{took:.2f}",
        ratio(took, baseline),
        f"{pairs:,}",
        f"{names:,}",
    )
    return [table]


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _fill(project: Project, nodes: int) -> None:
    source = Source.objects.create(
        tenant_id=project.tenant_id, project=project, kind="slack", name="made up"
    )
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "audience": Audiences(project).public,
        "source": source.pk,
        "model": EmbeddingModel.objects.get(is_active=True).pk,
        "messages": int(nodes * (1 - NAMES)),
        "names": int(nodes * NAMES),
    }
    for statement in FILL:
        execute(statement, values)
        if statement in (FILL[3], FILL[4]):
            analyze()
    analyze()
