"""Whatever a statement or a server does: an answer in time, and no session left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from benchmarks.reading import forget_peak, peak_bytes
from connections.databases import runs
from connections.databases.base import DatabaseError
from connections.databases.runner import (
    Busy,
    Cancelled,
    Lost,
    Paused,
    RunFailed,
    TimedOut,
    cancel,
    run,
)
from connections.models import Database, DatabaseQuery, Role
from connections.secrets import Secret
from tests.connections.databases.running import (
    ask,
    await_no_sessions,
    guarded,
    session_ids,
    within,
)
from tests.connections.databases.stalling import proxy_to, silent_server
from tests.factories import make_member, make_project
from tests.targets import environment, make_database, mariadb_server

pytestmark = pytest.mark.django_db
SECONDS = 2
ENGINES = ("postgres", "mariadb")
BOMBS = {
    "postgres": (
        "SELECT pg_sleep(60)",
        "SELECT count(*) FROM generate_series(1, 30000) a, generate_series(1, 30000) b"
        " WHERE a # b = -1",
        "SELECT count(md5(repeat('x', 100000000 + g))) FROM generate_series(1, 1000) g",
        "SELECT set_config('statement_timeout', '0', true), pg_sleep(60)",
        "SELECT set_config('statement_timeout', '0', true), s, pg_sleep(0.3)"
        " FROM generate_series(1, 200) s",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
        " SELECT max(n) FROM r",
    ),
    "mariadb": (
        "SELECT SLEEP(60)",
        "SELECT BENCHMARK(2000000000, MD5('x'))",
        "SELECT SUM(LENGTH(MD5(CONCAT(a.seq, REPEAT('x', 16000000)))))"
        " FROM seq_1_to_1000 a",
        "SELECT MD5(REPEAT(MD5(REPEAT('x', 16000000)), 400000)) FROM seq_1_to_9999",
        "SELECT COUNT(*) FROM seq_1_to_30000 a, seq_1_to_30000 b"
        " WHERE (a.seq ^ b.seq) = 70000",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r"
        " WHERE n < 4000000000) SELECT MAX(n) FROM r",
    ),
}


@pytest.fixture(params=ENGINES)
def target(request):
    return request.getfixturevalue(f"{request.param}_target")


@pytest.fixture
def database(project, target):
    if target.engine == "mysql":
        target.run(
            "SET GLOBAL max_recursive_iterations = 4294967295",
            "GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
        )
    return make_database(project, target, seconds_most=SECONDS)


@pytest.mark.parametrize(
    ("engine", "bomb"), [(e, bomb) for e in ENGINES for bomb in BOMBS[e]]
)
def test_a_bomb_is_ended_in_time_and_leaves_no_session(request, project, engine, bomb):
    target = request.getfixturevalue(f"{engine}_target")
    if engine == "mariadb":
        target.run(
            "SET GLOBAL max_recursive_iterations = 4294967295",
            "GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
        )
    database = make_database(project, target, seconds_most=SECONDS)
    with within(SECONDS + 1), pytest.raises(TimedOut, match="no answer after 2 s"):
        ask(database, bomb)
    assert DatabaseQuery.objects.get().verdict == DatabaseQuery.Verdict.TIMED_OUT
    await_no_sessions(target, target.user)
    # And the database answers the next one.
    assert ask(database, "SELECT 1").rows == [(1,)]


def test_a_cross_join_of_millions_gives_as_many_rows_as_are_allowed(database, target):
    series = {
        "postgres": "generate_series(1, 5000) a, generate_series(1, 5000) b",
        "mysql": "seq_1_to_5000 a, seq_1_to_5000 b",
    }[target.engine]
    with within(SECONDS + 1):
        found = ask(database, f"SELECT * FROM {series}", limit=500)  # noqa: S608 # our own
    assert (len(found.rows), found.truncated) == (500, True)
    await_no_sessions(target, target.user)


@pytest.mark.parametrize("after", [0, 60, 3000])
def test_a_server_that_stops_answering_costs_no_more_than_the_timeout(
    project, target, after
):
    """0: it takes the connection and says nothing; 60: it stops in the handshake."""
    with proxy_to(target.host, target.port, stall_after=after) as proxy:
        database = make_database(project, target, port=proxy.port, seconds_most=SECONDS)
        rows = {
            "postgres": "SELECT repeat('x', 900) FROM generate_series(1, 900)",
            "mysql": "SELECT REPEAT('x', 900) FROM seq_1_to_900",
        }[target.engine]
        with within(SECONDS + 1), pytest.raises(DatabaseError):
            ask(database, rows)
    assert DatabaseQuery.objects.get().verdict in ("timed_out", "failed")
    await_no_sessions(target, target.user)


def test_a_server_that_takes_no_connection_costs_no_more_than_the_timeout(
    project, target
):
    with silent_server() as port:
        database = make_database(project, target, port=port, seconds_most=SECONDS)
        with within(SECONDS + 1), pytest.raises(DatabaseError):
            ask(database, "SELECT 1")
    database.refresh_from_db()
    assert database.failures == 1


def test_a_password_changed_meanwhile_is_a_clear_error_without_it(project, target):
    database = make_database(project, target, password=Secret("the old one"))
    with within(3), pytest.raises(DatabaseError) as failed:
        ask(database, "SELECT 1")
    assert "the old one" not in str(failed.value)
    assert target.host not in str(failed.value)
    database.refresh_from_db()
    assert database.failures == 1
    database.password = Secret(target.password)
    database.save()
    assert ask(database, "SELECT 1").rows == [(1,)]
    database.refresh_from_db()
    assert database.failures == 0


def test_a_backend_killed_by_its_owner_is_said_at_once(database, target):
    def kill() -> None:
        while not (found := session_ids(target, target.user)):
            time.sleep(0.05)
        time.sleep(0.3)
        is_postgres = target.engine == "postgres"
        target.run(
            f"SELECT pg_terminate_backend({found[0]})"
            if is_postgres
            else f"KILL {found[0]}"
        )

    killer = threading.Thread(target=kill)
    killer.start()
    sleep = "pg_sleep(60)" if target.engine == "postgres" else "SLEEP(60)"
    with within(SECONDS), pytest.raises(Lost, match="ended the connection"):
        ask(database, f"SELECT {sleep}")
    killer.join()
    await_no_sessions(target, target.user)
    assert ask(database, "SELECT 1").rows == [(1,)]


def test_a_killed_server_is_said_at_once_and_paused_in_the_end(project):
    with mariadb_server() as target:
        target.run("GRANT SELECT ON shop.* TO reader@'127.0.0.1'")
        database = make_database(project, target, seconds_most=5)
        assert ask(database, "SELECT 1").rows == [(1,)]
        killer = threading.Timer(0.5, _kill_listener, [target.port])
        killer.start()
        with within(3), pytest.raises(Lost):
            ask(database, "SELECT SLEEP(60)")
        killer.join()
        for _ in range(3):
            with within(3), pytest.raises(DatabaseError, match="could not be reached"):
                ask(database, "SELECT 1")
        with within(0.5), pytest.raises(Paused):
            ask(database, "SELECT 1")


def _kill_listener(port: int) -> None:
    import psutil

    for process in psutil.Process().children():
        if any(f"--port={port}" in part for part in process.cmdline()):
            process.send_signal(signal.SIGKILL)


def test_a_gigabyte_in_one_cell_is_not_waited_for_nor_read(project, target):
    """A server may need longer for it than there is: then that is the answer."""
    if target.engine == "mysql":
        target.run(
            "SET GLOBAL max_allowed_packet = 1073741824",
            "GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
        )
    database = make_database(project, target, seconds_most=10)
    forget_peak()
    before = peak_bytes()
    with within(11), pytest.raises((RunFailed, TimedOut)):
        ask(database, "SELECT repeat('x', 1000000000)")
    assert peak_bytes() - before < 300 * 2**20
    await_no_sessions(target, target.user, 30)


def test_a_cell_of_200_megabytes_fails_clean(project, target):
    if target.engine == "mysql":
        target.run(
            "SET GLOBAL max_allowed_packet = 1073741824",
            "GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
        )
    database = make_database(project, target, seconds_most=20)
    forget_peak()
    before = peak_bytes()
    with within(21), pytest.raises(RunFailed, match="too large"):
        ask(database, "SELECT repeat('x', 200000000)")
    assert peak_bytes() - before < 190 * 2**20
    await_no_sessions(target, target.user, 15)


def test_many_large_cells_come_shortened_until_they_are_too_many(project, target):
    rows = {
        "postgres": "SELECT repeat('x', 4000000) FROM generate_series(1, 100)",
        "mysql": "SELECT REPEAT('x', 4000000) FROM seq_1_to_100",
    }[target.engine]
    if target.engine == "mysql":
        target.run("GRANT SELECT ON shop.* TO reader@'127.0.0.1'")
    database = make_database(project, target, seconds_most=20)
    found = ask(database, rows)
    assert found.truncated
    assert 1 <= len(found.rows) < 100
    assert found.shortened == len(found.rows)
    assert {len(row[0]) for row in found.rows} == {10_000}
    assert "larger than 48 MB" in found.warnings[0]
    await_no_sessions(target, target.user, 10)


@pytest.mark.django_db(transaction=True)
class TestAcrossThreads:
    """Runs of several threads, whose rows all must see: without a transaction."""

    @pytest.fixture
    def slow(self, target):
        project = make_project()
        database = make_database(project, target, seconds_most=8)
        sleep = "pg_sleep(30)" if target.engine == "postgres" else "SLEEP(30)"
        return database, f"SELECT {sleep}"

    def _start(self, database: Database, sql: str, user=None):
        outcome: list[BaseException | object] = []

        def work() -> None:
            try:
                outcome.append(run(database, guarded(sql), user=user))
            except DatabaseError as error:
                outcome.append(error)
            finally:
                connections.close_all()

        thread = threading.Thread(target=work)
        thread.start()
        return thread, outcome

    def _await_running(self, count: int, seconds: float = 5) -> list[DatabaseQuery]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = list(DatabaseQuery.objects.filter(verdict="running"))
            if len(found) == count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"{count} runs were expected, not {len(found)}")

    def test_cancelled_by_who_asked_it_ends_within_a_second(self, slow, target):
        database, sql = slow
        member = make_member(database.project, "asker@acme.test")
        thread, outcome = self._start(database, sql, member)
        (query,) = self._await_running(1)
        time.sleep(0.3)
        with within(1):
            assert cancel(query.pk, user=member)
            thread.join()
        assert isinstance(outcome[0], Cancelled)
        query.refresh_from_db()
        assert query.verdict == DatabaseQuery.Verdict.CANCELLED
        assert not cancel(query.pk, user=member)
        await_no_sessions(target, target.user)

    def test_only_the_asker_and_admins_cancel(self, slow):
        database, sql = slow
        asker = make_member(database.project, "asker@acme.test")
        other = make_member(database.project, "other@acme.test", Role.EDITOR)
        admin = make_member(database.project, "admin@acme.test", Role.ADMIN)
        stranger = make_member(
            make_project("strangers/main"), "stranger@strangers.test", Role.ADMIN
        )
        thread, outcome = self._start(database, sql, asker)
        (query,) = self._await_running(1)
        assert not cancel(query.pk, user=other)
        assert not cancel(query.pk, user=stranger)
        assert cancel(query.pk, user=admin)
        thread.join()
        assert isinstance(outcome[0], Cancelled)

    def test_the_third_at_once_is_told_to_wait(self, slow):
        database, sql = slow
        first, second = self._start(database, sql), self._start(database, sql)
        running = self._await_running(2)
        with within(3), pytest.raises(Busy, match="2 questions"):
            ask(database, "SELECT 1")
        DatabaseQuery.objects.update(cancel_asked_at=timezone.now())
        for thread, _ in (first, second):
            thread.join()
        assert len(running) == 2
        assert ask(database, "SELECT 1").rows == [(1,)]
        failed = DatabaseQuery.objects.filter(verdict="failed")
        assert [q.error[:11] for q in failed] == ["2 questions"]

    def test_many_at_once_never_hold_more_than_two_places(self, target, monkeypatch):
        monkeypatch.setattr(runs, "WAIT_SECONDS", 0.0)
        database = make_database(make_project(), target, seconds_most=8)
        sleep = "pg_sleep(1)" if target.engine == "postgres" else "SLEEP(1)"
        started = [self._start(database, f"SELECT {sleep}") for _ in range(8)]
        for thread, _ in started:
            thread.join()
        outcomes = [outcome[0] for _, outcome in started]
        busy = [one for one in outcomes if isinstance(one, Busy)]
        assert len(busy) == 6
        assert DatabaseQuery.objects.filter(verdict="done").count() == 2

    def test_a_killed_process_gives_its_place_back_and_its_row_is_ended(self, slow):
        database, sql = slow
        process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(database.pk), sql],
            env={
                **os.environ,
                **environment(),
                "TEST_DATABASE": connection.settings_dict["NAME"],
            },
        )
        (query,) = self._await_running(1, seconds=60)
        time.sleep(1)
        process.kill()
        process.wait()
        query.refresh_from_db()
        assert query.verdict == DatabaseQuery.Verdict.RUNNING
        assert query.alive_at > query.started_at
        # Its place is free once it was not touched for a while, its row ended later.
        later = timedelta(seconds=70)
        DatabaseQuery.objects.update(alive_at=query.alive_at - later)
        assert runs.end_lost() == 1
        query.refresh_from_db()
        assert "process" in query.error


_CHILD = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "fabric_site.settings"
import django
django.setup()
from django.db import connections
for alias in connections:
    connections[alias].settings_dict["NAME"] = os.environ["TEST_DATABASE"]
from connections.databases.base import Guarded
from connections.databases.runner import run
from connections.models import Database
database = Database.objects.get(pk=sys.argv[1])
sql = sys.argv[2]
run(database, Guarded(sql=sql, original=sql, limit=10), user=None)
"""
