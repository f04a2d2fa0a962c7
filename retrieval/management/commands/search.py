"""`manage.py search QUERY`: what the graph has on it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand, find_user
from connections.records import node_types
from connections.refusals import Refused
from connections.registry import UnknownName
from retrieval.auditing import note_answer
from retrieval.profiles import profiles
from retrieval.results import Filters
from retrieval.search import search


class Command(ProjectCommand):
    help = "Search a project; without --user as its operator, who sees everything."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("query")
        parser.add_argument("--limit", type=int, default=20)
        parser.add_argument("--profile", default="default", help=", ".join(profiles))
        parser.add_argument("--user", default="", help="search as this user")
        parser.add_argument("--type", action="append", default=[], dest="types")
        parser.add_argument("--tag", action="append", default=[], dest="tags")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["limit"] < 1:
            raise CommandError("--limit must be 1 or more.")
        project, user = self.project(options["project"]), find_user(options["user"])
        try:
            answer = search(
                project,
                options["query"],
                user=user,
                limit=options["limit"],
                profile=options["profile"],
                filters=Filters(
                    types=tuple(node_types[name].name for name in options["types"]),
                    tags=tuple(options["tags"]),
                ),
            )
        except (UnknownName, Refused) as error:
            raise CommandError(str(error)) from error
        note_answer(project, user, answer, through="command")
        if options["json"]:
            self.print_json(answer.as_json())
            return
        for slip in answer.parsed.slips:
            self.stdout.write(
                f"No text has {slip.said!r}; searched for {slip.meant!r}."
            )
        for place, result in enumerate(answer.results, start=1):
            said = " ".join((result.text or result.title).split())
            self.stdout.write(f"{place:3}  {result.score:.4f}  {result.key}")
            self.stdout.write(f"     {result.context}")
            self.stdout.write(f"     {said[:160]}")
        if not answer.results:
            self.stdout.write("Nothing found.")
