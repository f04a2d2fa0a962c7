"""`manage.py verify_audit`: recompute the audit's chains, and name what does not fit."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from connections.audit_checking import Verified, verify
from connections.management.base import find_tenant, print_json


class Command(BaseCommand):
    help = (
        "Verify the audit: sealed and waiting rows are told apart, a changed, removed "
        "or inserted one is named. Ends with 1 where anything does not fit."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", default="", help="one tenant's chain only")
        parser.add_argument(
            "--end",
            default="",
            metavar="POSITION:SEAL",
            help="an end noted before, that the tenant's chain must lead through",
        )
        parser.add_argument(
            "--json", action="store_true", help="one JSON object on stdout"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        end, tenant = options["end"], options["tenant"]
        if end and not re.fullmatch(r"[1-9]\d{0,17}:[0-9a-f]{64}", end):
            raise CommandError("--end is POSITION:SEAL, as verify_audit printed it.")
        if end and not tenant:
            raise CommandError("--end is of one chain: name its --tenant.")
        found = verify(find_tenant(tenant) if tenant else None, end=end)
        if options["json"]:
            print_json(self.stdout, asdict(found))
        else:
            self._tell(found)
        if not found.is_whole:
            raise CommandError(f"{found.fault_count} faults.")

    def _tell(self, found: Verified) -> None:
        self.stdout.write(
            f"{found.sealed:,} sealed, {found.waiting:,} waiting, details erased of "
            f"{found.erased:,}."
        )
        for name, end in found.ends.items():
            self.stdout.write(f"{name} ends at {end}")
        for fault in found.faults:
            self.stdout.write(str(fault))
