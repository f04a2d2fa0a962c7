"""`manage.py reembed NAME`: change the model of all vectors, while search goes on."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from connections.providers.base import ProviderError, embedders
from connections.registry import UnknownName
from graph import tasks
from graph.embed import backlog, retry_refused
from graph.models import EmbeddingModel, RefusedText
from graph.reembed import (
    ReembedError,
    Wanted,
    cancel,
    choose_model,
    filling,
    reembed,
)

REASONS_SHOWN = 5


class Command(BaseCommand):
    help = "Fill vectors of another embedder beside the present ones, then switch."

    def add_arguments(self, parser: ArgumentParser) -> None:
        known = ", ".join(sorted(embedders))
        parser.add_argument("embedder", nargs="?", default="", help=known)
        parser.add_argument("--provider", default="", help=known)
        parser.add_argument("--model", default="", help="the provider's name of it")
        parser.add_argument("--dimensions", type=int, default=0)
        parser.add_argument("--storage", choices=EmbeddingModel.Storage.values)
        parser.add_argument("--index", choices=EmbeddingModel.Index.values)
        parser.add_argument(
            "--background", action="store_true", help="let a worker do it"
        )
        parser.add_argument("--no-progress", action="store_true")
        other = parser.add_mutually_exclusive_group()
        other.add_argument("--status", action="store_true", help="how far it is")
        other.add_argument(
            "--cancel", action="store_true", help="drop what is half filled"
        )
        other.add_argument(
            "--retry-refused",
            action="store_true",
            help="ask again for texts that the active model refused",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["status"]:
                self._status()
            elif options["cancel"]:
                self._cancel()
            elif options["retry_refused"]:
                self.stdout.write(f"{retry_refused():,} nodes wait for a vector again.")
            else:
                self._change(options)
        except (ProviderError, ReembedError, UnknownName) as error:
            raise CommandError(str(error)) from error

    def _change(self, options: dict[str, Any]) -> None:
        wanted = Wanted.configured(
            options["provider"] or options["embedder"],
            name=options["model"],
            dimensions=options["dimensions"],
            storage=options["storage"],
            index=options["index"],
        )
        if options["background"]:
            model = choose_model(wanted)
            tasks.reembed.delay(model.pk)
            self.stdout.write(
                f"A worker fills the vectors of {model}; `reembed --status` shows how "
                "far it is."
            )
            return
        show = None if options["no_progress"] else self._show
        model = reembed(wanted, progress=show)
        if show:
            self.stderr.write("")
        self.stdout.write(
            f"Vectors are of {model} now, also for processes that run. Set "
            f"FABRIC_EMBEDDER={model.provider}, so that the settings say so too."
        )

    def _show(self, text: str) -> None:
        self.stderr.write(f"\r\x1b[K{text}", ending="")

    def _status(self) -> None:
        active = EmbeddingModel.objects.get(is_active=True)
        self.stdout.write(
            f"active: {active}, {active.storage}, {active.index}; "
            f"{backlog():,} nodes wait for a vector"
        )
        if active.provider != settings.FABRIC["EMBEDDER"]:
            self.stdout.write(
                f"  FABRIC_EMBEDDER is {settings.FABRIC['EMBEDDER']}: run `reembed` to "
                "change to it, or set it back"
            )
        other = filling()
        self.stdout.write(
            f"filling: {other}, {other.progress}" if other else "no other"
        )
        if other and other.error:
            self.stdout.write(f"  it stopped: {other.error}")
        for model in filter(None, (active, other)):
            self._refusals(model)

    def _refusals(self, model: EmbeddingModel) -> None:
        refused = RefusedText.objects.filter(model=model).order_by("-pk")
        if count := refused.count():
            self.stdout.write(f"{count:,} texts {model.name} refused, the latest:")
        for one in refused.select_related("node")[:REASONS_SHOWN]:
            self.stdout.write(f"  {one.node.key}: {one.reason}")

    def _cancel(self) -> None:
        model = cancel()
        said = (
            f"Dropped the vectors of {model}." if model else "Nothing is being filled."
        )
        self.stdout.write(said)
