"""Discovery: whether everything is found, and how long a thousand tables take.

What was stored is compared with the catalogue by statements of another making:
`information_schema` and the server's own rendering of constraints on PostgreSQL, SHOW
statements on MariaDB. With FABRIC_DATA, on databases that nobody here wrote.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from benchmarks.discovery_checks import Checked, checked
from benchmarks.discovery_loading import fresh, load, scripts
from benchmarks.report import Table, Unavailable, note, progress, real_data
from connections.databases.discovery import discover
from connections.databases.snapshot import schema_of
from connections.management.base import create_project
from connections.models import Database
from graph.databases import sync_database
from tests.targets import Target, make_database, mariadb_server, postgres_server

TABLES, TEXTS, NUMBERS, ROWS = 1000, 5, 5, 50


def run() -> Sequence[Table]:
    """Return what was compared, and the times of a thousand tables."""
    tables = []
    with postgres_server() as postgres, mariadb_server() as mariadb:
        try:
            tables.append(_compared(postgres, mariadb))
        except Unavailable as reason:
            note(f"Real databases were not compared: {reason}")
        tables.append(_timed(postgres, mariadb))
    return tables


def _compared(postgres: Target, mariadb: Target) -> Table:
    table = Table(
        "engine", "database", "tables", "columns", "keys", "comments", "enum values",
        "differences",
        caption="What was discovered beside what the server says by other statements",
    )  # fmt: skip
    total = Checked()
    for target in (postgres, mariadb):
        for name, files in scripts(target.engine, real_data()).items():
            progress(f"{target.engine} {name}")
            found = _check(target, name, files)
            total.add(found)
            table.add(target.engine, name, *found.cells())
            for difference in found.differences:
                note(f"{target.engine} {name}: {difference}")
    table.add("both", "all", *total.cells())
    return table


def _check(target: Target, name: str, files: Sequence[Path]) -> Checked:
    with load(target, name, files) as loaded:
        database = _database(loaded, name)
        discover(database, seconds=20)
        with closing(loaded.admin()) as owner:
            return checked(database, loaded, owner)


def _database(target: Target, name: str) -> Database:
    project = create_project("bench/discovery")
    slug = f"{target.engine}-{name}".replace("_", "-")
    return make_database(project, target, name=slug)


def _timed(postgres: Target, mariadb: Target) -> Table:
    table = Table(
        "engine", "tables", "columns", "first s", "again s", "waiting", "values kept",
        "schema_of ms", "to the graph s", "catalogue table by table s",
        caption=f"{TABLES} tables, {ROWS} rows each, sampling within its budget of time",
    )  # fmt: skip
    for target in (postgres, mariadb):
        with _thousand(target) as loaded:
            table.add(*_times(loaded))
    return table


@contextmanager
def _thousand(target: Target) -> Iterator[Target]:
    with fresh(target, "thousand") as loaded:
        with closing(loaded.admin()) as owner:
            cursor = owner.cursor()
            for number in range(TABLES):
                for statement in _table_statements(target.engine, number):
                    cursor.execute(statement)
                progress(f"{target.engine}: table {number}")
            if target.engine == "postgres":
                cursor.execute("ANALYZE")
                cursor.execute(
                    f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {target.user}"
                )
        yield loaded


def _table_statements(engine: str, number: int) -> Iterator[str]:
    texts = ", ".join(f"text_{n} varchar(60)" for n in range(TEXTS))
    numbers = ", ".join(f"number_{n} integer" for n in range(NUMBERS))
    before = f" REFERENCES table_{number - 1} (id)" if number else ""
    yield (
        f"CREATE TABLE table_{number} (id integer PRIMARY KEY, {texts}, {numbers},"
        f" before_id integer{before})"
    )
    values = ", ".join(f"concat('value ', seq % {n + 3})" for n in range(TEXTS))
    zeros = ", ".join("seq" for _ in range(NUMBERS))
    rows = (
        f"generate_series(1, {ROWS}) AS seq"
        if engine == "postgres"
        else f"seq_1_to_{ROWS}"
    )
    yield (
        f"INSERT INTO table_{number}"  # noqa: S608 - ours
        f" SELECT seq, {values}, {zeros}, NULL FROM {rows}"
    )


def _times(target: Target) -> list[object]:
    database = _database(target, "thousand")
    first = discover(database)
    again = discover(database)
    started = time.perf_counter()
    schema = schema_of(database)
    took = time.perf_counter() - started
    kept = sum(len(c.values) for t in schema.tables for c in t.columns)
    graph = _seconds(lambda: sync_database(database))
    baseline = _seconds(lambda: _one_by_one(target))
    return [
        target.engine, first.tables, first.columns, f"{first.seconds:.1f}",
        f"{again.seconds:.1f}", f"{first.waiting}, then {again.waiting}", kept,
        f"{took * 1000:.0f}", f"{graph:.1f}", f"{baseline:.1f}",
    ]  # fmt: skip


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _one_by_one(target: Target) -> None:
    """Read columns and keys a table at a time, and a column's values at a time."""
    reader = replace(target, owner={**target.owner, **_login(target)})
    place = "public" if target.engine == "postgres" else target.database
    with closing(reader.admin()) as raw, nullcontext(raw.cursor()) as cursor:
        for number in range(TABLES):
            where = [place, f"table_{number}"]
            for statement in (
                "SELECT column_name, data_type, is_nullable"
                " FROM information_schema.columns"
                " WHERE table_schema = %s AND table_name = %s",
                "SELECT k.constraint_name, k.column_name"
                " FROM information_schema.key_column_usage k"
                " WHERE k.table_schema = %s AND k.table_name = %s",
            ):
                cursor.execute(statement, where)
                cursor.fetchall()
            for n in range(TEXTS):
                cursor.execute(
                    f"SELECT DISTINCT text_{n} FROM table_{number} LIMIT 201"  # noqa: S608
                )
                cursor.fetchall()


def _login(target: Target) -> dict[str, str]:
    return {"user": target.user, "password": target.password}
