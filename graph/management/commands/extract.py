"""`manage.py extract`: read names, decisions and relations out of a project's texts."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand
from connections.models import Project
from connections.providers.base import ProviderError
from graph.asking import Estimate, ask_about, estimate
from graph.extraction import extract_texts
from graph.extraction_settings import asked_model
from graph.models import ExtractionAnswer


class Command(ProjectCommand):
    help = "Read what the texts of a project say that were not read yet."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="only estimate what asking the model would take",
        )
        parser.add_argument(
            "--retry",
            action="store_true",
            help="ask again where the model gave no proper answer",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        if options["dry_run"]:
            self._estimate(estimate(project), options)
            return
        if options["retry"]:
            of_model = ExtractionAnswer.objects.filter(
                project=project, asked=asked_model()
            )
            of_model.exclude(error="").delete()
        self._extract(project, options)

    def _extract(self, project: Project, options: dict[str, Any]) -> None:
        def show(done: int) -> None:
            if not options["no_progress"]:
                self.show_progress(f"{done} texts")

        try:
            answer: dict[str, Any] = {"read": extract_texts(project, progress=show)}
            if asked_model():
                answer |= asdict(ask_about(project, progress=show))
        except ProviderError as error:
            raise CommandError(str(error)) from error
        self._report(answer, options)

    def _estimate(self, found: Estimate, options: dict[str, Any]) -> None:
        answer = asdict(found) | {"model": asked_model() or "rules: nobody is asked"}
        if found.dollars is not None:
            answer["dollars"] = round(found.dollars, 4)
        self._report(answer, options)

    def _report(self, answer: dict[str, Any], options: dict[str, Any]) -> None:
        if options["json"]:
            self.print_json(answer)
            return
        said = {k: v for k, v in answer.items() if v is not None}
        self.stdout.write(", ".join(f"{k} {v}" for k, v in said.items()))
