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
    said = []
    for version in ("one", "one", "two"):
        with kept_database(LABEL, version) as is_filled:
            said.append(is_filled)
    assert said == [False, True, False]


def test_what_a_killed_run_left_is_made_anew():
    with pytest.raises(KeyboardInterrupt), kept_database(LABEL, "one"):
        raise KeyboardInterrupt
    assert exists()
    with kept_database(LABEL, "one") as is_filled:
        assert not is_filled


def test_it_goes_away_where_it_is_not_to_be_kept(monkeypatch):
    monkeypatch.setenv("FABRIC_BENCH_KEEP", "")
    with kept_database(LABEL, "one"):
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
