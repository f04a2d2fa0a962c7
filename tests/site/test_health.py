from __future__ import annotations

import re

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from fabric_site import health
from tests.factories import make_node


@pytest.mark.parametrize("method", ["get", "head"])
def test_alive_is_said_without_the_database(method):
    # no database in this test: a query would fail it
    assert getattr(Client(), method)("/healthz").status_code == 200


def test_ready_is_said_when_every_migration_is_in(db):
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "database": "ok", "migrations": "ok"}


def test_not_ready_is_said_when_a_migration_is_missing(db, monkeypatch):
    code = health._migrations() | {("graph", "9999_not_yet")}
    monkeypatch.setattr(health, "_migrations", lambda: code)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["migrations"] == "1 missing"


def broken(*_):
    raise DatabaseError("password=hunter2")


def test_not_ready_is_said_when_the_database_is_away_and_no_more(monkeypatch):
    monkeypatch.setattr(health, "_applied", broken)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "unreachable"
    assert b"hunter2" not in answer.content


def test_metrics_are_lines_that_prometheus_reads(project):
    make_node(project, content="words of acme")
    answer = Client().get("/metrics")
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    text = answer.content.decode()
    assert "fabric_up 1\n" in text
    assert 'fabric_table_rows{table="graph_nodes"} ' in text
    for line in text.splitlines():
        assert re.fullmatch(r'# .+|fabric_[a-z_]+(\{[a-z]+="[a-z_]+"\})? \d+', line), (
            line
        )
    assert "acme" not in text


def test_metrics_say_when_the_database_is_away(monkeypatch):
    monkeypatch.setattr(connection, "cursor", broken)
    assert "fabric_up 0\n" in Client().get("/metrics").content.decode()


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/metrics"])
def test_health_is_not_cached_and_only_read(address, db):
    assert "no-cache" in Client().get(address)["Cache-Control"]
    assert Client().post(address).status_code == 405
