"""`manage.py up`: everything the site needs, in one process tree."""

from __future__ import annotations

import os
import signal
import sys
from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connections

from connections import embedded
from fabric_site import programs
from fabric_site.start import claim
from fabric_site.supervisor import Supervisor, die_with

SETUP = "setup_site"  # projects, the first admin user, the demo company
OWNER = "owner"  # the database alias that may change tables


class Command(BaseCommand):
    """Starts the servers, migrates, fills a new site and keeps it all running."""

    help = "Start the whole site; Ctrl-C stops all it started."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--with-parent",
            action="store_true",
            help="stop when the process that started this one dies (for make)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, then supervise until told to stop."""
        where = claim()
        # Until the supervisor listens: leave as by Ctrl-C, servers stopped.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        if options["with_parent"]:
            die_with(os.getppid())
        used = {
            "valkey": not os.environ.get("CELERY_BROKER_URL", "").strip(),
            "postgres": not os.environ.get("DATABASE_URL", "").strip(),
        }
        stop_servers = partial(programs.stop_servers, **used)
        try:
            prepare(**used)
        except BaseException:
            stop_servers()
            raise
        Supervisor(
            programs.site_programs(where),
            programs.embedded_watches(**used),
            web=where,
            stop_servers=stop_servers,
        ).run()


def prepare(*, valkey: bool, postgres: bool) -> None:
    """Start the embedded servers in use, migrate as the owner, and fill a new site."""
    if postgres:
        embedded.ensure_postgres()
    if valkey:
        embedded.ensure_valkey()
    call_command("migrate", database=OWNER, interactive=False, verbosity=0)
    call_command(SETUP)
    # The supervisor outlives many sessions; it needs none of its own.
    connections.close_all()
