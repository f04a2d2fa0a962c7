"""`manage.py migrate`, by the login that owns the tables."""

from __future__ import annotations

from django.core.management.base import CommandParser
from django.core.management.commands import migrate


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")
