"""`manage.py discover PROJECT NAME`: read the schema of a connected database."""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from connections.databases.base import DatabaseError
from connections.databases.discovery import refresh
from connections.management.base import print_json
from connections.models import Database, Project


class Command(BaseCommand):
    help = "Read the schema of a connected database, and put it into search."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="TENANT/PROJECT")
        parser.add_argument("name", metavar="NAME", help="the connection's name")
        parser.add_argument(
            "--json", action="store_true", help="one JSON object on stdout"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        database = _database(options["project"], options["name"])
        try:
            found = refresh(database)
        except DatabaseError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            print_json(self.stdout, asdict(found))
            return
        self.stdout.write(
            f"{found.tables} tables, {found.columns} columns in {found.seconds:.1f} s: "
            f"{found.added} added, {found.removed} removed, {found.changed} changed."
        )
        if found.waiting:
            self.stdout.write(
                f"{found.waiting} tables wait for their values: run it again."
            )


def _database(path: str, name: str) -> Database:
    try:
        project = Project.objects.named(path)
    except Project.DoesNotExist:
        raise CommandError(f"There is no project {path}.") from None
    databases = Database.objects.filter(project=project).select_related("project")
    database = databases.filter(name=name).first()
    if database is None:
        known = ", ".join(databases.values_list("name", flat=True)) or "none"
        raise CommandError(f"{path} has no database {name}; there are: {known}.")
    return database
