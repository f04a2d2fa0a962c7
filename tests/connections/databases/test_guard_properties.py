"""Made-up queries over made-up schemas pass, stay as they are, and mean the same."""

# ruff: noqa: S311, S608 - queries are put together here, by chance that repeats

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import MySQLdb
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import parse

from connections.databases.base import (
    Column,
    Flavour,
    GuardRefused,
    Schema,
    Table,
)
from connections.databases.guard import guard
from tests.connections.databases.shop import shop_on, shop_schema
from tests.targets import Target

_NAMES = (
    "a",
    "Id",
    "größe",
    "order",
    "x y",
    "SELECT",
    "it's",
    "user",
    "ß",
    "c_1",
    "é%s",
)
_FLAVOURS: tuple[Flavour, ...] = ("postgres", "mysql", "mariadb")
SAMPLE = 150


class Writer:
    """Writes queries over a schema that servers run, drawing from `rng`."""

    def __init__(self, schema: Schema, rng: random.Random) -> None:
        self.schema, self.rng = schema, rng
        self.mark = '"' if schema.flavour == "postgres" else "`"

    def quoted(self, name: str) -> str:
        return f"{self.mark}{name.replace(self.mark, self.mark * 2)}{self.mark}"

    def query(self, depth: int = 2) -> str:
        kinds = [self.plain, self.grouped, self.joined]
        if depth:
            kinds += [self.nested, self.united, self.with_query]
        return self.rng.choice(kinds)(depth - 1)

    def table(self) -> Table:
        return self.rng.choice(self.schema.tables)

    def named(self, table: Table) -> str:
        name = self.quoted(table.name)
        return self.rng.choice([name, f"{self.quoted(table.schema)}.{name}"])

    def column(self, table: Table, family: str = "") -> Column:
        fitting = [
            one
            for one in table.columns
            if one.exposure == "visible" and family in ("", one.family)
        ]
        return self.rng.choice(fitting or list(table.columns))

    def value(self, table: Table, alias: str = "") -> str:
        column = self.column(table)
        name = (f"{alias}." if alias else "") + self.quoted(column.name)
        if column.family == "number":
            return self.rng.choice([name, f"{name} + 1", f"abs({name})", f"-{name}"])
        if column.family == "text":
            return self.rng.choice([name, f"upper({name})", f"coalesce({name}, '%')"])
        return name

    def condition(self, table: Table, alias: str = "") -> str:
        column = self.column(table)
        name = (f"{alias}." if alias else "") + self.quoted(column.name)
        if column.family == "number":
            return self.rng.choice(
                [f"{name} > 3", f"{name} IN (1, 2, 5)", f"NOT {name} = 2"]
            )
        if column.family == "text":
            return self.rng.choice([f"{name} LIKE '%a%'", f"{name} <> 'it''s'"])
        return f"{name} IS NOT NULL"

    def plain(self, _: int) -> str:
        table = self.table()
        outputs = ", ".join(
            f"{self.value(table, 't')} AS o{n}" for n in range(self.rng.randint(1, 3))
        )
        order = self.rng.choice(["", " ORDER BY o0", " ORDER BY 1 DESC"])
        return (
            f"SELECT {self.rng.choice(['', 'DISTINCT '])}{outputs} FROM"
            f" {self.named(table)} t WHERE {self.condition(table, 't')}{order}"
        )

    def grouped(self, _: int) -> str:
        table = self.table()
        key = self.quoted(self.column(table).name)
        group = self.rng.choice(["k", "1", key])
        return (
            f"SELECT {key} AS k, count(*) AS n, max({self.value(table)}) AS m FROM"
            f" {self.named(table)} WHERE {self.condition(table)} GROUP BY {group}"
            f" HAVING count(*) >= 1 ORDER BY n DESC, k"
        )

    def joined(self, _: int) -> str:
        left, right = self.table(), self.table()
        on = (
            f"l.{self.quoted(self.column(left, 'number').name)} ="
            f" r.{self.quoted(self.column(right, 'number').name)}"
        )
        kind = self.rng.choice(["JOIN", "LEFT JOIN", "INNER JOIN"])
        return (
            f"SELECT {self.value(left, 'l')} AS a, {self.value(right, 'r')} AS b FROM"
            f" {self.named(left)} AS l {kind} {self.named(right)} AS r ON {on}"
            f" WHERE {self.condition(left, 'l')}"
        )

    def nested(self, depth: int) -> str:
        inner = self.grouped(depth)
        return f"SELECT q.k, q.n + 1 AS n1 FROM ({inner}) AS q WHERE q.n > 0 ORDER BY n1, 1"

    def united(self, _: int) -> str:
        one, two = self.table(), self.table()
        kind = self.rng.choice(["UNION", "UNION ALL"])
        return (
            f"SELECT count(*) AS c FROM {self.named(one)} {kind}"
            f" SELECT count(*) FROM {self.named(two)} WHERE {self.condition(two)} ORDER BY c"
        )

    def with_query(self, depth: int) -> str:
        return f"WITH w AS ({self.query(depth)}) SELECT count(*) AS n FROM w"


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    flavour = draw(st.sampled_from(_FLAVOURS))
    families = st.sampled_from(["number", "text", "date"])
    names = st.lists(
        st.sampled_from(_NAMES), min_size=1, max_size=4, unique_by=str.lower
    )
    space = draw(st.sampled_from(["public", "Shop 1"]))
    tables = tuple(
        Table(
            schema=space,
            name=name,
            columns=tuple(
                Column(name=one, data_type="x", family=draw(families))
                for one in draw(names)
            ),
        )
        for name in draw(names)
    )
    return Schema(flavour=flavour, version="1", default_schema=space, tables=tables)


