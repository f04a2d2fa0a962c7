"""The SQL guard: what people's statements become, and how long that takes."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import MySQLdb
import psycopg
from psycopg.sql import SQL, Identifier
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from benchmarks.gold import SETS, Gold, gold, scripts
from benchmarks.report import Table as Report
from benchmarks.report import median, note, percentile, progress, real_data, sampled
from connections.databases.base import (
    Column,
    DatabaseError,
    Flavour,
    GuardRefused,
    Schema,
    Table,
)
from connections.databases.guard import guard
from connections.databases.guard_dialects import READS
from tests.targets import Target, mariadb_server, postgres_server

Server = Callable[[], AbstractContextManager[Target]]
LIMIT = 100_000
ROUNDS = 3
TARGET_MS = 5.0
COLUMNS = """
    SELECT c.table_name, c.column_name, c.data_type
      FROM information_schema.columns c WHERE c.table_schema = %s
     ORDER BY c.table_name, c.ordinal_position
"""
ENGINES: tuple[tuple[Flavour, str, Server], ...] = (
    ("postgres", "postgres", postgres_server),
    ("mariadb", "mysql", mariadb_server),
)
_ERRORS = (psycopg.Error, MySQLdb.Error)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A database of a set on a server, and how to ask it."""

    schema: Schema
    ask: Callable[[str], list[tuple[Any, ...]]]


def run() -> list[Report]:
    """Guard every gold statement, and run it before and after on a real server."""
    folder = real_data("nl2sql")
    passing = Report(
        "engine", "set", "statements", "refused", "run", "equal rows", "other rows",
        "error both times", "error only when guarded", "CPU p50 ms", "p95", "wall p95",
        caption=f"Gold statements through the guard; target {TARGET_MS:.0f} ms at p95",
    )  # fmt: skip
    designs = Report(
        "engine", "design", "CPU p50 ms", "p95", "refused",
        caption="The same statements by other designs",
    )  # fmt: skip
    for flavour, dialect, server in ENGINES:
        with server() as target, _loaded(folder, dialect, flavour, target) as databases:
            _measure(folder, dialect, flavour, databases, passing, designs)
    return [passing, designs]


def _measure(
    folder: Path,
    dialect: str,
    flavour: str,
    databases: Mapping[str, Loaded],
    passing: Report,
    designs: Report,
) -> None:
    schemas = {name: loaded.schema for name, loaded in databases.items()}
    statements = sampled(list(gold(folder, dialect, schemas)))
    took = _timed(statements, schemas)
    for name in (*SETS, "all"):
        chosen = [one for one in statements if name in (one.set, "all")]
        counts: Counter[str] = Counter()
        for done, one in enumerate(chosen if name != "all" else ()):
            progress(f"{flavour} {name} {done}/{len(chosen)}")
            counts[_compared(one, databases[_key(one)])] += 1
        cpu = [took[one][0] for one in chosen]
        wall = [took[one][1] for one in chosen]
        asked = sum(counts.values()) - counts["refused"] - counts["not run"]
        passing.add(
            flavour, name, len(chosen),
            *((counts["refused"], asked, counts["equal"], counts["other"],
               counts["error"], counts["guarded error"])
              if name != "all" else ("",) * 6),
            f"{median(cpu):.2f}", f"{percentile(cpu, 0.95):.2f}",
            f"{percentile(wall, 0.95):.2f}",
        )  # fmt: skip
    for label, design in DESIGNS.items():
        times, refused = _by_design(design, statements, schemas)
        designs.add(
            flavour, label, f"{median(times):.2f}", f"{percentile(times, 0.95):.2f}",
            refused,
        )  # fmt: skip


def _key(one: Gold) -> str:
    return f"{one.set}/{one.database}"


