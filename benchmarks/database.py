"""Databases of the benchmarks' own: dropped at the end, or kept for the next run."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.core.management import call_command
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from psycopg.sql import SQL, Identifier

from benchmarks.report import Unavailable, warn
from connections.management.base import create_project
from connections.models import Project, SyncRun
from graph.ingest import Progress
from graph.ingest import ingest as read_source
from graph.sources import connect_source

PREFIX = "fabric_bench_"
KEPT_PREFIX = "fabric_kept_"
SAID_OF = """
    SELECT shobj_description(d.oid, 'pg_database') FROM pg_database d
     WHERE d.datname = %s
"""
LEFTOVERS = "SELECT datname FROM pg_database WHERE datname LIKE %s"
PATIENCE = 5  # seconds, and as many tries


@contextmanager
def scratch_database() -> Iterator[None]:
    """Point Django at an empty, migrated database, for as long as this is open."""
    before = {alias: connections[alias].settings_dict["NAME"] for alias in connections}
    name = f"{PREFIX}{os.getpid()}"
    with server("postgres") as owner:
        _drop_leftovers(owner)
        _create(owner, name)
        try:
            use(dict.fromkeys(connections, name))
            call_command("migrate", database="owner", verbosity=0)
            yield
        finally:
            use(before)
            _drop(owner, name)


@contextmanager
def kept_database(
    label: str, version: str, fill: Callable[[], object]
) -> Iterator[None]:
    """Point Django at the database `label`, filled now or by an earlier run.

    One that another version, or a run killed while filling it, has left is made anew.
    It is dropped at the end unless FABRIC_BENCH_KEEP is set.
    """
    before = {alias: connections[alias].settings_dict["NAME"] for alias in connections}
    name = f"{KEPT_PREFIX}{label}"
    with server("postgres") as owner:
        found = owner.execute(SAID_OF, [name]).fetchone()
        is_filled = found is not None and found[0] == version
        if not is_filled:
            _drop(owner, name)
            _create(owner, name)
        use(dict.fromkeys(connections, name))
        try:
            if not is_filled:
                call_command("migrate", database="owner", verbosity=0)
                fill()
                say = SQL("COMMENT ON DATABASE {} IS {}")
                owner.execute(say.format(Identifier(name), version))
            yield
        finally:
            use(before)
            if not os.environ.get("FABRIC_BENCH_KEEP", "").strip():
                _drop(owner, name)


def migrations_version() -> str:
    """Return a digest of the migrations there are: what shape a database has."""
    names = sorted(
        f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations
    )
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]


def _create(owner: psycopg.Connection, name: str) -> None:
    try:
        owner.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    except psycopg.errors.InsufficientPrivilege:
        raise Unavailable("the owner login may not create databases.") from None


def _drop_leftovers(owner: psycopg.Connection) -> None:
    """Drop what a benchmark that was killed has left."""
    for (name,) in owner.execute(LEFTOVERS, [f"{PREFIX}%"]).fetchall():
        if not Path("/proc", name.removeprefix(PREFIX)).exists():
            _drop(owner, name)


def _drop(owner: psycopg.Connection, name: str) -> None:
    """Drop a database; not by force, which the owner may not use on autovacuum."""
    for tries_left in reversed(range(PATIENCE)):
        try:
            owner.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(name)))
            return
        except psycopg.errors.ObjectInUse:
            if not tries_left:
                warn(f"{name} is still in use; the next benchmark drops it.")
        time.sleep(1)


def use(names: dict[str, str]) -> None:
    """Point each alias at the database named for it."""
    for alias, name in names.items():
        connections[alias].close()
        if pool := getattr(connections[alias], "close_pool", None):
            pool()
        connections[alias].settings_dict["NAME"] = name


def server(database: str = "") -> psycopg.Connection:
    """Return a connection of the owner's, outside Django; by default where it is."""
    login = connections["owner"].settings_dict
    return psycopg.connect(
        host=login["HOST"],
        port=login["PORT"],
        user=login["USER"],
        password=login["PASSWORD"],
        dbname=database or login["NAME"],
        autocommit=True,
    )


def read(
    path: str,
    kind: str,
    location: Path,
    *,
    name: str = "",
    progress: Progress | None = None,
) -> tuple[Project, SyncRun]:
    """Read a source into the project `path` as the command does, open to all of it."""
    project = create_project(path)
    source = connect_source(
        project=project,
        kind=kind,
        location=location,
        name=name,
        audience="project",
    )
    return project, read_source(source, progress=progress)
