"""What was counted of a project, by day: so that no page counts a graph."""

from __future__ import annotations

from django.db import models

from graph.models.scoped import InProject


class DailyFigure(InProject):
    """One number of one day: `name` says what was counted, `label` of which part.

    Of what only grows on its day (answers, records that came in) it is that day's; of
    what is there (nodes, items of the queue) it is as last counted on that day.
    """

    day = models.DateField()
    name = models.CharField(max_length=32)
    label = models.CharField(max_length=100, blank=True)
    value = models.FloatField()
    counted_at = models.DateTimeField()

    class Meta:
        db_table = "graph_daily_figures"
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "project", "name", "day", "label"),
                name="graph_daily_figures_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} {self.label} on {self.day}: {self.value:g}"
