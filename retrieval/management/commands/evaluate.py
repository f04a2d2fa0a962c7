"""`manage.py evaluate DIR`: recall, nDCG, MRR and latency on a retrieval set."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from connections.management.base import print_json
from connections.registry import UnknownName
from connections.sources.base import SourceError
from retrieval.evaluation import evaluate
from retrieval.profiles import profiles


class Command(BaseCommand):
    help = "Ingest a retrieval set into scratch projects and score its questions."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--profile", default="default", help=", ".join(profiles))
        parser.add_argument("--limit-questions", type=int, default=None)
        parser.add_argument("--keep", action="store_true", help="keep the projects")
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--no-progress", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        def report(text: str) -> None:
            if not options["no_progress"]:
                self.stderr.write(f"\r\x1b[K{text}", ending="")

        try:
            profiles[options["profile"]]
            scores = evaluate(
                options["folder"],
                profile=options["profile"],
                limit=options["limit_questions"],
                keep=options["keep"],
                report=report,
            )
        except (SourceError, UnknownName) as error:
            raise CommandError(str(error)) from error
        if not options["no_progress"]:
            self.stderr.write("")
        answer = scores.as_json()
        if options["json"]:
            print_json(self.stdout, answer)
        else:
            self.stdout.write(
                ", ".join(f"{name} {value}" for name, value in answer.items())
            )
