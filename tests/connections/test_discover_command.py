"""`manage.py discover`, the task and the daily round of all databases."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from connections import tasks
from connections.models import Database
from connections.tasks import discover_database, discover_databases, follow_database
from fabric_site.schedule import JOBS
from graph.models import Node
from tests.targets import make_database

pytestmark = pytest.mark.django_db


@pytest.fixture
def database(project, postgres_target):
    user = postgres_target.user
    postgres_target.run(
        "CREATE TABLE goods (id integer PRIMARY KEY, kind text)",
        f"GRANT SELECT ON goods TO {user}",
    )
    yield make_database(project, postgres_target)
    postgres_target.run("DROP TABLE goods")


def test_the_command_discovers_and_search_finds_the_tables(database):
    said = StringIO()
    call_command("discover", "acme/main", "shop", stdout=said)
    assert said.getvalue().startswith("1 tables, 2 columns in ")
    assert Node.objects.filter(node_type="db_table").count() == 1
    said = StringIO()
    call_command("discover", "acme/main", "shop", "--json", stdout=said)
    assert json.loads(said.getvalue())["changed"] == 0


def test_the_command_says_what_is_wrong(database):
    with pytest.raises(CommandError, match="no database other; there are: shop"):
        call_command("discover", "acme/main", "other")
    with pytest.raises(CommandError, match="no project acme/none"):
        call_command("discover", "acme/none", "shop")
    Database.objects.update(port=1)
    with pytest.raises(CommandError, match="could not be reached"):
        call_command("discover", "acme/main", "shop")


def test_the_task_discovers_and_an_error_stays_with_the_row(database):
    discover_database(str(database.pk))
    assert Node.objects.filter(node_type="db_column").count() == 2
    Database.objects.update(port=1)
    discover_database(str(database.pk))
    database.refresh_from_db()
    assert "reached" in database.discovery_error
    discover_database("00000000-0000-0000-0000-000000000000")


def test_a_run_that_ran_out_of_time_is_followed_by_another(
    database, monkeypatch, settings
):
    sent = []
    monkeypatch.setattr(discover_database, "delay", lambda *args: sent.append(args))
    monkeypatch.setitem(settings.FABRIC, "SAMPLING_SECONDS", 0)
    discover_database(str(database.pk))
    assert sent == [(str(database.pk), 2)]
    discover_database(str(database.pk), tasks.RUNS_MOST)
    assert len(sent) == 1, "not for ever"


def test_every_enabled_database_is_due_daily(database, monkeypatch):
    sent = []
    monkeypatch.setattr(discover_database, "delay", sent.append)
    discover_databases()
    assert sent == [str(database.pk)]
    Database.objects.update(enabled=False)
    discover_databases()
    assert len(sent) == 1
    names = {job["task"]: job["schedule"] for job in JOBS.values()}
    assert names["connections.tasks.discover_databases"] == 86_400


def test_search_follows_a_schema_that_was_stored(database):
    follow_database(str(database.pk))
    assert not Node.objects.exists()
    call_command("discover", "acme/main", "shop", stdout=StringIO())
    Node.objects.all().delete()
    follow_database("00000000-0000-0000-0000-000000000000")
