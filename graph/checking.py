"""All checks of a project, in order: counted, mended, counted again, kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from connections.models import Project, record_audit
from connections.records import relations
from graph import checks_sql as sql
from graph.checks import Check, checks
from graph.copying import fetch
from graph.locks import lock_project
from graph.merged import scope_values
from graph.models import GraphCheck
from graph.models.node import OF_ITS_SOURCE
from graph.review.find_orphans import ORIGINS
from graph.same_names import MERGED_BY_NAME

EXAMPLES, MENDED_AT_ONCE, ROUNDS = 10, 10_000, 1_000
KEPT = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found: `count` is left of `found`, out of `of`."""

    name: str
    title: str
    found: int
    count: int
    of: int
    repaired: int
    examples: tuple[str, ...]
    seconds: float
    for_people: bool = False
    mended_by: str = ""


def check_graph(
    project: Project,
    *,
    repair: bool = False,
    now: datetime | None = None,
    only: Iterable[str] | None = None,
    tell: Callable[[Finding], None] | None = None,
) -> GraphCheck:
    """Return what the checks of `project` found, kept for the dashboard.

    With `repair` what can be mended is, a sort of fault at a time, each audited.
    """
    moment, started = now or timezone.now(), time.perf_counter()
    values = _values(project, moment)
    totals = {name: _one(statement, values) for name, statement in sql.TOTALS.items()}
    findings = []
    for name in only or checks:
        finding = _run(project, checks[name], values, totals, repair=repair)
        findings.append(finding)
        if tell:
            tell(finding)
    faults = sum(each.count for each in findings if not each.for_people)
    kept = GraphCheck.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        at=moment,
        seconds=time.perf_counter() - started,
        findings={each.name: asdict(each) for each in findings},
        faults=faults,
        repaired=sum(each.repaired for each in findings),
    )
    _forget_old(project)
    return kept


def _values(project: Project, now: datetime) -> dict[str, Any]:
    allowed = [
        (each.name, source, target)
        for each in relations.values()
        for source in each.source.split("|")
        for target in each.target.split("|")
    ]
    names, sources, targets = (list(column) for column in zip(*allowed, strict=True))
    return {
        **scope_values(project),
        "now": now,
        "examples": EXAMPLES,
        "most": MENDED_AT_ONCE,
        "relations": names,
        "sources": sources,
        "targets": targets,
        "types": list(MERGED_BY_NAME),
        "unmerged": list(OF_ITS_SOURCE),
        "origins": list(ORIGINS),
        "nodes": None,
    }


def _run(
    project: Project,
    check: Check,
    values: dict[str, Any],
    totals: dict[str, int],
    *,
    repair: bool,
) -> Finding:
    started = time.perf_counter()
    found, examples = _count(project, check, values)
    count, shown = found, examples
    if repair and found and check.repair:
        _mend(project, check, values, found, examples)
        count, shown = _count(project, check, values)
    return Finding(
        name=check.name,
        title=check.title,
        found=found,
        count=count,
        of=totals[check.of],
        repaired=max(0, found - count),
        examples=tuple(shown or examples),
        seconds=round(time.perf_counter() - started, 3),
        for_people=check.for_people,
        mended_by=check.mended_by,
    )


def _count(
    project: Project, check: Check, values: dict[str, Any]
) -> tuple[int, list[str]]:
    if check.found is not None:
        names = check.found(project)
        return len(names), list(names[:EXAMPLES])
    # Our own statements, one in the other; values are bound.
    statement = sql.COUNTED.format(faults=check.faults)
    count, examples = fetch(statement, values)[0]
    return int(count), list(examples)


def _mend(
    project: Project,
    check: Check,
    values: dict[str, Any],
    found: int,
    examples: list[str],
) -> None:
    """Mend the faults of a check, so many in a transaction, until none changes."""
    if check.repair is None:
        return
    statement = sql.SOME.format(faults=check.faults) if check.faults else ""
    before: list[int] | None = None
    for _ in range(ROUNDS):
        with transaction.atomic():
            lock_project(project)
            ids = [row[0] for row in fetch(statement, values)] if statement else []
            if ids == before or (statement and not ids):
                return
            check.repair(project, ids)
            record_audit(
                "graph.repaired",
                target=check.name,
                project=project,
                count=len(ids) or found,
                examples=list(examples),
                how=check.mended_by,
            )
        before = ids
        if len(ids) < MENDED_AT_ONCE:
            return


def _forget_old(project: Project) -> None:
    rows = GraphCheck.objects.filter(tenant_id=project.tenant_id, project=project)
    old = list(rows.order_by("-at", "-pk").values_list("pk", flat=True)[KEPT:])
    rows.filter(pk__in=old).delete()


def _one(statement: str, values: dict[str, Any]) -> int:
    return int(fetch(statement, values)[0][0])
