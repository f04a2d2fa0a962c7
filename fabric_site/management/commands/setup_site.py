"""`manage.py setup_site`: what a new installation begins with; quick the next time."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from connections import embedded
from connections.databases.base import DatabaseError
from connections.databases.discovery import refresh
from connections.demo import questions
from connections.demo.generate import write
from connections.management.base import create_project
from connections.models import Project, Source, SyncRun, User, record_audit
from connections.providers.base import ProviderError
from fabric_site.demo_shop import connect_demo
from graph.embed import embed_backlog, ensure_index
from graph.figures.keeping import count_figures
from graph.ingest import ingest
from graph.reembed import ReembedError, adopt_configured
from graph.sources import connect_source

DEMO, OWN = "demo/main", "default/main"
ADMIN = "admin@fabric.local"
# What the generator writes, by the name its source gets.
DEMO_SOURCES = (
    ("slack", "slack", "slack"),
    ("mail", "mail", "mail.mbox"),
    ("transcripts", "meetings", "meetings"),
    ("folder", "files", "files"),
)


class Command(BaseCommand):
    help = "Make the first user and projects, and load the demo company."

    def handle(self, *args: Any, **options: Any) -> None:
        self._embedder()
        if ensure_index():
            self.stdout.write("Built the vector index that a killed load had left out.")
        self._admin()
        create_project(OWN)
        demo = create_project(DEMO)
        if not _is_loaded(demo):
            self.stdout.write("Loading the demo company ...")
            load_demo(demo)
            count_figures(demo)  # the dashboard's; by itself that is done every hour
        self._shop(demo)

    def _shop(self, demo: Project) -> None:
        """Connect the demo company's database, and discover it the first time."""
        shop = connect_demo(demo)
        if shop is None or shop.discovered_at is not None:
            return
        try:
            refresh(shop)
        except DatabaseError as error:
            self.stdout.write(f"The demo's database was not discovered: {error}")

    def _embedder(self) -> None:
        try:
            model = adopt_configured()
        except (ProviderError, ReembedError) as error:
            raise CommandError(f"FABRIC_EMBEDDER: {error}") from error
        if model:
            self.stdout.write(f"Vectors will be of {model}.")

    def _admin(self) -> None:
        if User.objects.filter(is_superuser=True).exists():
            return
        password = secrets.token_urlsafe(12)
        with transaction.atomic():
            User.objects.create_superuser(ADMIN, password, name="Admin")
            record_audit("user.created", target=ADMIN, now={"is_superuser": True})
        self.stdout.write(
            f"\n  Sign in as {ADMIN} with the password {password}\n"
            "  It is shown this once; `manage.py changepassword` sets another.\n"
        )


def _is_loaded(demo: Project) -> bool:
    names = [name for _, name, _ in DEMO_SOURCES]
    finished = SyncRun.objects.filter(
        source__project=demo, source__name__in=names, state=SyncRun.State.FINISHED
    )
    return finished.values("source").distinct().count() == len(DEMO_SOURCES)


def load_demo(demo: Project) -> list[Source]:
    """Generate the demo company and ingest it as any other data."""
    sources = []
    folder = embedded.var_folder() / "demo"
    write(folder)
    for kind, name, path in DEMO_SOURCES:
        audience = "project" if kind == "mail" else ""
        source = connect_source(
            project=demo,
            kind=kind,
            location=folder / path,
            name=name,
            audience=audience,
        )
        ingest(source)
        sources.append(source)
    embed_backlog(demo.pk)
    demo.sample_questions = questions()
    demo.save(update_fields=["sample_questions"])
    return sources
