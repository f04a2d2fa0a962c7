"""Connections to databases that are asked: opened as their rows say, never pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from connections.databases.base import DatabaseError, Flavour
from connections.models import Database
from connections.secrets import Secret

CONNECT_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection by the engine's own driver, and what the server says it is."""

    raw: Any
    flavour: Flavour
    version: str

    def read(
        self, statement: str, values: Mapping[str, Any] | Sequence[Any] = ()
    ) -> list[tuple[Any, ...]]:
        """Return the rows of a statement of our own, such as one over a catalogue."""
        cursor = self.raw.cursor()
        try:
            cursor.execute(statement, values or None)
            return [tuple(row) for row in cursor.fetchall()]
        finally:
            cursor.close()

    def close(self) -> None:
        self.raw.close()


def open_connection(database: Database, *, seconds: float = CONNECT_SECONDS) -> Opened:
    """Return a new connection; whoever asks for it closes it.

    Raises `DatabaseError`, whose message holds no address and no secret.
    """
    if database.engine == Database.Engine.POSTGRES:
        return _postgres(database, seconds)
    return _mysql(database, seconds)


def password_of(database: Database) -> str:
    """Return the login's password; empty where there is none."""
    secret: Secret | None = database.password  # type: ignore[assignment] # its field
    return str(secret.reveal()) if secret else ""


def _postgres(database: Database, seconds: float) -> Opened:
    try:
        raw = psycopg.connect(
            host=database.host,
            port=database.port,
            dbname=database.database,
            user=database.user,
            password=password_of(database),
            connect_timeout=max(2, int(seconds)),
            autocommit=True,
        )
    except psycopg.OperationalError as error:
        raise DatabaseError(f"{database} could not be reached.") from error
    version = raw.info.server_version
    return Opened(raw, "postgres", f"{version // 10000}.{version % 10000}")


def _mysql(database: Database, seconds: float) -> Opened:
    # Built where its system library is; without it PostgreSQL works all the same.
    import MySQLdb

    try:
        raw = MySQLdb.connect(
            host=database.host,
            port=database.port,
            database=database.database,
            user=database.user,
            password=password_of(database),
            connect_timeout=max(1, int(seconds)),
            charset="utf8mb4",
            local_infile=0,
            multi_statements=False,
            autocommit=True,
        )
    except MySQLdb.OperationalError as error:
        raise DatabaseError(f"{database} could not be reached.") from error
    said = raw.get_server_info()
    flavour: Flavour = "mariadb" if "mariadb" in said.lower() else "mysql"
    return Opened(raw, flavour, said.partition("-")[0])
