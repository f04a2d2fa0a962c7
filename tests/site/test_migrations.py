from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from tests.migrated import PREFIX, copy_migrated, drop, owner_at

OWN = ("connections", "graph", "retrieval", "memory")


@pytest.mark.django_db(databases=["default", "owner", "arms"])
def test_no_change_of_a_model_is_without_its_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.fixture
def scratch(django_db_setup, django_db_blocker) -> Iterator[str]:
    """A migrated database of the owner's, by an alias of its own."""
    name = f"{PREFIX}{os.getpid()}_migrations"
    with django_db_blocker.unblock(), owner_at("postgres") as server:
        copy_migrated(server, name)
        settings = connections["owner"].settings_dict
        connections.settings["scratch"] = settings | {"NAME": name}
        try:
            yield "scratch"
        finally:
            connections["scratch"].close()
            del connections.settings["scratch"]
            del connections["scratch"]
            drop(server, name)


def tables(alias: str) -> set[str]:
    with connections[alias].cursor() as cursor:
        found = connections[alias].introspection.table_names(cursor)
        cursor.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
            " AND prolang = (SELECT oid FROM pg_language WHERE lanname = 'plpgsql')"
        )
        return {*found, *(row[0] for row in cursor.fetchall())}


@pytest.fixture
def _without_collector() -> Iterator[None]:
    """Each step makes all models anew, which live on to the end: nothing to collect."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.timeout(400)  # every migration twice, beside whatever else runs
@pytest.mark.usefixtures("_without_collector")
def test_migrations_go_back_to_nothing_and_forth_again(scratch):
    full = tables(scratch)
    assert {"graph_nodes", "audit", "audit_append_only"} <= full
    executor = MigrationExecutor(connections[scratch])
    targets = [(app, None) for app in (*reversed(OWN), "contenttypes", "auth")]
    executor.migrate(targets)
    left = {
        t for t in tables(scratch) if t.startswith(("graph", "audi", "connections"))
    }
    assert left == set()
    call_command("migrate", database=scratch, verbosity=0)
    assert tables(scratch) == full
