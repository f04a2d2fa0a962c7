"""The two drivers, each given an address that was checked and nothing of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from django.views.decorators.debug import sensitive_variables

from connections.databases import tls
from connections.databases.failures import (
    LoginRefused,
    NotEncrypted,
    NotOpened,
    Unreachable,
)
from connections.databases.targets import bare
from connections.models import Database

Password: TypeAlias = Callable[[Database], str]
Encryption = Database.Encryption
# Given to libpq instead of the files it would look for in a home folder.
NO_FILE = "/nonexistent/fabric"
# Over this long beyond a statement's own bound, a silent server is gone.
SILENCE_SECONDS = 10
WHY_MOST = 300
# What the server itself said: no such login, no such database, not from here.
MYSQL_REFUSALS = frozenset({1044, 1045, 1049, 1130, 1227, 1698, 1820, 1862, 3118})
MYSQL_TLS = 2026
_TLS_WORDS = re.compile(r"certificate|does not support SSL|SSL error", re.IGNORECASE)


@sensitive_variables()
def open_postgres(
    database: Database, address: str, seconds: float, password_of: Password
) -> psycopg.Connection:
    """Return a connection of psycopg's, or raise `NotOpened`."""
    with tls.private_folder() as folder, _tls_failures(database):
        keywords = _postgres_keywords(database, address, seconds, folder)
        said = ""
        try:
            return psycopg.connect(password=password_of(database), **keywords)
        except psycopg.Error as error:
            said = str(error)
        # Raised here, so that no traceback leads to the driver's frames: they hold
        # the password.
        raise _postgres_failure(database, said)


@sensitive_variables()
def open_mysql(
    database: Database, address: str, seconds: float, password_of: Password
) -> Any:
    """Return a connection of mysqlclient's, or raise `NotOpened`."""
    # Built where its system library is; without it PostgreSQL works all the same.
    import MySQLdb

    with tls.private_folder() as folder, _tls_failures(database):
        keywords = _mysql_keywords(database, address, seconds, folder)
        code, said = 0, ""
        try:
            return MySQLdb.connect(password=password_of(database), **keywords)
        except MySQLdb.Error as error:
            code, said = _mysql_words(error)
        raise _mysql_failure(database, code, said)


def driver_errors(engine: str) -> tuple[type[Exception], ...]:
    """Return what a driver raises."""
    if engine == Database.Engine.POSTGRES:
        return (psycopg.Error,)
    import MySQLdb

    return (MySQLdb.Error,)


def duplicate(raw: Any) -> int:
    """Return a second descriptor of a connection's socket, to be closed."""
    return os.dup(raw.fileno())


def _postgres_keywords(
    database: Database, address: str, seconds: float, folder: Path
) -> dict[str, Any]:
    """Return all that libpq is told; what is not told it would take from elsewhere."""
    silence = (database.seconds_most + SILENCE_SECONDS) * 1000
    return {
        "host": bare(database.host),
        "hostaddr": address,
        "port": database.port,
        "dbname": database.database,
        "user": database.user,
        "connect_timeout": max(2, int(seconds)),
        "application_name": "fabric",
        "client_encoding": "UTF8",
        "options": "",
        "passfile": NO_FILE,
        "sslcert": NO_FILE,
        "sslkey": NO_FILE,
        "sslcrl": NO_FILE,
        "gssencmode": "disable",
        "target_session_attrs": "any",
        "tcp_user_timeout": silence,
        "keepalives_idle": 30,
        "autocommit": True,
        **_postgres_tls(database, folder),
    }


def _postgres_tls(database: Database, folder: Path) -> dict[str, str]:
    if database.encryption == Encryption.VERIFIED:
        trusted = str(tls.authorities(database, folder))
        return {"sslmode": "verify-full", "sslrootcert": trusted}
    if database.encryption == Encryption.REQUIRED:
        return {"sslmode": "require", "sslrootcert": NO_FILE}
    # A server that is asked unencrypted must not have the password itself.
    return {
        "sslmode": "disable",
        "sslrootcert": NO_FILE,
        "require_auth": "!password,!gss,!sspi",
    }


def _postgres_failure(database: Database, said: str) -> NotOpened:
    why = _why(said)
    # FATAL is the server's own word, not translated; before it nobody has answered.
    if "FATAL" in said:
        return LoginRefused(database, why)
    if _TLS_WORDS.search(said):
        return NotEncrypted(database, why)
    return Unreachable(database, why)


def _mysql_keywords(
    database: Database, address: str, seconds: float, folder: Path
) -> dict[str, Any]:
    return {
        "host": address,
        "port": database.port,
        "database": database.database,
        "user": database.user,
        "connect_timeout": max(1, int(seconds)),
        "read_timeout": database.seconds_most + SILENCE_SECONDS,
        "write_timeout": max(1, int(seconds)),
        "charset": "utf8mb4",
        "local_infile": 0,
        "multi_statements": False,
        "autocommit": True,
        **_mysql_tls(database, address, seconds, folder),
    }


def _mysql_tls(
    database: Database, address: str, seconds: float, folder: Path
) -> dict[str, Any]:
    if database.encryption == Encryption.OFF:
        return {"ssl_mode": "DISABLED"}
    is_verified = database.encryption == Encryption.VERIFIED
    trusted = tls.authorities(database, folder) if is_verified else None
    certificate = tls.mysql_certificate(
        address, database.port, bare(database.host), trusted, seconds=seconds
    )
    # Besides a certificate of somebody else's the pin refuses a server without TLS:
    # MariaDB's client would go on unencrypted in spite of REQUIRED.
    pin = tls.fingerprint(certificate, _fingerprint_algorithm())
    own = folder / "client.cnf"
    own.write_text(f"[client]\nssl-fp={pin}\n", encoding="ascii")
    return {
        "ssl_mode": "REQUIRED",
        "read_default_file": str(own),
        **({"ssl": {"ca": str(trusted)}} if trusted else {}),
    }


def _fingerprint_algorithm() -> str:
    """Return the digest by which the client knows a certificate.

    MariaDB's client reads SHA-1 until 3.3 and SHA-256 from 3.4 on; MySQL's own knows
    no fingerprints. The certificate was verified before: finding another one with the
    same digest would need a second preimage.
    """
    import MySQLdb

    version = tuple(int(part) for part in MySQLdb.get_client_info().split(".")[:2])
    if version >= (5,):
        raise tls.TlsFailure(
            "mysqlclient was built with MySQL's client, which cannot check the name in "
            "a certificate of an address: build it with libmariadb."
        )
    return "sha256" if version >= (3, 4) else "sha1"


def _mysql_words(error: Exception) -> tuple[int, str]:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    return code, " ".join(str(each) for each in error.args[1:]) or str(error)


def _mysql_failure(database: Database, code: int, said: str) -> NotOpened:
    why = _why(f"{said} ({code})")
    if code in MYSQL_REFUSALS:
        return LoginRefused(database, why)
    if code == MYSQL_TLS:
        return NotEncrypted(database, why)
    return Unreachable(database, why)


@contextmanager
def _tls_failures(database: Database) -> Iterator[None]:
    """Turn what goes wrong before the driver is asked into what is told of it."""
    try:
        yield
    except (tls.TlsFailure, tls.ssl.SSLError) as error:
        raise NotEncrypted(database, _why(str(error))) from error
    except (OSError, ValueError) as error:
        raise Unreachable(database, _why(str(error))) from error


def _why(said: str) -> str:
    """Return a driver's words on one line, cut; a server may have written them."""
    return " ".join(said.split())[:WHY_MOST]
