"""`manage.py import_graph DIR`: a project restored from an export."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from connections.management.base import ProjectCommand
from connections.models import Project
from graph.exporting.errors import ExportingError
from graph.exporting.restore import Restored, import_graph


class _Undone(Exception):
    """A dry run is over; what it made goes."""


class Command(ProjectCommand):
    help = "Restore the export in DIR into an empty project: all of it, or nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--create", action="store_true", help="make the project")
        parser.add_argument(
            "--dry-run", action="store_true", help="check all of it, keep nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        quiet = options["no_progress"] or options["json"]
        try:
            restored = self._restore(options, quiet)
        except ExportingError as error:
            raise CommandError(str(error)) from error
        if not quiet:
            self.show_progress("", end=True)
        self._report(restored, options)

    def _restore(self, options: dict[str, Any], quiet: bool) -> Restored:
        def restore(project: Project) -> Restored:
            return import_graph(
                project,
                options["folder"],
                dry_run=options["dry_run"],
                progress=(lambda _: None) if quiet else self.show_progress,
            )

        if not options["dry_run"] or not options["create"]:
            project = self.project(options["project"], create=options["create"])
            return restore(project)
        found: list[Restored] = []
        try:
            # The project is made for the check alone.
            with transaction.atomic():
                found.append(restore(self.project(options["project"], create=True)))
                raise _Undone
        except _Undone:
            return found[0]

    def _report(self, restored: Restored, options: dict[str, Any]) -> None:
        if options["json"]:
            self.print_json(asdict(restored) | {"dry_run": options["dry_run"]})
            return
        count = sum(restored.lines.values())
        if restored.already:
            self.stdout.write(f"{options['project']} is this export already.")
            return
        done = (
            "could be restored; nothing was kept" if options["dry_run"] else "restored"
        )
        self.stdout.write(f"{count:,} lines {done}.")
        if restored.unknown:
            self.stdout.write(
                f"{len(restored.unknown)} people had no account here: theirs are closed "
                "ones now, and what is theirs stays closed until an admin opens them."
            )
        if not options["dry_run"]:
            self.stdout.write(
                "Vectors, word counts and communities follow: `manage.py communities`, "
                "or the next run of their tasks."
            )
