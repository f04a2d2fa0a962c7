"""Counting the figures of a project and keeping them, a transaction each."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from connections.models import Project
from graph.figures import sql
from graph.figures.counters import Counter, Span, counters
from graph.models import DailyFigure

# What is counted of a project that has no figures yet, as far as it can be known.
DAYS_BEFORE = 90


def count_figures(
    project: Project, *, reads_all: bool | None = None, days: int | None = None
) -> int:
    """Count today, and the days that were missed; return how many numbers were kept.

    `reads_all` keeps to the counters that do or do not read the whole graph; `days`
    counts so many days anew. Counting twice changes nothing but the time it was done.
    """
    return sum(
        _keep(project, name, counter, days)
        for name, counter in counters.items()
        if reads_all in (None, counter.reads_all)
    )


def _keep(project: Project, name: str, counter: Counter, days: int | None) -> int:
    counted_at = timezone.now()
    span = _span(project, name, counter, days)
    with transaction.atomic():
        figures = list(counter.count(project, span))
        bound: dict[str, Any] = {
            "tenant": project.tenant_id,
            "project": project.pk,
            "name": name,
            "counted_at": counted_at,
        }
        with connection.cursor() as cursor:
            cursor.execute(
                sql.KEEP,
                {
                    **bound,
                    "days": [figure.day for figure in figures],
                    "labels": [figure.label for figure in figures],
                    "values": [float(figure.value) for figure in figures],
                },
            )
            ends = {"first": span.first, "last": span.last}
            cursor.execute(sql.FORGET, {**bound, **ends})
    return len(figures)


def _span(project: Project, name: str, counter: Counter, days: int | None) -> Span:
    """Return today with the days before that were never counted to their end."""
    today = timezone.localdate()
    first = today
    if counter.knows_before:
        first = today - timedelta(days=_before(project, name, days))
    return Span(first, today, timezone.get_current_timezone_name())


def _before(project: Project, name: str, days: int | None) -> int:
    if days is not None:
        return max(0, days - 1)
    last: datetime | None = DailyFigure.objects.filter(
        tenant_id=project.tenant_id, project_id=project.pk, name=name
    ).aggregate(last=Max("counted_at"))["last"]
    if last is None:
        return DAYS_BEFORE
    missed = (timezone.localdate() - timezone.localdate(last)).days
    return min(missed, DAYS_BEFORE)
