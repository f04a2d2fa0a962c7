"""Roles, databases, extensions and rights of a new embedded PostgreSQL."""

from __future__ import annotations

from typing import LiteralString

import psycopg
from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

from connections.embedded import sql
from connections.embedded.errors import EmbeddedError
from connections.embedded.logins import DATABASE, DEMO_DATABASE, Login, Logins

EXTENSIONS = ("vector", "pg_trgm", "btree_gin", "unaccent", "pg_stat_statements")


def prepare(host: str, port: int, logins: Logins) -> None:
    """Make what is missing and repair what differs; run again, it changes nothing."""
    superuser = logins["superuser"]

    def connect(database: str) -> Connection:
        return psycopg.connect(
            host=host,
            port=port,
            user=superuser.name,
            password=superuser.password,
            dbname=database,
            autocommit=True,
            connect_timeout=10,
        )

    try:
        with connect("postgres") as server:
            _make_roles(server, logins)
        # Test databases are made by the owner, who may not create `vector`.
        with connect("template1") as template:
            _make_extensions(template)
            _give_rights(template, logins)
        with connect("postgres") as server:
            _make_database(server, DATABASE, "template1", logins)
            # Without extensions: what is discovered there is the demo's alone.
            _make_database(server, DEMO_DATABASE, "template0", logins)
        with connect(DATABASE) as database:
            _make_extensions(database)
            _give_rights(database, logins)
    except psycopg.Error as error:
        raise EmbeddedError(
            f"The embedded PostgreSQL runs, but could not be prepared: {error}"
        ) from error


def _run(connection: Connection, statement: LiteralString, **names: str) -> None:
    quoted = {name: Identifier(value) for name, value in names.items()}
    connection.execute(SQL(statement).format(**quoted))


def _make_roles(server: Connection, logins: Logins) -> None:
    for login in (logins["owner"], logins["app"], logins["reader"]):
        if not server.execute(sql.ROLE_EXISTS, [login.name]).fetchone():
            _run(server, sql.CREATE_ROLE, role=login.name)
        _set_password(server, login, creates=login == logins["owner"])
    _run(server, sql.READ_ONLY, role=logins["reader"].name)
    for database in ("postgres", "template1"):
        _run(server, sql.CLOSE_DATABASE, database=database)
    _run(
        server, sql.OPEN_DATABASE, database="postgres", role=logins["owner"].name
    )  # Django connects there to create test databases


def _set_password(server: Connection, login: Login, *, creates: bool) -> None:
    """Send the SCRAM verifier: the password itself would show in statement logs."""
    plain, name = login.password.encode(), login.name.encode()
    verifier = server.pgconn.encrypt_password(plain, name, b"scram-sha-256")
    statement = SQL(sql.SET_ROLE).format(
        role=Identifier(login.name),
        createdb=SQL("CREATEDB" if creates else "NOCREATEDB"),
        password=Literal(verifier.decode()),
    )
    server.execute(statement)


def _make_extensions(database: Connection) -> None:
    for extension in EXTENSIONS:
        _run(database, sql.CREATE_EXTENSION, extension=extension)
        _run(database, sql.UPDATE_EXTENSION, extension=extension)


def _give_rights(database: Connection, logins: Logins) -> None:
    roles = {role: logins[role].name for role in ("owner", "app", "reader")}
    for statement in sql.SCHEMA_RIGHTS:
        _run(database, statement, **roles)


def _make_database(
    server: Connection, name: str, template: str, logins: Logins
) -> None:
    if not server.execute(sql.DATABASE_EXISTS, [name]).fetchone():
        owner = logins["owner"].name
        made = {"database": name, "owner": owner, "template": template}
        _run(server, sql.CREATE_DATABASE, **made)
    _run(server, sql.CLOSE_DATABASE, database=name)
    _run(server, sql.OPEN_DATABASE, database=name, role=logins["reader"].name)
    if name == DATABASE:
        _run(server, sql.OPEN_DATABASE, database=name, role=logins["app"].name)
        _run(server, sql.SCRATCH, database=name, role=logins["app"].name)
