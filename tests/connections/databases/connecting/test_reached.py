"""Connections: to the address that was checked, and one coarse error for all others."""

from __future__ import annotations

import socket
import time

import MySQLdb
import psycopg
import pytest

from connections.databases.connecting import cut_after, open_connection
from connections.databases.failures import LoginRefused, Unreachable
from connections.models import Database
from connections.secrets import Secret
from tests.connections.databases.connecting.leading import leads_to, opened, server_at
from tests.connections.databases.servers import listening
from tests.targets import allowed, make_database

pytestmark = pytest.mark.django_db


def test_a_database_is_reached_and_says_what_it_is(project, target):
    database = make_database(project, target)
    connection = open_connection(database)
    assert connection.read("SELECT 1 + 1") == [(2,)]
    assert connection.flavour in ("postgres", "mariadb")
    assert connection.version[:1].isdigit()
    connection.close()
    stored = Database.objects.get()
    assert (stored.flavour, stored.version) == (connection.flavour, connection.version)
    assert stored.default_schema == (
        "public" if target.engine == "postgres" else "shop"
    )


def test_what_it_is_is_noted_only_where_it_changed(
    project, target, django_assert_num_queries
):
    database = make_database(project, target)
    opened(database)
    with django_assert_num_queries(0):
        opened(database)
    database.version = "1.0"
    with django_assert_num_queries(1):
        opened(database)
    assert Database.objects.get().version != "1.0"


def test_a_wrong_password_is_a_clear_error_that_does_not_say_it(project, target):
    database = make_database(project, target, password=Secret("not this one"))
    with pytest.raises(LoginRefused) as refused:
        open_connection(database)
    assert "not this one" not in str(refused.value) + refused.value.why
    assert target.host not in str(refused.value)


def test_a_database_that_is_not_there_says_to_check_its_name(project, target):
    database = make_database(project, target)
    database.database = "not_there"
    with allowed(f"127.0.0.1:{target.port}/not_there"), pytest.raises(LoginRefused):
        open_connection(database)


class TestRebinding:
    """A name that leads elsewhere a moment later leads nowhere."""

    def test_the_address_that_was_checked_is_the_one_connected_to(
        self, project, target, monkeypatch
    ):
        asked = leads_to(monkeypatch, {"db.fabric.test": ["127.0.0.1", "10.255.255.1"]})
        database = make_database(project, target, host="db.fabric.test")
        entry = f"db.fabric.test:{target.port}"
        named = f"127.0.0.1:{target.port}/{target.database}"
        with allowed(entry, named):
            assert open_connection(database).read("SELECT 1") == [(1,)]
        assert asked == ["db.fabric.test"]

    def test_an_address_that_is_denied_is_never_connected_to(
        self, project, monkeypatch
    ):
        callers = []
        with listening(callers.append) as port:
            leads_to(monkeypatch, {"db.fabric.test": ["10.0.0.5", "127.0.0.1"]})
            for engine in ("postgres", "mysql"):
                database = make_database(project, server_at(engine, "db.fabric.test", port),
                                         name=engine)  # fmt: skip
                with pytest.raises(Unreachable):
                    open_connection(database, seconds=2)
            assert callers == []

    def test_drivers_are_given_the_address(self, project, monkeypatch):
        given = []

        def connect(**keywords):
            given.append(keywords)
            raise psycopg.OperationalError("no")

        monkeypatch.setattr(psycopg, "connect", connect)
        leads_to(monkeypatch, {"db.fabric.test": ["10.0.0.5"]})
        database = make_database(project, server_at("postgres", "db.fabric.test", 5432))
        with pytest.raises(Unreachable):
            open_connection(database)
        (keywords,) = given
        assert (keywords["hostaddr"], keywords["host"]) == (
            "10.0.0.5",
            "db.fabric.test",
        )


class TestCoarseErrors:
    """Denied, closed, silent, unknown and talking something else all read the same."""

    def test_they_read_the_same_and_tell_staff_apart(
        self, project, monkeypatch, caplog
    ):
        leads_to(monkeypatch, {"closed.fabric.test": ["127.0.0.1"]})
        closed = socket.create_server(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        closed.close()

        def answer(caller):
            caller.recv(100)
            caller.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")

        with (
            listening(lambda caller: time.sleep(4)) as silent,
            listening(answer) as web,
            allowed(f"127.0.0.1:{port}", f"127.0.0.1:{silent}", f"127.0.0.1:{web}"),
        ):
            said, why = set(), []
            for engine in ("postgres", "mysql"):
                for encryption in ("off", "verified"):
                    for place in (
                        ("169.254.169.254", 80),
                        ("127.0.0.1", port),
                        ("127.0.0.1", silent),
                        ("127.0.0.1", web),
                        ("no-such-host.invalid", 1),
                    ):
                        database = make_database(
                            project, server_at(engine, *place), encryption=encryption
                        )
                        began = time.monotonic()
                        with pytest.raises(Unreachable) as error:
                            open_connection(database, seconds=2)
                        assert time.monotonic() - began < 3.5
                        said.add((str(error.value), error.value.code))
                        why.append(error.value.why)
                        database.delete()
        assert len(said) == 1
        assert len(why) == 20
        assert len(set(why)) >= 4
        assert all(each in caplog.text for each in why)


def test_a_server_that_stops_answering_after_the_login_is_left(
    project, postgres_target
):
    """It lets the login in, and says nothing more."""
    real = postgres_target.port

    def serve(caller):
        with socket.create_connection(("127.0.0.1", real)) as behind:
            caller.settimeout(0.3)
            behind.settimeout(0.3)
            for _ in range(6):  # start, two rounds of SCRAM, ready
                for one, other in ((caller, behind), (behind, caller)):
                    try:
                        piece = one.recv(65536)
                    except TimeoutError:
                        continue
                    if piece[:1] == b"Q":
                        time.sleep(5)
                        return
                    other.sendall(piece)

    with listening(serve) as port, allowed(f"127.0.0.1:{port}"):
        database = make_database(project, postgres_target, port=port)
        began = time.monotonic()
        with pytest.raises(Unreachable):
            open_connection(database, seconds=2)
        assert time.monotonic() - began < 4.5


def test_a_line_is_cut_only_when_its_time_is_over(project, target):
    connection = open_connection(make_database(project, target))
    with cut_after(connection.raw, 5) as cut:
        assert connection.read("SELECT 1") == [(1,)]
    assert not cut.is_set()
    sleep = "pg_sleep(5)" if target.engine == "postgres" else "SLEEP(5)"
    began = time.monotonic()
    with (
        cut_after(connection.raw, 0.3) as cut,
        pytest.raises((psycopg.Error, MySQLdb.Error)),
    ):
        connection.read(f"SELECT {sleep}")
    assert cut.is_set()
    assert time.monotonic() - began < 3
