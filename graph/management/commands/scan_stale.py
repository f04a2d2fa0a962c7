"""`manage.py scan_stale`: put what should be looked at again into the review's queue."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from connections.management.base import ProjectCommand
from connections.registry import UnknownName
from graph.review.flagging import Flags
from graph.review.scanning import scan


class Command(ProjectCommand):
    help = (
        "Look for stale, vanished, doubtful and contradictory claims of a project, and "
        "for persons who may be one; fill the review's queue. Nothing is removed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--kind",
            action="append",
            metavar="KIND",
            help="only this kind of item; repeat it for several",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        began = time.monotonic()
        try:
            found = scan(project, now=timezone.now(), kinds=options["kind"])
        except UnknownName as error:
            raise CommandError(str(error)) from error
        seconds = round(time.monotonic() - began, 2)
        if options["json"]:
            kinds = {kind: asdict(flags) for kind, flags in found.items()}
            self.print_json(
                {"project": project.path, "kinds": kinds, "seconds": seconds}
            )
            return
        self._tell(found, seconds)

    def _tell(self, found: Mapping[str, Flags], seconds: float) -> None:
        for kind, flags in found.items():
            said = ", ".join(f"{n} {name}" for name, n in asdict(flags).items())
            self.stdout.write(f"{kind}: {said}")
        self.stdout.write(f"{seconds} s; nothing was removed")
