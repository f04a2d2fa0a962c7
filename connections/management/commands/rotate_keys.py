"""`manage.py rotate_keys`: encrypt stored secrets with the newest key of the ring."""

from __future__ import annotations

from argparse import ArgumentParser
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from connections.audit_heads import sign_anew
from connections.embedded.bootstrap_secrets import field_key
from connections.models import record_audit
from connections.rotation import rotate
from connections.secrets import newest_key


class Command(BaseCommand):
    help = (
        "Encrypt stored secrets with the first key of FIELD_ENCRYPTION_KEYS. Put a new "
        "key first (--make-key), restart, run this; then the older ones may go."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--make-key", action="store_true", help="print a new key and do nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["make_key"]:
            self.stdout.write(field_key())
            return
        done, unreadable = 0, 0
        for _, why in chain(rotate(), sign_anew()):
            if why:
                unreadable += 1
                self.stderr.write(why)
            else:
                done += 1
        record_audit(
            "secrets.rotated", target=newest_key(), done=done, unreadable=unreadable
        )
        self.stdout.write(f"Encrypted anew with the key {newest_key()}: {done}.")
        if unreadable:
            raise CommandError(
                f"{unreadable} could not be read and stay as they are: keep the older "
                "keys until these are entered anew."
            )
