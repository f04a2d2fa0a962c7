"""`manage.py erase source NAME | person ADDRESS | resume`: erase, and prove it."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand
from connections.models import Project, Source
from graph.erasing import Report, carry_on, erase
from graph.erasing_plan import ErasingError, Plan, plan_person, plan_source
from graph.models import Erasure

RESUME = "resume"


class Command(ProjectCommand):
    help = "Erase a source or a person with all that follows from it, for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=(*Erasure.Kind.values, RESUME))
        parser.add_argument(
            "name", nargs="?", default="", help="a source's name; an address or a key"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="only say what would go"
        )
        parser.add_argument("--yes", action="store_true", help="do it without asking")
        parser.add_argument(
            "--keep-messages",
            action="store_true",
            help="of a person: keep what they wrote, without its author",
        )
        parser.add_argument(
            "--first-names",
            action="store_true",
            help="of a person: take out their bare first name, too, where nobody else "
            "bears it",
        )
        parser.add_argument("--reason", default="", help="kept in the audit")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        try:
            if options["what"] == RESUME:
                self._resume(project, options)
                return
            plan = self._plan(project, options)
            if options["dry_run"]:
                self._show_plan(plan, options)
                return
            self._ask(plan, options)
            report = erase(
                plan,
                by=None,
                reason=options["reason"],
                token=plan.token,
                progress=self._progress(options),
            )
        except ErasingError as error:
            raise CommandError(str(error)) from error
        self._show(report, options)

    def _plan(self, project: Project, options: dict[str, Any]) -> Plan:
        what, name = options["what"], options["name"]
        keeps, first = options["keep_messages"], options["first_names"]
        if not name:
            raise CommandError(f"Name the {what} to erase.")
        if what == Erasure.Kind.PERSON:
            return plan_person(project, name, keep_messages=keeps, scrub_first=first)
        if keeps or first:
            raise CommandError("Only a person has messages to keep and first names.")
        source = Source.objects.filter(project=project, name=name).first()
        if source is None:
            known = project.sources.order_by("name").values_list("name", flat=True)
            listed = ", ".join(known) or "none"
            raise CommandError(
                f"{project.path} has no source {name}; it has: {listed}."
            )
        return plan_source(source)

    def _ask(self, plan: Plan, options: dict[str, Any]) -> None:
        if options["yes"]:
            return
        if options["json"]:
            raise CommandError("With --json say --yes (erase) or --dry-run (look).")
        self._show_plan(plan, options)
        said = input("It cannot be brought back. Type its name to erase it: ")
        if said.strip() != plan.name:
            raise CommandError("That is not its name. Nothing was erased.")

    def _resume(self, project: Project, options: dict[str, Any]) -> None:
        waiting = Erasure.objects.filter(
            project=project, state=Erasure.State.RUNNING
        ).order_by("pk")
        reports = [carry_on(one, progress=self._progress(options)) for one in waiting]
        if not reports:
            self.stdout.write("Nothing was left half erased.")
        for report in reports:
            self._show(report, options)

    def _progress(self, options: dict[str, Any]) -> Any:
        if options["no_progress"]:
            return None
        return lambda done, total: self.show_progress(f"{done} of {total} records")

    def _show_plan(self, plan: Plan, options: dict[str, Any]) -> None:
        answer = {
            "kind": plan.kind,
            "name": plan.name,
            "records": plan.records,
            "counts": dict(plan.counts),
            "identities": list(plan.keys),
            "names_kept": plan.ambiguous,
            "has_account": plan.has_account,
            "messages_kept": plan.kept,
            "first_names": [asdict(first) for first in plan.first_names],
            "first_names_erased": plan.first_scrubbed,
        }
        if options["json"]:
            self.print_json(answer)
            return
        for name, value in answer.items():
            self.stdout.write(f"{name}: {value}")

    def _show(self, report: Report, options: dict[str, Any]) -> None:
        if options["json"]:
            self.print_json(asdict(report))
        else:
            self.stdout.write(
                f"Erased {report.records} records. Of {report.probes} keys, texts and "
                f"vectors of it {report.left} rows were found in {report.rows} rows, "
                f"{report.columns} columns, {report.tables} tables."
            )
        if report.left:
            raise CommandError(f"Something is left, in {dict(report.found)}.")
