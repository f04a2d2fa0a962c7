"""`manage.py export_tags DIR`: a project's tags as Markdown files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand
from connections.models import record_audit
from retrieval.tag_export import export_tags


class Command(ProjectCommand):
    help = "Write DIR/tags/*.md: each tag with its nodes; an operator's read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("folder", type=Path, metavar="DIR")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        try:
            count = export_tags(project, options["folder"])
        except OSError as error:
            raise CommandError(f"{options['folder']}: {error.strerror}.") from error
        record_audit("tags.exported", target=str(count), project=project)
        if options["json"]:
            self.print_json({"tags": count, "folder": str(options["folder"])})
        else:
            self.stdout.write(f"{count} tags in {options['folder'] / 'tags'}.")
