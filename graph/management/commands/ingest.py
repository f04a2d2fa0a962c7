"""`manage.py ingest KIND PATH`: read a source into a project's graph."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from connections.management.base import ProjectCommand
from connections.models import Project, SyncRun, User
from connections.providers.base import ProviderError
from connections.registry import UnknownName
from connections.sources.base import SourceError, connectors
from graph.batch import Counts
from graph.embed import backlog, embed_backlog
from graph.ingest import Progress, ingest
from graph.models import Edge, Node
from graph.sources import connect_source


class Command(ProjectCommand):
    help = "Read mail, chat, files or meetings into a project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("kind", help=", ".join(sorted(connectors)))
        parser.add_argument("path", type=Path)
        parser.add_argument("--create", action="store_true", help="make the project")
        parser.add_argument("--source", default="", help="a name for this source")
        parser.add_argument(
            "--audience",
            default="",
            help="who may see it: project, private, or addresses with commas between",
        )
        parser.add_argument(
            "--owner", default="", help="e-mail of the user it belongs to"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        project = self.project(options["project"], create=options["create"])
        try:
            source = connect_source(
                project=project,
                kind=options["kind"],
                location=options["path"],
                name=options["source"],
                audience=options["audience"],
                owner=_owner(options["owner"]),
            )
            run = ingest(source, progress=self._progress(options))
            self._embed(project, options)
        except (SourceError, UnknownName, ProviderError) as error:
            raise CommandError(str(error)) from error
        self._report(project, run, time.monotonic() - started, options)
        closed = source.audience is not None and source.audience.kind != "public"
        if closed and not options["json"]:
            self.stderr.write(
                f"{source.name} is closed: only {_who(source.audience)} may see it. "
                "`--audience project` opens it to the project."
            )

    def _progress(self, options: dict[str, Any]) -> Progress | None:
        if options["no_progress"]:
            return None

        def show(counts: Counts) -> None:
            self.show_progress(
                f"{counts.seen} seen, {counts.created} created, "
                f"{counts.updated} updated, {counts.failed} failed"
            )

        return show

    def _embed(self, project: Project, options: dict[str, Any]) -> None:
        waiting = backlog(project.pk)
        if not waiting:
            return
        show = None
        if not options["no_progress"]:

            def show(done: int) -> None:
                self.show_progress(f"vectors: {done} of {waiting}")

        embed_backlog(project.pk, progress=show)

    def _report(
        self, project: Project, run: SyncRun, seconds: float, options: dict[str, Any]
    ) -> None:
        if not options["no_progress"]:
            self.show_progress("", end=True)
        answer = {name: getattr(run, name) for name in Counts.__slots__}
        answer |= {
            "nodes": Node.objects.of(project).current().count(),
            "edges": Edge.objects.of(project).live().count(),
            "seconds": round(seconds, 3),
            "errors": list(run.errors.filter(is_warning=False).values("item", "error")),
        }
        if options["json"]:
            self.print_json(answer)
            return
        for error in answer.pop("errors"):
            self.stderr.write(f"failed: {error['item']}: {error['error']}")
        self.stdout.write(
            ", ".join(f"{name} {value}" for name, value in answer.items())
        )


def _owner(email: str) -> User | None:
    """Return the named user, else the only superuser there is."""
    if email:
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no user {email}.")
        return user
    operators = list(User.objects.filter(is_superuser=True, is_active=True)[:2])
    return operators[0] if len(operators) == 1 else None


def _who(audience: Any) -> str:
    members = [str(member) for member in audience.members.select_related("user")]
    return ", ".join(members) or "nobody"
