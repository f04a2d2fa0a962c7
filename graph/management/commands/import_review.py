"""`manage.py import_review FILE --by EMAIL`: decisions from a report, carried out."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand, find_user
from graph.review.outside import Outcome, carry_out, refused
from graph.review.report_files import ReportError, read_report


class Command(ProjectCommand):
    help = (
        "Carry the decisions of a report out in somebody's name; without --yes, only "
        "say what would become of them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("path", type=Path, metavar="FILE")
        parser.add_argument("--by", required=True, metavar="EMAIL")
        parser.add_argument("--yes", action="store_true", help="decide")
        parser.add_argument(
            "--prunes",
            type=int,
            default=None,
            metavar="COUNT",
            help="confirms more than 50 prunes by their number",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        by = find_user(options["by"])
        if by is None:
            raise CommandError("--by is the e-mail address of the person who decided.")
        try:
            outcomes = carry_out(
                project,
                read_report(options["path"]),
                by,
                dry_run=not options["yes"],
                prunes=options["prunes"],
            )
        except ReportError as error:
            raise CommandError(str(error)) from error
        self._report(outcomes, options)

    def _report(self, outcomes: Sequence[Outcome], options: dict[str, Any]) -> None:
        if options["json"]:
            self.print_json(
                {"decided": options["yes"], "rows": [asdict(o) for o in outcomes]}
            )
            return
        for outcome in refused(outcomes):
            self.stdout.write(
                f"line {outcome.line}, item {outcome.item}: {outcome.refused}"
            )
        done = Counter(o.verb for o in outcomes if not o.refused)
        along = sum(o.along for o in outcomes if not o.refused)
        said = ", ".join(f"{verb} {count}" for verb, count in sorted(done.items()))
        head = "Decided" if options["yes"] else "Would decide"
        self.stdout.write(
            f"{head}: {said or 'nothing'}; {along} nodes go along with what is pruned; "
            f"{sum(bool(o.refused) for o in outcomes)} refused."
        )
        if not options["yes"]:
            self.stdout.write("Nothing was changed: add --yes to decide.")
