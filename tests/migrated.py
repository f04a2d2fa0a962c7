"""Databases for tests: migrated once, copied for each process, emptied between tests."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.core.management import call_command
from django.db import connections
from psycopg.sql import SQL, Identifier

from connections import embedded

CHECKOUT = Path(__file__).resolve().parents[1]
PREFIX, TEMPLATES = "test_fabric_", "fabric_template_"
# What a migrated database comes of; the lock file stands for everybody else's models.
SOURCES = (
    "*/migrations/*.py",
    "*/models/*.py",
    "*/models.py",
    "connections/*.py",
    "connections/embedded/*.py",
    "tests/migrated.py",
    "requirements-dev.lock",
)
ONE_AT_A_TIME = 7_230_551
# A checkpoint writes all it must and waits for no disk; nothing here outlives a crash.
WITHOUT_DISK = ("fsync", "synchronous_commit", "full_page_writes")
NEVER_CHANGED = {"django_content_type", "auth_permission"}
NAMES_LIKE = "SELECT d.datname FROM pg_database d WHERE d.datname LIKE %s"


def is_embedded() -> bool:
    """Tell whether tests run on a server of their own, not on one that they are given."""
    return not os.environ.get("DATABASE_URL", "").strip()


def wait_for_no_disk() -> None:
    """Let the tests' own server lose what it has when the machine fails."""
    login = embedded.ensure_postgres().django("superuser", "postgres")
    with _connected(login) as server:
        for name in WITHOUT_DISK:
            server.execute(SQL("ALTER SYSTEM SET {} = off").format(Identifier(name)))
        server.execute("SELECT pg_reload_conf()")


def stop_servers() -> None:
    """Stop the tests' own servers, unless other tests run beside these."""
    with embedded.unless_used(embedded.var_folder()) as alone:
        if alone:
            embedded.stop_valkey()
            embedded.stop_postgres()


@contextmanager
def own_database(name: str) -> Iterator[None]:
    """Point every alias at a migrated database of this process, dropped at the end."""
    with owner_at("postgres") as server:
        copy_migrated(server, name)
        _use(name)
        try:
            yield
        finally:
            _use(name)  # again: it closes whatever the tests have opened
            drop(server, name)


def copy_migrated(server: psycopg.Connection, name: str) -> None:
    """Make `name` a copy of the migrated database, which is made where there is none."""
    template = TEMPLATES + _digest()
    server.execute("SELECT pg_advisory_lock(%s)", [ONE_AT_A_TIME])
    try:
        if not server.execute(NAMES_LIKE, [template]).fetchone():
            _drop_old(server)
            _make_template(server, template)
        drop(server, name)
        copy = SQL("CREATE DATABASE {} TEMPLATE {}")
        server.execute(copy.format(Identifier(name), Identifier(template)))
    finally:
        server.execute("SELECT pg_advisory_unlock(%s)", [ONE_AT_A_TIME])


def empty(*_: object) -> None:
    """Empty the tables after a test that commits, in place of Django's own flush.

    That one writes anew, for each alias of the same database, what never changes here:
    the content types and their permissions.
    """
    connection = connections["default"]
    with connection.cursor() as cursor:
        names = set(connection.introspection.django_table_names(only_existing=True))
        tables = SQL(", ").join(map(Identifier, sorted(names - NEVER_CHANGED)))
        cursor.execute(SQL("TRUNCATE {}").format(tables))


def owner_at(database: str) -> psycopg.Connection:
    """Return a connection of the owner's, outside Django."""
    return _connected(connections["owner"].settings_dict | {"NAME": database})


def drop(server: psycopg.Connection, name: str) -> None:
    """Drop a database once nobody is in it: the owner may not end others' sessions,
    and those just closed take a moment to go."""
    for attempt in range(100):
        try:
            server.execute(SQL("DROP DATABASE IF EXISTS {}").format(Identifier(name)))
        except psycopg.errors.ObjectInUse:
            if attempt == 99:
                raise
            time.sleep(0.1)
        else:
            return


def _connected(login: dict[str, object]) -> psycopg.Connection:
    return psycopg.connect(
        host=str(login["HOST"]),
        port=str(login["PORT"]),
        user=str(login["USER"]),
        password=str(login["PASSWORD"]),
        dbname=str(login["NAME"]),
        autocommit=True,
    )


def _digest() -> str:
    found = hashlib.sha256()
    for path in sorted({path for each in SOURCES for path in CHECKOUT.glob(each)}):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()[:12]


def _make_template(server: psycopg.Connection, name: str) -> None:
    """Migrate a database aside and rename it, so that none is ever half made."""
    aside = f"{name}_new"
    server.execute(SQL("CREATE DATABASE {}").format(Identifier(aside)))
    _use(aside)
    call_command("migrate", database="owner", verbosity=0)
    with connections["owner"].cursor() as cursor:
        # Only to empty tables between tests that commit.
        cursor.execute("GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO fabric_app")
    _use(aside)
    rename = SQL("ALTER DATABASE {} RENAME TO {}")
    server.execute(rename.format(Identifier(aside), Identifier(name)))


def _drop_old(server: psycopg.Connection) -> None:
    """Drop templates of other versions, and what runs that were killed have left."""
    for (name,) in server.execute(NAMES_LIKE, [f"{TEMPLATES}%"]).fetchall():
        drop(server, name)
    for (name,) in server.execute(NAMES_LIKE, [f"{PREFIX}%"]).fetchall():
        process = name.removeprefix(PREFIX).partition("_")[0]
        if not Path("/proc", process).exists():
            drop(server, name)


def _use(name: str) -> None:
    """Close what is open, and point each alias at a database."""
    for alias in connections:
        connections[alias].close()
        if hasattr(connections[alias], "close_pool"):
            connections[alias].close_pool()
        connections[alias].settings_dict["NAME"] = name
