"""Connections: to the address that was checked, encrypted as told, nothing smuggled."""

from __future__ import annotations

import base64
import secrets
import socket
import time
import traceback

import MySQLdb
import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command

from connections.databases import opening
from connections.databases.base import DatabaseError
from connections.databases.connecting import cut_after, open_connection
from connections.databases.failures import (
    LoginRefused,
    NotEncrypted,
    Unfit,
    Unreachable,
)
from connections.models import Database
from connections.secrets import Secret
from tests.connections.databases.servers import (
    listening,
    make_authority,
    tls_front,
)
from tests.targets import Target, allowed, make_database, mariadb_server

pytestmark = pytest.mark.django_db
NAME = "db.fabric.test"


GRANT = "GRANT SHOW VIEW ON shop.* TO reader@'127.0.0.1'"


@pytest.fixture(params=["postgres", "mariadb"])
def target(request):
    found = request.getfixturevalue(f"{request.param}_target")
    if request.param == "mariadb":
        found.run(GRANT)
    return found


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return make_authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def sealed_postgres(postgres_target, authority):
    with (
        tls_front(postgres_target.port, authority.issue(NAME)) as port,
        allowed(f"127.0.0.1:{port}", f"{NAME}:{port}"),
    ):
        yield postgres_target, port


@pytest.fixture(scope="module")
def sealed_mariadb(authority):
    certificate, key = authority.issue(NAME)
    options = (f"--ssl-cert={certificate}", f"--ssl-key={key}")
    with mariadb_server(*options) as target, allowed(f"{NAME}:{target.port}"):
        target.run(GRANT)
        yield target, target.port


@pytest.fixture(params=["postgres", "mariadb"])
def sealed(request, monkeypatch):
    """A server with TLS and its port; its name leads to it."""
    leads_to(monkeypatch, {NAME: ["127.0.0.1"], "other.fabric.test": ["127.0.0.1"]})
    found = request.getfixturevalue(f"sealed_{request.param}")
    with allowed(f"other.fabric.test:{found[1]}"):
        yield found


def leads_to(monkeypatch, names):
    """Let names lead to addresses, one after the other; count what was asked."""
    real, asked = socket.getaddrinfo, []

    def resolved(host, port, *args, **options):
        if host not in names:
            return real(host, port, *args, **options)
        asked.append(host)
        left = names[host]
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    return asked


