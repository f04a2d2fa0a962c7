"""What the guard refuses, tried on real servers with the guard off: they hold too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import MySQLdb
import psycopg
import pytest

from connections.databases.guard import guard
from tests.connections.databases.hostile import Hostile, hostile
from tests.connections.databases.shop import (
    SECRET,
    UNSHOWN,
    shop_on,
    shop_schema,
)
from tests.targets import Target

SECONDS = 0.3
FETCHED = 1000
# Nothing here is about their size, and some would fill the machine.
NOT_RUN = ("bombs",)
_HIDDEN = re.compile(r"\b(password|secrets|token)\b", re.IGNORECASE)
_STATE_POSTGRES = """
    SELECT md5(concat(
        (SELECT string_agg(c::text, '|' ORDER BY c.id) FROM customers c),
        (SELECT string_agg(o::text, '|' ORDER BY o.id) FROM orders o),
        (SELECT string_agg(s::text, '|' ORDER BY s.id) FROM secrets s),
        (SELECT string_agg(r::text, '|' ORDER BY r.oid) FROM pg_authid r),
        (SELECT string_agg(d::text, '|' ORDER BY d::text) FROM pg_db_role_setting d),
        (SELECT string_agg(concat(k.oid, k.relname, k.relacl), '|' ORDER BY k.oid)
           FROM pg_class k WHERE k.relnamespace = 'public'::regnamespace),
        (SELECT string_agg(p::text, '|' ORDER BY p.oid) FROM pg_proc p
          WHERE p.pronamespace = 'public'::regnamespace),
        (SELECT string_agg(n.nspname, '|' ORDER BY n.nspname) FROM pg_namespace n
          WHERE n.nspname NOT LIKE 'pg_%%'),
        (SELECT count(*) FROM pg_largeobject_metadata),
        (SELECT string_agg(concat(x.name, x.setting), '|' ORDER BY x.name)
           FROM pg_settings x WHERE x.source <> 'session')
    ))"""
_STATE_MARIADB = (
    "CHECKSUM TABLE shop.customers, shop.orders, shop.secrets",
    "SHOW FULL TABLES FROM shop",
    "SELECT u.Host, u.User, u.Priv FROM mysql.global_priv u ORDER BY 1, 2",
    "SELECT d.* FROM mysql.db d ORDER BY 1, 2, 3",
    "SELECT p.name, p.type FROM mysql.proc p WHERE p.db = 'shop' ORDER BY 1",
    "SELECT g.VARIABLE_NAME, g.VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES g"
    " WHERE g.VARIABLE_NAME NOT LIKE 'gtid%' ORDER BY 1",
)


@dataclass
class Outcome:
    """What the servers did with statements that the guard refuses."""

    tried: int = 0
    executed: int = 0
    changed: list[str] = field(default_factory=list)
    revealed: list[str] = field(default_factory=list)
    guard_alone: list[str] = field(default_factory=list)
    by_outcome: list[str] = field(default_factory=list)

    def note(self, sql: str, said: str, *, executed: bool) -> None:
        self.tried += 1
        self.executed += executed
        if SECRET in said:
            self.revealed.append(sql)
        elif UNSHOWN in said:
            self.guard_alone.append(sql)
        elif executed and _HIDDEN.search(sql):
            self.by_outcome.append(sql)

    def __str__(self) -> str:
        def some(lines: list[str]) -> str:
            return f"{len(lines)}" + "".join(f"\n    {line[:110]}" for line in lines)

        return (
            f"tried {self.tried}, executed {self.executed}, changed {some(self.changed)}"
            f"\n  told what the login may not read: {some(self.revealed)}"
            f"\n  told what only the guard hides: {some(self.guard_alone)}"
            f"\n  ran, and name something hidden: {some(self.by_outcome)}"
        )


def _tried(engine: str) -> Iterator[Hostile]:
    for one in hostile():
        if one.engine == engine and one.kind not in NOT_RUN:
            yield one


@pytest.fixture(scope="module")
def postgres_shop(postgres_target: Target) -> Iterator[Target]:
    with shop_on(postgres_target) as target:
        yield target


@pytest.fixture(scope="module")
def mariadb_shop(mariadb_target: Target) -> Iterator[Target]:
    with shop_on(mariadb_target) as target:
        yield target


def _on_postgres(target: Target, sql: str) -> tuple[str, bool]:
    """Return what a statement said to the plain login, and whether it ran."""
    told: list[str] = []
    with psycopg.connect(
        host=target.host, port=target.port, dbname=target.database,
        user=target.user, password=target.password, autocommit=True,
    ) as connection:  # fmt: skip
        connection.add_notice_handler(lambda notice: told.append(str(notice)))
        connection.execute("BEGIN READ ONLY")
        connection.execute(f"SET LOCAL statement_timeout = {int(SECONDS * 1000)}")
        connection.execute("SELECT 1")
        try:
            cursor = connection.execute(sql)  # type: ignore[arg-type] # hostile
            rows: list[Any] = []
            if cursor.description:
                rows = cursor.fetchmany(FETCHED)
            return f"{rows}{told}", True
        except (psycopg.Error, UnicodeError, ValueError) as error:
            return f"{error}{told}", False


def _on_mariadb(target: Target, sql: str) -> tuple[str, bool]:
    connection = MySQLdb.connect(
        host=target.host, port=target.port, database=target.database,
        user=target.user, password=target.password, charset="utf8mb4",
    )  # fmt: skip
    try:
        cursor = connection.cursor()
        cursor.execute(f"SET SESSION max_statement_time = {SECONDS}")
        cursor.execute("START TRANSACTION READ ONLY")
        cursor.execute(sql)
        return str(cursor.fetchmany(FETCHED) if cursor.description else ""), True
    except (MySQLdb.Error, UnicodeError, ValueError) as error:
        return str(error), False
    finally:
        connection.close()


@pytest.mark.timeout(600)
def test_postgres_holds_without_the_guard(postgres_shop: Target) -> None:
    outcome = Outcome()
    with postgres_shop.admin() as owner:
        before = owner.execute(_STATE_POSTGRES).fetchone()
        for one in _tried("postgres"):
            said, executed = _on_postgres(postgres_shop, one.sql)
            outcome.note(one.sql, said, executed=executed)
            if (after := owner.execute(_STATE_POSTGRES).fetchone()) != before:
                outcome.changed.append(one.sql)
                before = after
    print(f"\nPostgreSQL: {outcome}")  # noqa: T201 - the counts are the result
    assert outcome.tried >= 500
    assert outcome.executed >= 100
    assert outcome.changed == []
    # Functions with their owner's rights are the customer's own hole.
    assert [one for one in outcome.revealed if "leak" not in one] == []
    assert len(outcome.guard_alone) >= 1


@pytest.mark.timeout(600)
def test_mariadb_holds_without_the_guard(mariadb_shop: Target) -> None:
    outcome = Outcome()
    owner = mariadb_shop.admin()
    before = _state_mariadb(owner)
    for one in _tried("mysql"):
        said, executed = _on_mariadb(mariadb_shop, one.sql)
        outcome.note(one.sql, said, executed=executed)
        if _state_mariadb(owner) != before:
            outcome.changed.append(one.sql)
            before = _restored(mariadb_shop, owner)
    owner.close()
    print(f"\nMariaDB: {outcome}")  # noqa: T201 - the counts are the result
    assert outcome.tried >= 450
    assert outcome.executed >= 80
    # MariaDB lets a login change its own password even in a read-only transaction.
    own_password = ("SET PASSWORD", "ALTER USER CURRENT_USER")
    assert [one for one in outcome.changed if not one.startswith(own_password)] == []
    assert [one for one in outcome.revealed if "leak" not in one] == []
    assert len(outcome.guard_alone) >= 1


def _state_mariadb(owner: Any) -> list[Any]:
    cursor, found = owner.cursor(), []
    for statement in _STATE_MARIADB:
        cursor.execute(statement)
        found.append(cursor.fetchall())
    return found


def _restored(target: Target, owner: Any) -> list[Any]:
    """Give the login its password again, and return how things stand then."""
    owner.cursor().execute(
        f"ALTER USER {target.user}@'127.0.0.1' IDENTIFIED BY '{target.password}'"
    )
    return _state_mariadb(owner)


@pytest.mark.parametrize("shop", ["postgres_shop", "mariadb_shop"])
def test_an_output_name_wins_over_a_hidden_column(
    request: pytest.FixtureRequest, shop: str
) -> None:
    """The owner may read `password`, so a server that took it would be seen to."""
    target: Target = request.getfixturevalue(shop)
    schema = shop_schema("postgres" if target.engine == "postgres" else "mariadb")
    expected = {
        "SELECT id % 3 AS password, count(*) AS n FROM customers GROUP BY password": 3,
        "SELECT -id AS password FROM customers ORDER BY password LIMIT 1": 1,
        "SELECT city AS note FROM customers GROUP BY note": 2,
    }
    if target.engine != "postgres":
        having = "SELECT count(*) AS password FROM customers GROUP BY city HAVING {}"
        expected[having.format("password > 0")] = 2
        expected[having.format("password = 6 AND -password < 0")] = 2
        expected["SELECT -id AS password FROM customers ORDER BY password + 0"] = 12
    connection = target.admin()
    cursor = connection.cursor()
    for sql, count in expected.items():
        cursor.execute(guard(sql, schema, limit=50).sql)
        rows = cursor.fetchall()
        assert len(rows) == count, sql
        if "ORDER BY" in sql:
            assert rows[0][0] == -12
    connection.close()