@settings(max_examples=300, deadline=None)
@given(schemas(), st.integers(0, 10**9))
def test_what_passed_parses_and_passes_again_unchanged(
    schema: Schema, seed: int
) -> None:
    sql = Writer(schema, random.Random(seed)).query()
    first = guard(sql, schema, limit=50)
    assert len(parse(first.sql, dialect=schema.dialect)) == 1
    again = guard(first.sql, schema, limit=50)
    assert again.sql == first.sql
    assert (again.tables, again.columns) == (first.tables, first.columns)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(_FLAVOURS), st.text(max_size=60))
def test_any_text_is_guarded_or_refused(flavour: Flavour, text: str) -> None:

    for sql in (
        text,
        f"SELECT id FROM customers WHERE name = '{text}'",
        f"SELECT {text}",
    ):
        with contextlib.suppress(GuardRefused):
            assert guard(sql, shop_schema(flavour), limit=5).sql


@pytest.fixture(scope="module", params=["postgres_target", "mariadb_target"])
def shop(request: pytest.FixtureRequest) -> Iterator[Target]:
    with shop_on(request.getfixturevalue(request.param)) as target:
        yield target


def test_the_guarded_query_gives_the_rows_of_the_original(shop: Target) -> None:
    schema = shop_schema("postgres" if shop.engine == "postgres" else "mariadb")
    connection = shop.admin()
    cursor = connection.cursor()
    tried, rows = Counter(), 0
    for seed in range(SAMPLE):
        sql = Writer(schema, random.Random(seed)).query()
        text = guard(sql, schema, limit=10_000).sql
        try:
            expected = _rows(cursor, sql)
        except (psycopg.Error, MySQLdb.Error):
            tried["the server refuses the original"] += 1
            continue
        got = _rows(cursor, text)
        assert sorted(map(repr, got)) == sorted(map(repr, expected)), (sql, text)
        tried["equal"] += 1
        rows += len(got)
    connection.close()
    assert tried["equal"] >= SAMPLE * 2 // 3, tried
    assert rows > SAMPLE


def _rows(cursor: Any, sql: str) -> list[tuple[Any, ...]]:
    cursor.execute(sql)
    return list(cursor.fetchall())
