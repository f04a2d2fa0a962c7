"""Values of each type, as real servers send them, become cells without a loss."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from connections.databases.base import DatabaseError
from tests.connections.databases.running import ask
from tests.targets import allowed, make_database

pytestmark = pytest.mark.django_db
NIL = "00000000-0000-0000-0000-000000000001"

POSTGRES = [
    ("1::smallint", 1, "number"),
    ("9223372036854775807::bigint", 2**63 - 1, "number"),
    ("1.50::numeric(10,2)", Decimal("1.50"), "number"),
    ("'-Infinity'::numeric", Decimal("-Infinity"), "number"),
    ("1.5::float8", 1.5, "number"),
    ("'Infinity'::float8", float("inf"), "number"),
    ("true", True, "boolean"),
    ("NULL::int", None, "number"),
    ("'Zoë'::text", "Zoë", "text"),
    ("'ab'::char(4)", "ab  ", "text"),
    (f"'{NIL}'::uuid", UUID(NIL), "text"),
    ("date '2026-11-21'", date(2026, 11, 21), "date"),
    ("date 'infinity'", "infinity", "date"),
    ("date '0044-03-15 BC'", "0044-03-15 BC", "date"),
    ("time '23:59:59.5'", time(23, 59, 59, 500_000), "time"),
    ("time '24:00'", "24:00:00", "time"),
    (
        "timestamp '2026-11-21 12:00:00.25'",
        datetime(2026, 11, 21, 12, 0, 0, 250_000),
        "timestamp",
    ),
    (
        "timestamptz '2026-11-21 12:00:00+00'",
        datetime(2026, 11, 21, 12, tzinfo=UTC),
        "timestamp",
    ),
    ("timestamp '-infinity'", "-infinity", "timestamp"),
    ("timestamp '99999-01-01'", "99999-01-01 00:00:00", "timestamp"),
    ("interval '1 day 02:03:04'", timedelta(days=1, seconds=7384), "other"),
    ("interval '1 year 2 mons'", "1 year 2 mons", "other"),
    ("'{\"a\": [1]}'::jsonb", '{"a": [1]}', "json"),
    ("'[1]'::json", "[1]", "json"),
    ("ARRAY[1,NULL,3]", "{1,NULL,3}", "other"),
    ("ARRAY['a','b c']", '{a,"b c"}', "other"),
    ("ARRAY[date '2026-01-01']", "{2026-01-01}", "other"),
    ("'\\x00ff'::bytea", "0x00ff", "binary"),
    ("''::bytea", "0x", "binary"),
    ("inet '10.0.0.0/8'", "10.0.0.0/8", "other"),
    ("B'101'", "101", "other"),
    ("int4range(1, 5)", "[1,5)", "other"),
    ("ROW(1, 'x')", "(1,x)", "other"),
    ("point '(1,2)'", "(1,2)", "other"),
    ("'a'::\"char\"", "a", "text"),
    ("42::oid", 42, "number"),
]
MARIADB = [
    ("CAST(18446744073709551615 AS UNSIGNED)", 2**64 - 1, "number"),
    ("-1", -1, "number"),
    ("CAST(1.50 AS DECIMAL(10,2))", Decimal("1.50"), "number"),
    ("1.5e0", 1.5, "number"),
    ("TRUE", 1, "number"),
    ("NULL", None, "other"),
    ("'Zoë 😀'", "Zoë 😀", "text"),
    ("_utf8mb4'x' COLLATE utf8mb4_bin", "x", "text"),
    ("DATE '2026-11-21'", date(2026, 11, 21), "date"),
    ("TIME '23:59:59.5'", time(23, 59, 59, 500_000), "time"),
    ("TIME '-838:59:59'", timedelta(hours=-838, minutes=-59, seconds=-59), "time"),
    ("TIME '30:00:00'", timedelta(hours=30), "time"),
    (
        "TIMESTAMP '2026-11-21 12:00:00.25'",
        datetime(2026, 11, 21, 12, 0, 0, 250_000),
        "timestamp",
    ),
    ("b'101' + 0", 5, "number"),
    ("x'00ff'", "0x00ff", "binary"),
    ("JSON_OBJECT('a', 1)", '{"a": 1}', "text"),
    ("ST_GeomFromText('POINT(1 1)')", None, "binary"),
    (f"CAST('{NIL}' AS UUID)", NIL, "text"),
]
TYPED = [
    ("d date", "'0000-00-00'", "0000-00-00", "date"),
    ("d date", "'2026-00-00'", "2026-00-00", "date"),
    ("d datetime", "'0000-00-00 00:00:00'", "0000-00-00 00:00:00", "timestamp"),
    ("d timestamp NULL", "'0000-00-00 00:00:00'", "0000-00-00 00:00:00", "timestamp"),
    ("d year", "2026", 2026, "number"),
    ("d bit(12)", "b'100000000001'", 2049, "number"),
    ("d bigint unsigned", "18446744073709551615", 2**64 - 1, "number"),
    ("d int(5) zerofill", "42", 42, "number"),
    ("d tinyint(1)", "1", 1, "number"),
    ("d enum('s','m')", "'m'", "m", "text"),
    ("d set('a','b')", "'a,b'", "a,b", "text"),
    ("d json", "'[1]'", "[1]", "text"),
    ("d longtext", "'long'", "long", "text"),
    ("d varbinary(9)", "x'ff00'", "0xff00", "binary"),
    ("d blob", "x'ff'", "0xff", "binary"),
    ("d varchar(9) CHARACTER SET latin1", "_latin1 x'fc'", "ü", "text"),
    ("d decimal(65,30)", "1.5", Decimal("1.5"), "number"),
    ("d float", "0.5", 0.5, "number"),
]


@pytest.mark.parametrize(("expression", "cell", "family"), POSTGRES)
def test_postgres(project, postgres_target, expression, cell, family):
    found = ask(make_database(project, postgres_target), f"SELECT {expression} AS c")
    assert found.rows == [(cell,)]
    assert type(found.rows[0][0]) is type(cell)
    assert (found.columns[0].name, found.columns[0].family) == ("c", family)


def test_postgres_numbers_that_are_none(project, postgres_target):
    found = ask(
        make_database(project, postgres_target), "SELECT 'NaN'::numeric, 'NaN'::float8"
    )
    assert [str(cell).lower() for cell in found.rows[0]] == ["nan", "nan"]


def test_postgres_enumerations_are_text(project, postgres_target):
    postgres_target.run("CREATE TYPE unit AS ENUM ('kg', 'm')")
    found = ask(make_database(project, postgres_target), "SELECT 'kg'::public.unit")
    assert (found.rows, found.columns[0].family) == ([("kg",)], "text")
    postgres_target.run("DROP TYPE unit")


def test_a_postgres_database_without_an_encoding_is_not_asked(project, postgres_target):
    """It sends any bytes, in texts and in names."""
    name = f"{postgres_target.database}_ascii"
    server = postgres_target.admin("postgres")
    server.execute(f"DROP DATABASE IF EXISTS {name}")
    server.execute(
        f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'"
    )
    try:
        database = make_database(project, postgres_target, database=name)
        place = f"{postgres_target.host}:{postgres_target.port}/{name}"
        unasked = pytest.raises(DatabaseError, match="SQL reads differently")
        with allowed(place), unasked:
            ask(database, "SELECT 1")
    finally:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")
        server.close()


@pytest.mark.parametrize(("expression", "cell", "family"), MARIADB)
def test_mariadb(project, mariadb_target, expression, cell, family):
    mariadb_target.run("GRANT SELECT ON shop.* TO reader@'127.0.0.1'")
    found = ask(make_database(project, mariadb_target), f"SELECT {expression} AS c")
    assert (found.columns[0].name, found.columns[0].family) == ("c", family)
    if cell is not None:
        assert found.rows == [(cell,)]
        assert type(found.rows[0][0]) is type(cell)


@pytest.mark.parametrize(("column", "value", "cell", "family"), TYPED)
def test_mariadb_columns(project, mariadb_target, column, value, cell, family):
    mariadb_target.run(
        "GRANT SELECT ON shop.* TO reader@'127.0.0.1'",
        f"CREATE OR REPLACE TABLE typed ({column})",
    )
    connection = mariadb_target.admin()
    cursor = connection.cursor()
    cursor.execute("SET sql_mode = ''")
    cursor.execute(f"INSERT INTO typed VALUES ({value})")  # noqa: S608 # our own
    connection.close()
    found = ask(make_database(project, mariadb_target), "SELECT d FROM typed")
    assert found.rows == [(cell,)]
    assert type(found.rows[0][0]) is type(cell)
    assert found.columns[0].family == family
    mariadb_target.run("DROP TABLE typed")


def test_mariadb_bytes_that_are_no_utf_8_show_as_such(project, mariadb_target):
    mariadb_target.run("GRANT SELECT ON shop.* TO reader@'127.0.0.1'")
    sql = "SELECT CAST(x'41ff42' AS BINARY), CONVERT(x'41ff42' USING latin1)"
    found = ask(make_database(project, mariadb_target), sql)
    assert found.rows == [("0x41ff42", "AÿB")]
