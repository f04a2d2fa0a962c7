"""`manage.py export_graph DIR`: a project as Markdown and JSON lines."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand
from graph.exporting.errors import ExportingError
from graph.exporting.export import Options, export_graph


class Command(ProjectCommand):
    help = (
        "Write a project to DIR: a page a node, an index of tags, JSON lines of "
        "everything. An operator's read: it holds closed channels and private memories."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument(
            "--as-of",
            default="",
            metavar="DATE",
            help="pages of what was valid then, for reading; without data/",
        )
        parser.add_argument(
            "--without-memory",
            action="store_true",
            help="leave conversations, memories and feedback out",
        )
        parser.add_argument("--with-vectors", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        as_of = moment_of(options["as_of"])
        if as_of and options["with_vectors"]:
            raise CommandError("--as-of writes pages alone: leave --with-vectors out.")
        chosen = Options(
            with_memory=not options["without_memory"],
            with_vectors=options["with_vectors"],
            as_of=as_of,
        )
        quiet = options["no_progress"] or options["json"]
        try:
            exported = export_graph(
                project,
                options["folder"],
                chosen,
                progress=(lambda _: None) if quiet else self.show_progress,
            )
        except ExportingError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.print_json({"folder": str(options["folder"])} | asdict(exported))
            return
        if not quiet:
            self.show_progress("", end=True)
        self.stdout.write(
            f"{exported.files:,} files in {options['folder']}: {exported.pages:,} pages,"
            f" {sum(exported.lines.values()):,} lines of data. Whoever has the folder "
            "reads all of the project, whatever is closed in it."
        )


def moment_of(text: str) -> datetime | None:
    """Return the moment that a date or a date with a time names, in UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(
            f"--as-of is a date such as 2026-03-02, not {text!r}."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
