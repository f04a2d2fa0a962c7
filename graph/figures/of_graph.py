"""What is counted of the graph: what came in, what is there, what is old."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection
from django.utils import timezone

from connections.models import Project
from connections.records import node_types
from graph.figures import sql
from graph.figures.counters import Counter, Figure, Span, counters
from graph.staleness import DEFAULT, threshold_for, thresholds_of

# So many are kept that a reader to whom some are closed still sees a few.
HUBS = 30


def rows_of(
    statement: str, project: Project, span: Span, **more: object
) -> list[tuple]:
    """Return the rows of a figures' statement, bound to a project and its days."""
    bound: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "zone": span.zone,
        "first": span.first,
        "since": _midnight(span.first, span.zone),
        "until": _midnight(span.last + timedelta(days=1), span.zone),
        **more,
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, bound)
        return cursor.fetchall()


def each_day(statement: str, project: Project, span: Span) -> Iterator[Figure]:
    """Yield what a statement of (day, label, number) counts."""
    for day, label, value in rows_of(statement, project, span):
        yield Figure(day, label, value)


def _midnight(day: date, zone: str) -> datetime:
    return datetime.combine(day, time(), ZoneInfo(zone))


def records_in(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many records came in on each day, by the id of their source."""
    return each_day(sql.RECORDS_IN, project, span)


def nodes_there(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many nodes there were at the end of each day, by type."""
    return _summed(sql.NODES_ADDED, project, span)


def edges_there(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many live edges there were at the end of each day, by relation."""
    return _summed(sql.EDGES_ADDED, project, span)


def _summed(statement: str, project: Project, span: Span) -> Iterator[Figure]:
    """Yield each day's stock from what each day added, of what is still there."""
    added: dict[date, dict[str, int]] = defaultdict(dict)
    for day, label, number in rows_of(statement, project, span):
        added[day][label] = number
    total: dict[str, int] = defaultdict(int)
    for n in range((span.last - span.first).days + 1):
        day = span.first + timedelta(days=n)
        for label, number in added[day].items():
            total[label] += number
        for label, number in sorted(total.items()):
            yield Figure(day, label, number)


def degrees(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many nodes have 0, 1, 2-3, 4-7, ... live edges, and the hubs.

    A label is the least of its range; a hub's is `hub:` and its node's id.
    """
    for name, label, value in rows_of(sql.DEGREES, project, span, hubs=HUBS):
        said = str(label) if name == "degree" else f"{name}:{label}"
        yield Figure(span.last, said, value)


def stale_nodes(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many nodes are older than their type's threshold, by type."""
    days = {name: kept for name, kept in allowed_days(project).items() if kept}
    found = rows_of(
        sql.STALE,
        project,
        span,
        types=list(days),
        days=list(days.values()),
        now=timezone.now(),
    )
    for label, value in found:
        yield Figure(span.last, label, value)


def allowed_days(project: Project) -> Mapping[str, int | None]:
    """Return the days after which a project looks again, by type; None: never."""
    set_ = thresholds_of(project)
    named = set_.keys() - {DEFAULT}
    return {name: threshold_for(set_, name) for name in {*node_types, *named}}


def open_items(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many items of the review wait, by kind."""
    for label, value in rows_of(sql.OPEN_ITEMS, project, span):
        yield Figure(span.last, label, value)


def decided(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many items were decided on each day, by verb."""
    return each_day(sql.DECIDED, project, span)


counters.add("records", Counter(records_in))
counters.add("decided", Counter(decided))
counters.add("queue", Counter(open_items, knows_before=False))
counters.add("nodes", Counter(nodes_there, reads_all=True))
counters.add("edges", Counter(edges_there, reads_all=True))
counters.add("degrees", Counter(degrees, reads_all=True, knows_before=False))
counters.add("stale", Counter(stale_nodes, reads_all=True, knows_before=False))