def _compared(one: Gold, loaded: Loaded) -> str:
    """Return what became of a statement, and say why where it is not as it was."""
    try:
        guarded = guard(one.sql, loaded.schema, limit=LIMIT)
    except GuardRefused as refused:
        note(f"refused by {refused.rule}: {refused} | {one.sql[:300]}")
        return "refused"
    before, after = _answer(loaded, one.sql), _answer(loaded, guarded.sql)
    if before is None and after is None:
        return "not run"
    if isinstance(before, str) and isinstance(after, str):
        return "error"
    if isinstance(after, str):
        note(f"only guarded: {after[:200]} | {one.sql[:300]} | {guarded.sql[:600]}")
        return "guarded error"
    if before == after:
        return "equal"
    note(f"other rows | {one.sql[:300]} | {guarded.sql[:600]}")
    return "other"


def _answer(loaded: Loaded, sql: str) -> list[str] | str | None:
    try:
        return sorted(map(repr, loaded.ask(sql)))
    except DatabaseError:
        return None
    except _ERRORS as error:
        return str(error) or "error"


def _timed(
    statements: Sequence[Gold], schemas: Mapping[str, Schema]
) -> dict[Gold, tuple[float, float]]:
    """Return the median milliseconds of each statement: of the processor, by the clock."""
    cpu, wall = defaultdict(list), defaultdict(list)
    for _ in range(ROUNDS):
        for one in statements:
            clock, started = time.perf_counter(), time.thread_time()
            _outcome(lambda sql, schema: guard(sql, schema, limit=LIMIT), one, schemas)
            cpu[one].append((time.thread_time() - started) * 1000)
            wall[one].append((time.perf_counter() - clock) * 1000)
    return {one: (median(cpu[one]), median(wall[one])) for one in statements}


Design = Callable[[str, Schema], object]


def _outcome(design: Design, one: Gold, schemas: Mapping[str, Schema]) -> bool:
    try:
        design(one.sql, schemas[_key(one)])
    except (GuardRefused, SqlglotError):
        return False
    return True


def _by_design(
    design: Design, statements: Sequence[Gold], schemas: Mapping[str, Schema]
) -> tuple[list[float], int]:
    times: defaultdict[Gold, list[float]] = defaultdict(list)
    passed: dict[Gold, bool] = {}
    for _ in range(ROUNDS):
        for one in statements:
            started = time.thread_time()
            passed[one] = _outcome(design, one, schemas)
            times[one].append((time.thread_time() - started) * 1000)
    return [median(took) for took in times.values()], list(passed.values()).count(False)


_MAPPED: dict[int, MappingSchema] = {}


def _by_qualify(sql: str, schema: Schema) -> object:
    """Parse, let sqlglot resolve the names, write, and parse again."""
    known = _MAPPED.get(id(schema))
    if known is None:
        tables = {
            table.name: {column.name: column.data_type for column in table.columns}
            for table in schema.tables
        }
        mapping: dict[str, object] = {schema.default_schema: tables}
        known = _MAPPED[id(schema)] = MappingSchema(mapping, dialect=schema.dialect)
    dialect = READS[schema.flavour]
    tree: exp.Expr = qualify(
        exp.maybe_parse(sql, dialect=dialect),
        schema=known,
        dialect=dialect,
        db=schema.default_schema,
    )
    return dialect.parse(tree.sql(dialect=dialect))


def _read_and_written(sql: str, schema: Schema) -> object:
    """Parse, write and parse again: what any guard that writes anew pays at least."""
    dialect = READS[schema.flavour]
    tree: exp.Expr = exp.maybe_parse(sql, dialect=dialect)
    return dialect.parse(tree.sql(dialect=dialect, identify=True))


DESIGNS: Mapping[str, Design] = {
    "sqlglot's qualify, no rules": _by_qualify,
    "parse, write, parse: no names, no rules": _read_and_written,
}


