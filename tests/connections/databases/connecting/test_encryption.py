"""Connections are encrypted as told, to the server of that name."""

from __future__ import annotations

import base64
import time

import pytest

from connections.databases import opening
from connections.databases.base import DatabaseError
from connections.databases.connecting import open_connection
from connections.databases.failures import NotEncrypted
from tests.connections.databases.connecting.leading import (
    GRANT,
    NAME,
    leads_to,
    server_at,
)
from tests.connections.databases.servers import listening, make_authority, tls_front
from tests.targets import allowed, make_database, mariadb_server

pytestmark = pytest.mark.django_db


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
                    make_database(project, server_at("postgres", "127.0.0.1", port))
                )
            time.sleep(0.1)
        assert heard == [b""]


def _is_sealed(connection):
    if connection.flavour == "postgres":
        return connection.raw.pgconn.ssl_in_use
    return bool(connection.read("SHOW SESSION STATUS LIKE 'Ssl_cipher'")[0][1])
