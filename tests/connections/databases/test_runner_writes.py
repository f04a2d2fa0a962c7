"""No statement changes anything, run without a guard by a login that may write."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings

from connections.databases import runner_sql
from connections.databases.base import DatabaseError
from connections.databases.mysql import MysqlSession
from connections.secrets import Secret
from tests.connections.databases.running import ask, await_no_sessions
from tests.connections.databases.writing import (
    MARIADB,
    MARIADB_SETUP,
    MARIADB_STATE,
    MARIADB_TEARDOWN,
    PASSWORD,
    POSTGRES,
    POSTGRES_SETUP,
    POSTGRES_STATE,
    POSTGRES_TEARDOWN,
)
from tests.targets import make_database

pytestmark = pytest.mark.django_db
LEAST = 60


class Writer:
    """A login that may write, on one engine, and a digest of all it could change."""

    def __init__(self, target, folder: Path) -> None:
        self.target, self.folder = target, folder
        self.is_postgres = target.engine == "postgres"
        self.user = f"{target.database}_writer" if self.is_postgres else "writer"

    def filled(self, statements) -> list[str]:
        filled = []
        for one in statements:
            text = one.replace("{role}", self.target.database)
            text = text.replace("{password}", PASSWORD)
            filled.append(text.replace("{folder}", str(self.folder)))
        return filled

    def setup(self) -> None:
        self.teardown()
        self.target.run(
            *self.filled(POSTGRES_SETUP if self.is_postgres else MARIADB_SETUP)
        )

    def teardown(self) -> None:
        if not self.is_postgres:
            self.target.run(*MARIADB_TEARDOWN)
            return
        there = f"SELECT 1 FROM pg_roles WHERE rolname = '{self.user}'"  # noqa: S608 # our own
        with self.target.admin() as server:
            if server.execute(there).fetchone():
                for one in self.filled(POSTGRES_TEARDOWN):
                    server.execute(one)

    def statements(self) -> list[str]:
        return self.filled(POSTGRES if self.is_postgres else MARIADB)

    def state(self) -> str:
        digest = hashlib.sha256()
        connection = self.target.admin()
        cursor = connection.cursor()
        for one in POSTGRES_STATE if self.is_postgres else MARIADB_STATE:
            cursor.execute(one)
            digest.update(repr(cursor.fetchall()).encode())
        connection.close()
        files = sorted(path.name for path in self.folder.iterdir())
        digest.update(repr(files).encode())
        return digest.hexdigest()


@pytest.fixture(autouse=True)
def _logins_that_may_do_everything(monkeypatch):
    monkeypatch.setitem(settings.FABRIC, "DATABASE_SUPERUSERS", True)


@pytest.fixture(params=["postgres", "mariadb"])
def writer(request, tmp_path):
    made = Writer(request.getfixturevalue(f"{request.param}_target"), tmp_path)
    tmp_path.chmod(0o777)
    made.setup()
    yield made
    made.teardown()


@pytest.fixture
def database(project, writer):
    return make_database(
        project,
        writer.target,
        user=writer.user,
        password=Secret(PASSWORD),
        seconds_most=5,
        superuser_allowed=True,
        default_schema="own" if writer.is_postgres else "",
    )


def _run_all(database, writer) -> tuple[list[str], int]:
    """Return the statements that changed something, and how many were run."""
    changing, before = [], writer.state()
    statements = writer.statements()
    for statement in statements:
        with suppress(DatabaseError):
            ask(database, statement)
        if (after := writer.state()) != before:
            changing.append(statement)
            before = after
    return changing, len(statements)


def test_the_login_may_write_or_the_other_tests_say_nothing(writer):
    before = writer.state()
    insert = "INSERT INTO {} (name) VALUES ('really')"
    table = "own.goods" if writer.is_postgres else "own_goods"
    login = {**writer.target.owner, "user": writer.user, "password": PASSWORD}
    module = __import__("psycopg" if writer.is_postgres else "MySQLdb")
    name = {"dbname" if writer.is_postgres else "database": writer.target.database}
    connection = module.connect(**login, **name)
    connection.cursor().execute(insert.format(table))
    connection.commit()
    connection.close()
    assert writer.state() != before


def test_no_statement_changes_anything(database, writer):
    changing, count = _run_all(database, writer)
    assert changing == []
    assert count >= LEAST
    # The login's password is what it was, and its sessions are gone.
    assert ask(database, "SELECT 1").rows == [(1,)]
    await_no_sessions(writer.target, writer.user)


def test_the_same_statements_do_change_things_where_transactions_may_write(
    database, writer, monkeypatch
):
    """The seeded fault: without it the test above could not fail."""
    if writer.is_postgres:
        monkeypatch.setattr(runner_sql, "POSTGRES_BEGIN", "BEGIN READ WRITE")
        statements = ("SELECT own.writes()", "SELECT nextval('own.counter')")
    else:
        monkeypatch.setattr(runner_sql, "MYSQL_BEGIN", ("START TRANSACTION",))
        statements = ("SELECT writes_old()", "SELECT NEXTVAL(own_counter)")
    for statement in statements:
        before = writer.state()
        ask(database, statement)
        # A rollback takes back rows of transactional tables, and no sequence.
        if "writes()" not in statement:
            assert writer.state() != before


def test_mariadb_writes_files_and_settings_where_a_query_is_not_proven(
    project, mariadb_target, tmp_path, monkeypatch
):
    """The other seeded fault: a read-only transaction alone lets these by."""
    writer = Writer(mariadb_target, tmp_path)
    tmp_path.chmod(0o777)
    writer.setup()
    try:
        database = make_database(
            project,
            mariadb_target,
            user="writer",
            password=Secret(PASSWORD),
            superuser_allowed=True,
        )
        before = writer.state()
        statement = f"SELECT 'x' INTO OUTFILE '{tmp_path}/written'"
        with pytest.raises(DatabaseError):
            ask(database, statement)
        assert writer.state() == before
        monkeypatch.setattr(MysqlSession, "_prove", lambda self, text: None)
        with pytest.raises(DatabaseError, match="gives no rows"):
            ask(database, statement)
        assert writer.state() != before
    finally:
        writer.teardown()