def opened(database, **options):
    connection = open_connection(database, **options)
    connection.close()
    return connection


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
                database = make_database(project, _at(engine, "db.fabric.test", port),
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
        database = make_database(project, _at("postgres", "db.fabric.test", 5432))
        with pytest.raises(Unreachable):
            open_connection(database)
        (keywords,) = given
        assert (keywords["hostaddr"], keywords["host"]) == (
            "10.0.0.5",
            "db.fabric.test",
        )


def _at(engine, host, port):
    return Target(engine, host, port, "shop", "reader", "pw", {})


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
                            project, _at(engine, *place), encryption=encryption
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


class TestEncryption:
    def test_it_is_encrypted_and_the_name_is_checked(self, project, sealed, authority):
        target, port = sealed
        database = make_database(
            project,
            target,
            host=NAME,
            port=port,
            encryption="verified",
            certificate=authority.pem,
        )
        connection = open_connection(database)
        assert _is_sealed(connection)
        connection.close()

    @pytest.mark.parametrize("host", ["other.fabric.test", "127.0.0.1"])
    def test_a_certificate_of_another_name_is_refused(
        self, project, sealed, authority, host
    ):
        target, port = sealed
        database = make_database(
            project,
            target,
            host=host,
            port=port,
            encryption="verified",
            certificate=authority.pem,
        )
        with pytest.raises(NotEncrypted):
            open_connection(database)

    @pytest.mark.parametrize("other", [True, False])
    def test_an_authority_that_is_not_trusted_is_refused(
        self, project, sealed, tmp_path, other
    ):
        """Neither another one nor, where none is given, one the system lacks."""
        target, port = sealed
        pem = make_authority(tmp_path, "another").pem if other else ""
        database = make_database(
            project,
            target,
            host=NAME,
            port=port,
            encryption="verified",
            certificate=pem,
        )
        with pytest.raises(NotEncrypted):
            open_connection(database)

    def test_it_is_encrypted_whoever_the_server_is(self, project, sealed):
        target, port = sealed
        database = make_database(
            project, target, host="127.0.0.1", port=port, encryption="required"
        )
        connection = open_connection(database)
        assert _is_sealed(connection)
        connection.close()

    @pytest.mark.parametrize("encryption", ["required", "verified"])
    def test_a_server_without_tls_gets_no_password(self, project, target, encryption):
        database = make_database(project, target, encryption=encryption)
        with pytest.raises(NotEncrypted):
            open_connection(database)

    def test_mysql_takes_only_the_certificate_that_was_checked(
        self, project, sealed_mariadb, authority, monkeypatch
    ):
        """Another server of the same authority, between the check and the driver."""
        leads_to(monkeypatch, {NAME: ["127.0.0.1"]})
        target, port = sealed_mariadb
        other = authority.issue("mallory.fabric.test")[0].read_text()
        der = base64.b64decode("".join(other.split("\n")[1:-2]))
        monkeypatch.setattr(
            opening.tls, "mysql_certificate", lambda *args, **options: der
        )
        database = make_database(
            project, target, host=NAME, port=port, encryption="verified",
            certificate=authority.pem,
        )  # fmt: skip
        with pytest.raises(NotEncrypted) as refused:
            open_connection(database)
        assert "ingerprint" in refused.value.why

    @pytest.mark.parametrize("encryption", ["required", "verified"])
    def test_mysql_does_not_go_on_where_tls_was_stripped(
        self, project, mariadb_target, authority, monkeypatch, encryption
    ):
        """As by somebody between who lets the first connection pass whole."""
        mariadb_target.run(GRANT)
        der = base64.b64decode("".join(authority.pem.split("\n")[1:-2]))
        monkeypatch.setattr(
            opening.tls, "mysql_certificate", lambda *args, **options: der
        )
        database = make_database(
            project,
            mariadb_target,
            encryption=encryption,
            certificate=authority.pem,
        )
        with pytest.raises(NotEncrypted):
            open_connection(database)

    def test_an_unencrypted_server_is_never_sent_the_password_itself(self, project):
        heard = []

        def ask_for_it(caller):
            caller.recv(1000)
            caller.sendall(b"R\0\0\0\x08\0\0\0\x03")  # AuthenticationCleartextPassword
            heard.append(caller.recv(1000))

        with listening(ask_for_it) as port, allowed(f"127.0.0.1:{port}"):
            with pytest.raises(DatabaseError):
                open_connection(
                    make_database(project, _at("postgres", "127.0.0.1", port))
                )
            time.sleep(0.1)
        assert heard == [b""]


def _is_sealed(connection):
    if connection.flavour == "postgres":
        return connection.raw.pgconn.ssl_in_use
    return bool(connection.read("SHOW SESSION STATUS LIKE 'Ssl_cipher'")[0][1])


class TestUnfit:
    def test_settings_that_change_how_sql_reads_are_refused(self, project, target):
        user = target.user
        if target.engine == "postgres":
            change = f"ALTER ROLE {user} SET standard_conforming_strings = off"
            back = f"ALTER ROLE {user} RESET standard_conforming_strings"
            named = "standard_conforming_strings"
        else:
            change = "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"
            back, named = "SET GLOBAL sql_mode = DEFAULT", "NO_BACKSLASH_ESCAPES"
        target.run(change)
        try:
            with pytest.raises(Unfit, match=named):
                open_connection(make_database(project, target))
        finally:
            target.run(back)

    @pytest.fixture
    def mighty(self, project, target, monkeypatch):
        owner = target.owner
        database = make_database(
            project, target, user=owner["user"], password=Secret(owner["password"])
        )
        monkeypatch.setitem(settings.FABRIC, "DATABASE_SUPERUSERS", False)
        return database

    def test_superusers_are_refused(self, mighty):
        with pytest.raises(Unfit, match="may do everything"):
            open_connection(mighty)

    @pytest.mark.parametrize(("row", "operator"), [(True, False), (False, True)])
    def test_one_permission_is_not_enough(self, mighty, row, operator):
        mighty.superuser_allowed = row
        settings.FABRIC["DATABASE_SUPERUSERS"] = operator
        with pytest.raises(Unfit):
            open_connection(mighty)

    def test_both_permissions_let_it_in(self, mighty):
        mighty.superuser_allowed = True
        settings.FABRIC["DATABASE_SUPERUSERS"] = True
        assert opened(mighty)


class TestKeys:
    def test_a_key_that_is_gone_is_a_clear_error(self, project, target, settings):
        database = make_database(project, target)
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        settings.FIELD_ENCRYPTION_KEYS = (f"other:{key}",)
        with pytest.raises(
            DatabaseError, match="FIELD_ENCRYPTION_KEYS no longer holds"
        ):
            open_connection(Database.objects.get(pk=database.pk))

    def test_a_password_copied_from_another_row_does_not_open(
        self, project, other_project, target
    ):
        mine = make_database(project, target)
        theirs = make_database(other_project, target, password=Secret("theirs"))
        Database.objects.filter(pk=mine.pk).update(password=theirs.password)
        with pytest.raises(DatabaseError, match="copied from elsewhere"):
            open_connection(Database.objects.get(pk=mine.pk))

    def test_rotation_covers_it(self, project, target, settings, capsys):
        database = make_database(project, target)
        before = Database.objects.get().password.key_id
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        old = settings.FIELD_ENCRYPTION_KEYS
        settings.FIELD_ENCRYPTION_KEYS = (f"newer:{key}", *old)
        call_command("rotate_keys")
        settings.FIELD_ENCRYPTION_KEYS = (f"newer:{key}",)
        stored = Database.objects.get(pk=database.pk)
        assert before != stored.password.key_id == "newer"
        assert opened(stored)


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


def test_the_environment_and_home_folder_add_nothing(
    project, postgres_target, monkeypatch
):
    """libpq takes what it is not told from PG... variables."""
    for name, value in {
        "PGOPTIONS": "-c statement_timeout=1",
        "PGHOSTADDR": "10.0.0.1",
        "PGPASSFILE": "/etc/passwd",
        "PGSSLMODE": "require",
        "PGUSER": "somebody",
        "PGREQUIREAUTH": "none",
        "PGTARGETSESSIONATTRS": "standby",
    }.items():
        monkeypatch.setenv(name, value)
    connection = open_connection(make_database(project, postgres_target))
    assert connection.read("SHOW statement_timeout") == [("0",)]
    connection.close()


def test_mysql_offers_no_files_and_takes_one_statement(project, mariadb_target):
    connection = open_connection(make_database(project, mariadb_target))
    with pytest.raises(MySQLdb.Error):
        connection.read("SELECT 1; SELECT 2")
    connection.close()
    connection = open_connection(make_database(project, mariadb_target, name="two"))
    with pytest.raises(MySQLdb.Error, match=r"command is not allowed|local"):
        connection.read("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE shop.x")
    connection.close()


def test_the_password_is_in_no_frame_of_an_error(project, target):
    """Error reporters keep the values of every frame on the way."""
    password = secrets.token_urlsafe(12)
    database = make_database(project, target, password=Secret(password))
    with pytest.raises(DatabaseError) as refused:
        open_connection(database)
    frames, seen = 0, refused.value
    while seen is not None:
        # The first frame is this test's own.
        shown = traceback.TracebackException(
            type(seen), seen, seen.__traceback__.tb_next, capture_locals=True
        )
        assert password not in "".join(shown.format())
        frames += len(shown.stack)
        seen = seen.__cause__ or seen.__context__
    assert frames >= 4
