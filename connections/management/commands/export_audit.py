"""`manage.py export_audit`: the audit as JSON lines."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.timezone import is_naive, make_aware

from connections.audit_export import FIRST, LAST, Wanted, exported
from connections.management.base import find_tenant
from connections.models import Tenant


class Command(BaseCommand):
    help = "Write the audit as JSON lines, whole or not at all; the export is audited."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--tenant", default="", help="one tenant's rows; all and the installation's"
        )
        parser.add_argument("--since", default="", metavar="DATE")
        parser.add_argument("--until", default="", metavar="DATE", help="not included")
        parser.add_argument("--output", default="-", metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["tenant"]
        tenants = [find_tenant(slug)] if slug else list(Tenant.objects.all())
        wanted = Wanted(
            tenants=[tenant.pk for tenant in tenants],
            with_own=not slug,
            since=moment("--since", options["since"]) or FIRST,
            until=moment("--until", options["until"]) or LAST,
        )
        lines = exported(wanted, by=None)
        if options["output"] == "-":
            for line in lines:
                self.stdout.write(line, ending="")
            return
        number = write_whole(Path(options["output"]), lines)
        self.stderr.write(f"{number:,} rows in {options['output']}.")


def moment(name: str, given: str) -> datetime | None:
    """Return a date or time of an option as a moment, or raise `CommandError`."""
    if not given:
        return None
    try:
        day = parse_date(given)
        at = (
            datetime.combine(day, datetime.min.time()) if day else parse_datetime(given)
        )
    except ValueError:
        at = None
    if at is None:
        raise CommandError(f"{name} is a date such as 2026-11-21, not {given!r}.")
    return make_aware(at) if is_naive(at) else at


def write_whole(path: Path, lines: Iterable[str]) -> int:
    """Write a file that is there whole or not at all; return the number of lines."""
    beside, number = path.with_name(f".{path.name}.{os.getpid()}"), 0
    try:
        with beside.open("x", encoding="utf-8") as file:
            beside.chmod(0o600)
            for line in lines:
                file.write(line)
                number += 1
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        beside.unlink(missing_ok=True)
    return number
