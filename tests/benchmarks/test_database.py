from __future__ import annotations

import os

import pytest
from django.db import connections

from benchmarks import database
from benchmarks.database import KEPT_PREFIX, kept_database, migrations_version, server

LABEL = f"test{os.getpid()}"


@pytest.fixture(autouse=True)
def _without_migrations(db, monkeypatch):
    monkeypatch.setattr(database, "call_command", lambda *_, **__: None)
    monkeypatch.setattr(database, "use", lambda _: None)
    monkeypatch.setenv("FABRIC_BENCH_KEEP", "1")
    yield
    with server("postgres") as owner:
        owner.execute(f'DROP DATABASE IF EXISTS "{KEPT_PREFIX}{LABEL}"')


def exists():
    with server("postgres") as owner:
        found = owner.execute(database.SAID_OF, [KEPT_PREFIX + LABEL]).fetchone()
        return found is not None


def test_a_kept_database_is_filled_once_and_anew_for_another_version():
    filled = []
    for version in ("one", "one", "two"):
        with kept_database(LABEL, version, lambda v=version: filled.append(v)):
            assert exists()
    assert filled == ["one", "two"]


def test_what_a_run_killed_while_filling_left_is_made_anew():
    def killed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), kept_database(LABEL, "one", killed):
        pass
    assert exists()
    filled = []
    with kept_database(LABEL, "one", lambda: filled.append(1)):
        pass
    assert filled == [1]


def test_a_run_killed_afterwards_leaves_it_filled():
    with pytest.raises(KeyboardInterrupt), kept_database(LABEL, "one", lambda: None):
        raise KeyboardInterrupt
    with kept_database(LABEL, "one", lambda: pytest.fail("filled again")):
        pass


def test_it_goes_away_where_it_is_not_to_be_kept(monkeypatch):
    monkeypatch.setenv("FABRIC_BENCH_KEEP", "")
    with kept_database(LABEL, "one", lambda: None):
        assert exists()
    assert not exists()
    assert connections["owner"].settings_dict["NAME"]


def test_the_version_tells_migrations_apart(monkeypatch):
    before = migrations_version()
    assert before == migrations_version()
    loader = database.MigrationLoader(None)
    loader.disk_migrations[("graph", "9999_more")] = None
    monkeypatch.setattr(database, "MigrationLoader", lambda _: loader)
    assert migrations_version() != before
