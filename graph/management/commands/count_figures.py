"""`manage.py count_figures [--project T/P] [--days N]`: the dashboard's numbers, now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from connections.models import Project
from graph.figures.keeping import count_figures


class Command(BaseCommand):
    help = "Count the dashboard's numbers of today, and of the days that were missed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", help="tenant/project; default: all of them")
        parser.add_argument(
            "--days",
            type=int,
            help="count so many days anew, as far as what is there now tells",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        days = options["days"]
        if days is not None and days < 1:
            raise CommandError(f"--days {days}: give a number of days from 1 on.")
        for project in self._projects(options["project"]):
            kept = count_figures(project, days=days)
            self.stdout.write(f"{project.path}: {kept:,} numbers")

    def _projects(self, path: str | None) -> list[Project]:
        if not path:
            return list(Project.objects.select_related("tenant").order_by("pk"))
        try:
            return [Project.objects.named(path)]
        except Project.DoesNotExist:
            raise CommandError(f"There is no project {path!r}.") from None
