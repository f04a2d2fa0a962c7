"""`manage.py reembed NAME`: change the model of all vectors, while search goes on."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from connections.providers.base import ProviderError, embedders
from connections.registry import UnknownName
from graph.reembed import reembed


class Command(BaseCommand):
    help = "Fill vectors of another embedder beside the present ones, then switch."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("embedder", help=", ".join(sorted(embedders)))
        parser.add_argument("--no-progress", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        def show(done: int) -> None:
            if not options["no_progress"]:
                self.stderr.write(f"\r\x1b[K{done} vectors", ending="")

        try:
            model = reembed(options["embedder"], progress=show)
        except (ProviderError, UnknownName) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Vectors are of {model.name} now. "
            f"Set FABRIC_EMBEDDER={options['embedder']} and restart."
        )
