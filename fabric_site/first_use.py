"""An empty database gets its tables before the first command that needs them."""

from __future__ import annotations

from collections.abc import Sequence

import django
from django.core.management import call_command
from django.db import connections

# Commands that make the tables themselves, or need none.
WITHOUT_TABLES = frozenset(
    (
        "check",
        "collectstatic",
        "diffsettings",
        "help",
        "makemigrations",
        "migrate",
        "showmigrations",
        "spectacular",
        "sqlmigrate",
        "test",
        "up",
        "version",
    )
)


def prepare_database(arguments: Sequence[str]) -> None:
    """Migrate an empty database, where the command on the line needs tables."""
    words = [word for word in arguments if not word.startswith("-")]
    if not words or words[0] in WITHOUT_TABLES or {"-h", "--help"} & set(arguments):
        return
    django.setup()
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations')")
        if cursor.fetchone()[0] is None:
            call_command("migrate", interactive=False, verbosity=0)
    connections["owner"].close()
