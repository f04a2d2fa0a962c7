"""No statement changes anything, run without a guard by a login that may write."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import pytest

from connections.databases import runner_sql
from connections.databases.base import DatabaseError
from connections.databases.mysql import MysqlSession
from connections.secrets import Secret
from tests.connections.databases.running import ask, await_no_sessions
from tests.targets import make_database

pytestmark = pytest.mark.django_db
LEAST = 60
PASSWORD = "of the writer"

POSTGRES_SETUP = (
    "DROP ROLE IF EXISTS {role}_chief",
    "CREATE ROLE {role}_writer LOGIN CREATEROLE CREATEDB PASSWORD '{password}'",
    "CREATE ROLE {role}_chief",
    "GRANT {role}_chief TO {role}_writer",
    "GRANT CREATE ON DATABASE {role} TO {role}_writer",
    "CREATE SCHEMA own AUTHORIZATION {role}_writer",
    "SET ROLE {role}_writer",
    "CREATE TABLE own.goods (id serial PRIMARY KEY, name text)",
    "INSERT INTO own.goods (name) VALUES ('a'), ('b'), ('c')",
    "CREATE SEQUENCE own.counter",
    "CREATE FUNCTION own.writes() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS"
    " 'BEGIN INSERT INTO own.goods (name) VALUES (''w''); RETURN 1; END'",
    "CREATE FUNCTION own.dynamic(text) RETURNS int LANGUAGE plpgsql AS"
    " 'BEGIN EXECUTE $1; RETURN 1; END'",
    "CREATE PROCEDURE own.stores() LANGUAGE plpgsql AS"
    " 'BEGIN INSERT INTO own.goods (name) VALUES (''p''); COMMIT; END'",
    "CREATE VIEW own.writing AS SELECT own.writes() AS w",
    "CREATE OPERATOR own.@#@ (FUNCTION = own.dynamic, RIGHTARG = text)",
)
POSTGRES_TEARDOWN = (
    "DROP OWNED BY {role}_writer, {role}_chief CASCADE",
    "DROP ROLE IF EXISTS {role}_writer, {role}_chief",
)
_CHANGES = (
    "INSERT INTO own.goods (name) VALUES ('x')",
    "UPDATE own.goods SET name = 'x'",
    "DELETE FROM own.goods",
    "TRUNCATE own.goods",
    "DROP TABLE own.goods",
    "CREATE TABLE own.other (id int)",
    "CREATE TEMP TABLE other (id int)",
    "ALTER TABLE own.goods ADD extra int",
    "CREATE INDEX ON own.goods (name)",
    "COMMENT ON TABLE own.goods IS 'x'",
    "GRANT SELECT ON own.goods TO PUBLIC",
    "ALTER ROLE CURRENT_USER PASSWORD 'other'",
    "ALTER ROLE CURRENT_USER SET work_mem = '1GB'",
    "CREATE ROLE {role}_more",
    "LOCK TABLE own.goods IN EXCLUSIVE MODE",
    "NOTIFY channel, 'x'",
    "CALL own.stores()",
    "DO 'BEGIN INSERT INTO own.goods (name) VALUES (''d''); END'",
    "SET TRANSACTION READ WRITE",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
    "SET transaction_read_only = off",
    "SET ROLE {role}_chief",
    "COPY own.goods FROM STDIN",
    "COPY own.goods TO STDOUT",
    "COPY (SELECT 1) TO '/tmp/fabric_written'",
    "REFRESH MATERIALIZED VIEW own.m",
    "MERGE INTO own.goods g USING (SELECT 1 AS id) s ON g.id = s.id"
    " WHEN MATCHED THEN DELETE",
    "VACUUM own.goods",
    "PREPARE p AS DELETE FROM own.goods",
    "DEALLOCATE ALL",
    "DISCARD ALL",
    "CLOSE ALL",
    "LISTEN channel",
    "SAVEPOINT s",
    "COMMIT",
    "ROLLBACK",
)
POSTGRES = (
    *_CHANGES,
    *(f"SELECT 1; {one}" for one in _CHANGES),
    *(f"SELECT 1; COMMIT; {one}; BEGIN" for one in _CHANGES),
    *(
        "SELECT own.dynamic('{}')".format(one.replace("'", "''"))
        for one in _CHANGES
        if "COPY own" not in one
    ),
    "WITH gone AS (DELETE FROM own.goods RETURNING id) SELECT * FROM gone",
    "WITH new AS (INSERT INTO own.goods (name) VALUES ('x') RETURNING id) TABLE new",
    "SELECT * INTO own.copied FROM own.goods",
    "SELECT * INTO TEMP copied FROM own.goods",
    "SELECT nextval('own.counter')",
    "SELECT setval('own.counter', 99)",
    "SELECT own.writes()",
    "SELECT g.id FROM own.goods g ORDER BY own.writes()",
    "SELECT * FROM own.writing",
    "SELECT own.@#@ 'DELETE FROM own.goods'",
    "SELECT OPERATOR(own.@#@) 'DELETE FROM own.goods'",
    "SELECT lo_creat(-1)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_import('/etc/hostname')",
    "SELECT * FROM own.goods FOR UPDATE",
    "SELECT * FROM own.goods FOR KEY SHARE",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT set_config('transaction_read_only', 'off', true),"
    " own.dynamic('INSERT INTO own.goods (name) VALUES (''s'')')",
    "SELECT set_config('default_transaction_read_only', 'off', false), own.writes()",
    "SELECT set_config('role', '{role}_chief', false), own.writes()",
    "SELECT query_to_xml('DELETE FROM own.goods', true, true, '')",
    "SELECT query_to_xml('WITH d AS (DELETE FROM own.goods RETURNING 1)"
    " TABLE d', true, true, '')",
    "SELECT query_to_xml('SELECT own.writes()', true, true, '')",
    "SELECT ts_stat('SELECT own.writes()::text::tsvector')",
    "SELECT pg_notify('channel', 'x')",
    "SELECT pg_stat_reset()",
    "SELECT pg_export_snapshot()",
    "SELECT pg_advisory_lock(1)",
    "EXPLAIN ANALYZE DELETE FROM own.goods",
    "EXECUTE p",
    "SELECT 1) q; DELETE FROM own.goods; --",
    "SELECT 1 \\; DELETE FROM own.goods",
    "SELECT 1;DELETE/**/FROM own.goods;--",
    "",
    ";",
)

MARIADB_SETUP = (
    "CREATE USER writer@'127.0.0.1' IDENTIFIED BY '{password}'",
    "GRANT ALL ON shop.* TO writer@'127.0.0.1'",
    "GRANT FILE, RELOAD, CREATE USER, PROCESS ON *.* TO writer@'127.0.0.1'",
    "GRANT CONNECTION ADMIN, BINLOG ADMIN ON *.* TO writer@'127.0.0.1'",
    "CREATE TABLE own_goods (id int AUTO_INCREMENT PRIMARY KEY, name varchar(20))",
    "CREATE TABLE own_old (id int) ENGINE = MyISAM",
    "INSERT INTO own_goods (name) VALUES ('a'), ('b')",
    "INSERT INTO own_old VALUES (1)",
    "CREATE SEQUENCE own_counter",
    "CREATE FUNCTION writes() RETURNS int MODIFIES SQL DATA SQL SECURITY DEFINER"
    " BEGIN INSERT INTO own_goods (name) VALUES ('w'); RETURN 1; END",
    "CREATE FUNCTION writes_old() RETURNS int MODIFIES SQL DATA"
    " BEGIN INSERT INTO own_old VALUES (2); RETURN 1; END",
    "CREATE PROCEDURE stores() BEGIN INSERT INTO own_goods (name) VALUES ('p');"
    " COMMIT; END",
    "CREATE VIEW writing AS SELECT writes_old() AS w",
)
MARIADB_TEARDOWN = (
    "DROP VIEW IF EXISTS writing",
    "DROP PROCEDURE IF EXISTS stores",
    "DROP FUNCTION IF EXISTS writes",
    "DROP FUNCTION IF EXISTS writes_old",
    "DROP SEQUENCE IF EXISTS own_counter",
    "DROP TABLE IF EXISTS own_old",
    "DROP TABLE IF EXISTS own_goods",
    "DROP USER IF EXISTS writer@'127.0.0.1'",
)
_CHANGES_MARIADB = (
    "INSERT INTO own_goods (name) VALUES ('x')",
    "INSERT INTO own_old VALUES (3)",
    "REPLACE INTO own_goods VALUES (1, 'x')",
    "UPDATE own_goods SET name = 'x'",
    "DELETE FROM own_old",
    "DELETE FROM own_goods RETURNING id",
    "TRUNCATE own_goods",
    "DROP TABLE own_old",
    "CREATE TABLE other (id int)",
    "CREATE TEMPORARY TABLE other (id int)",
    "CREATE OR REPLACE VIEW writing AS SELECT 1 AS w",
    "ALTER TABLE own_goods ADD extra int",
    "CREATE INDEX more ON own_goods (name)",
    "RENAME TABLE own_old TO own_new",
    "LOCK TABLES own_goods WRITE",
    "SET PASSWORD = PASSWORD('other')",
    "SET PASSWORD FOR CURRENT_USER() = PASSWORD('other')",
    "ALTER USER CURRENT_USER() IDENTIFIED BY 'other'",
    "CREATE USER more",
    "GRANT SELECT ON shop.* TO writer@'127.0.0.1'",
    "SET GLOBAL max_connect_errors = 12345",
    "SET GLOBAL init_connect = 'SELECT 1'",
    "SET TRANSACTION READ WRITE",
    "SET SESSION TRANSACTION READ WRITE",
    "SET STATEMENT max_statement_time = 0 FOR INSERT INTO own_old VALUES (4)",
    "SET @@SESSION.max_statement_time = 0",
    "COMMIT",
    "COMMIT AND CHAIN",
    "BEGIN NOT ATOMIC INSERT INTO own_old VALUES (5); END",
    "EXECUTE IMMEDIATE 'INSERT INTO own_old VALUES (6)'",
    "PREPARE p FROM 'INSERT INTO own_old VALUES (7)'",
    "CALL stores()",
    "DO writes_old()",
    "HANDLER own_goods OPEN",
    "FLUSH TABLES",
    "FLUSH TABLES WITH READ LOCK",
    "FLUSH STATUS",
    "ANALYZE TABLE own_goods",
    "ANALYZE INSERT INTO own_old VALUES (8)",
    "EXPLAIN INSERT INTO own_old VALUES (9)",
    "OPTIMIZE TABLE own_old",
    "REPAIR TABLE own_old",
    "LOAD DATA INFILE '/etc/hostname' INTO TABLE own_goods",
    "LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE own_goods",
    "KILL 1",
    "XA START 'x'",
    "INSTALL SONAME 'ha_blackhole'",
    "USE mysql",
)
MARIADB = (
    *_CHANGES_MARIADB,
    *(f"SELECT 1; {one}" for one in _CHANGES_MARIADB),
    *(f"/*!50000 {one} */" for one in _CHANGES_MARIADB),
    *(f"/*M!100100 {one} */" for one in _CHANGES_MARIADB),
    "SELECT writes()",
    "SELECT writes_old()",
    "SELECT * FROM writing",
    "SELECT id FROM own_goods ORDER BY writes_old()",
    "SELECT 1 FROM own_goods WHERE writes_old() = 1 OR 1 = 1",
    "SELECT NEXTVAL(own_counter)",
    "SELECT NEXT VALUE FOR own_counter",
    "SELECT SETVAL(own_counter, 99)",
    "SELECT 'x' INTO OUTFILE '{folder}/one'",
    "SELECT 'x' INTO DUMPFILE '{folder}/two'",
    "SELECT * FROM own_goods INTO OUTFILE '{folder}/three'",
    "SELECT 'x' /*!50000 INTO OUTFILE '{folder}/four' */",
    "SELECT 'x' /*M!100100 INTO OUTFILE '{folder}/five' */",
    "(SELECT 'x') UNION (SELECT 'y') INTO OUTFILE '{folder}/six'",
    "SELECT 1) OR (SELECT 'x' INTO OUTFILE '{folder}/seven'",
    "SELECT 'x' INTO OUTFILE '{folder}/eight' -- )",
    "SELECT 'x' INTO OUTFILE '{folder}/nine' /*",
    "SELECT 1 INTO @x",
    "SELECT * FROM own_goods FOR UPDATE",
    "SELECT * FROM own_goods LOCK IN SHARE MODE",
    "SELECT 1 PROCEDURE ANALYSE()",
    "SHOW TABLES",
    "",
    ";",
)
POSTGRES_STATE = (
    "SELECT g::text FROM own.goods g ORDER BY g::text",
    "SELECT last_value, is_called FROM own.counter",
    "SELECT last_value, is_called FROM own.goods_id_seq",
    "SELECT relname, relkind, relacl::text, relnatts FROM pg_class"
    " WHERE relnamespace = 'own'::regnamespace ORDER BY 1",
    "SELECT rolname, rolpassword, rolsuper FROM pg_authid ORDER BY 1",
    "SELECT count(*) FROM pg_largeobject_metadata",
    "SELECT count(*) FROM pg_db_role_setting",
    "SELECT count(*) FROM pg_namespace WHERE nspname NOT LIKE 'pg_t%%'",
    "SELECT description FROM pg_description WHERE objoid = 'own.goods'::regclass",
    "SELECT count(*) FROM pg_proc",
)
MARIADB_STATE = (
    "CHECKSUM TABLE own_goods, own_old",
    "SELECT * FROM own_goods ORDER BY id",
    "SHOW FULL TABLES",
    "SHOW CREATE TABLE own_goods",
    "SHOW CREATE VIEW writing",
    "SELECT next_not_cached_value FROM own_counter",
    "SELECT User, Host, Priv FROM mysql.global_priv ORDER BY 1, 2",
    "SELECT * FROM mysql.db ORDER BY 1, 2, 3",
    "SELECT @@GLOBAL.max_connect_errors, @@GLOBAL.init_connect, @@GLOBAL.read_only",
    "SELECT COUNT(*) FROM mysql.plugin",
)


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
            project, mariadb_target, user="writer", password=Secret(PASSWORD)
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
