"""Reading the figures of a project: the course of its days, and the latest of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils import timezone

from connections.models import Project
from graph.models import DailyFigure


@dataclass(frozen=True, slots=True)
class Course:
    """Numbers of several days, by label; a day without a number of its own is None."""

    days: Sequence[date]
    values: Mapping[str, Sequence[float | None]]

    @property
    def totals(self) -> dict[str, float]:
        """Return the sum of each label over the days, the largest first."""
        sums = {
            label: sum(value or 0 for value in values)
            for label, values in self.values.items()
        }
        return dict(sorted(sums.items(), key=lambda each: (-each[1], each[0])))

    @property
    def latest(self) -> dict[str, float]:
        """Return the last number of each label that has one, the largest first."""
        last = {
            label: found[-1]
            for label, values in self.values.items()
            if (found := [value for value in values if value is not None])
        }
        return dict(sorted(last.items(), key=lambda each: (-each[1], each[0])))


def course_of(project: Project, names: Sequence[str], days: int) -> dict[str, Course]:
    """Return the last `days` days of the figures called `names`, today's the last."""
    today = timezone.localdate()
    axis = [today - timedelta(days=days - 1 - n) for n in range(days)]
    place = {day: n for n, day in enumerate(axis)}
    kept = DailyFigure.objects.filter(
        tenant_id=project.tenant_id,
        project_id=project.pk,
        name__in=list(names),
        day__gte=axis[0],
        day__lte=today,
    ).order_by("name", "day", "label")
    found: dict[str, dict[str, list[float | None]]] = {name: {} for name in names}
    for name, day, label, value in kept.values_list("name", "day", "label", "value"):
        found[name].setdefault(label, [None] * days)[place[day]] = value
    return {name: Course(axis, values) for name, values in found.items()}


def latest_of(project: Project, names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the figures called `names` of the last day that each was counted on."""
    mine = DailyFigure.objects.filter(
        tenant_id=project.tenant_id, project_id=project.pk
    )
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for name in names:
        last = mine.filter(name=name).order_by("-day").values("day")[:1]
        rows = mine.filter(name=name, day__in=last).order_by("-value", "label")
        found[name] = dict(rows.values_list("label", "value"))
    return dict(found)


def counted_at(project: Project) -> datetime | None:
    """Return when a figure of the project was counted last."""
    last = DailyFigure.objects.filter(
        tenant_id=project.tenant_id,
        project_id=project.pk,
        day=timezone.localdate(),
    ).order_by("-counted_at")
    return last.values_list("counted_at", flat=True).first()
