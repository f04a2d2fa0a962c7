"""`manage.py check_graph`: what must hold of a graph, counted and mended."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from connections.management.base import ProjectCommand
from graph.checking import Finding, check_graph
from graph.checks import checks


class Command(ProjectCommand):
    help = "Check a project's graph; exit 1 when faults stay."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--repair", action="store_true", help="mend what can be mended safely"
        )
        parser.add_argument(
            "--only",
            action="append",
            choices=sorted(checks),
            metavar="CHECK",
            help=f"one of {', '.join(sorted(checks))}; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        tell = None if options["json"] else self._tell
        kept = check_graph(
            project, repair=options["repair"], only=options["only"], tell=tell
        )
        answer = {
            "project": project.path,
            "faults": kept.faults,
            "repaired": kept.repaired,
            "seconds": round(kept.seconds, 3),
        }
        if options["json"]:
            self.print_json({**answer, "findings": kept.findings})
        else:
            said = ", ".join(f"{name} {value}" for name, value in answer.items())
            self.stdout.write(said)
        if kept.faults:
            sys.exit(1)

    def _tell(self, found: Finding) -> None:
        line = f"{found.count:>8,} of {found.of:>10,}  {found.title}"
        if found.repaired:
            line += f"; {found.repaired:,} mended ({found.mended_by})"
        elif found.count and found.for_people:
            line += "; for people to decide"
        self.stdout.write(line)
        for example in found.examples[:3] if found.count else ():
            self.stdout.write(f"{'':>24}{example[:120]}")
