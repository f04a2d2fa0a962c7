"""`manage.py ask QUESTION`: an answer with its sources."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from connections.management.base import ProjectCommand, find_user
from memory.ask import ask


class Command(ProjectCommand):
    help = "Answer a question; without --user as the operator, who sees everything."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("question")
        parser.add_argument("--user", default="", help="ask as this user")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        answer = ask(project, options["question"], user=find_user(options["user"]))
        if options["json"]:
            self.print_json(answer.as_json())
            return
        self.stdout.write(answer.answer)
        self.stdout.write("")
        for cited in answer.citations:
            self.stdout.write(f"[{cited.n}] {cited.key}  {cited.url}".rstrip())
        self.stdout.write(f"[Λ+{answer.effort:02d}]")
