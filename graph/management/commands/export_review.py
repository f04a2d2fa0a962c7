"""`manage.py export_review FILE`: open items of the queue, for people who decide outside."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError

from connections.management.base import ProjectCommand, find_user
from connections.models import record_audit
from graph.review.report import report_rows
from graph.review.report_files import FORMS, ReportError, write_report


class Command(ProjectCommand):
    help = (
        "Write the open items of the review queue with room for decisions; "
        "`import_review` carries them out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("path", type=Path, metavar="FILE|DIR")
        parser.add_argument("--format", choices=FORMS, default=None)
        parser.add_argument(
            "--by",
            default="",
            metavar="EMAIL",
            help="only what this person may see; without it, all of the project",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        path: Path = options["path"]
        form = options["format"] or _form(path)
        if path.is_dir():
            path = path / f"review.{form}"
        reader = find_user(options["by"])
        try:
            count = write_report(path, report_rows(project, reader=reader), form)
        except (ReportError, PermissionDenied) as error:
            raise CommandError(str(error)) from error
        record_audit(
            "export.review",
            target=str(path),
            project=project,
            actor=reader,
            items=count,
        )
        if options["json"]:
            self.print_json({"file": str(path), "items": count})
        else:
            self.stdout.write(f"{count:,} open items in {path}.")


def _form(path: Path) -> str:
    suffix = path.suffix.lower().removeprefix(".")
    return suffix if suffix in FORMS else "csv"