@contextmanager
def _loaded(
    folder: Path, dialect: str, flavour: Flavour, target: Target
) -> Iterator[dict[str, Loaded]]:
    """Load the databases of all sets; those without a script for it are only known."""
    found: dict[str, Loaded] = {}
    made: list[tuple[str, Any]] = []
    try:
        for name in SETS:
            here = scripts(folder, name, dialect)
            for database, path in here.items():
                progress(f"{flavour}: loading {name}/{database}")
                # defog's statements for MySQL name their database, so it has that name.
                own = database if name == "defog" else f"bench_{name}_{database}"
                connection = _created(target, own)
                made.append((own, connection))
                found[f"{name}/{database}"] = _load(connection, flavour, own, path)
            for database in scripts(folder, name, "postgres").keys() - here.keys():
                found[f"{name}/{database}"] = _known(flavour, database, folder, name)
        yield found
    finally:
        for name, connection in made:
            connection.close()
            _drop(target, name)


def _created(target: Target, name: str) -> Any:
    _drop(target, name)
    if target.engine == "postgres":
        with target.admin("postgres") as server:
            server.execute(SQL("CREATE DATABASE {} TEMPLATE template0").format(
                Identifier(name)
            ))  # fmt: skip
        return target.admin(name)
    connection = target.admin()
    connection.cursor().execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4")
    connection.select_db(name)
    return connection


def _drop(target: Target, name: str) -> None:
    if target.engine == "postgres":
        with target.admin("postgres") as server:
            server.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(
                Identifier(name)
            ))  # fmt: skip
    else:
        target.run(f"DROP DATABASE IF EXISTS `{name}`")


def _load(connection: Any, flavour: Flavour, name: str, path: Path) -> Loaded:
    """Run the script of a database there, and return how to ask it."""
    script, cursor = path.read_text("utf-8"), connection.cursor()
    if flavour == "postgres":
        cursor.execute(script)
        cursor.execute("SET search_path = public")
        cursor.execute("SET statement_timeout = '20s'")
    else:
        for statement in filter(str.strip, script.split(";\n")):
            cursor.execute(statement)
        cursor.execute("SET SESSION max_statement_time = 20")
    schema = _schema_of(cursor, flavour, "public" if flavour == "postgres" else name)

    def ask(sql: str) -> list[tuple[Any, ...]]:
        cursor.execute(sql)
        return list(cursor.fetchall())

    return Loaded(schema, ask)


def _schema_of(cursor: Any, flavour: Flavour, space: str) -> Schema:
    cursor.execute(COLUMNS, [space])
    columns: defaultdict[str, list[Column]] = defaultdict(list)
    for table, name, kind in cursor.fetchall():
        columns[table].append(Column(name=name, data_type=kind, family="other"))
    mark = '"' if flavour == "postgres" else "`"
    tables = []
    for table, known in columns.items():
        cursor.execute(f"SELECT count(*) FROM {mark}{space}{mark}.{mark}{table}{mark}")  # noqa: S608
        rows = cursor.fetchone()[0]
        tables.append(Table(schema=space, name=table, rows=rows, columns=tuple(known)))
    return Schema(
        flavour=flavour, version="", default_schema=space, tables=tuple(tables)
    )


def _known(flavour: Flavour, database: str, folder: Path, name: str) -> Loaded:
    """Return a database that no script makes here: its statements are only guarded."""
    described = folder / name / "schema_json" / f"{database}.json"
    listed = json.loads(described.read_text("utf-8"))["table_metadata"]
    tables = tuple(
        Table(
            schema=database,
            name=table,
            columns=tuple(
                Column(
                    name=column["column_name"],
                    data_type=column["data_type"],
                    family="other",
                )
                for column in columns
            ),
        )
        for table, columns in listed.items()
    )

    def ask(_: str) -> list[tuple[Any, ...]]:
        raise DatabaseError(f"{database} is not loaded.")

    schema = Schema(flavour=flavour, version="", default_schema=database, tables=tables)
    return Loaded(schema, ask)
