"""Small stand-ins for the steps of other packages, where these are not there yet."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec

import psycopg
import sqlglot
from django.utils import timezone
from sqlglot import exp

from connections.databases.base import (
    Column,
    DatabaseError,
    ForeignKey,
    Guarded,
    GuardRefused,
    ResultColumn,
    Rows,
    Schema,
    Table,
)
from connections.databases.connecting import open_connection
from connections.models import DatabaseKey, DatabaseQuery, DatabaseTable
from memory.sql import steps

ARE_HERE = {
    "guard": steps.GUARD,
    "runner": steps.RUNNER,
    "snapshot": steps.SNAPSHOT,
    "joins": steps.JOINS,
}


class RunFailed(DatabaseError):
    pass


class Away(DatabaseError):
    """Such as Busy or Paused."""


def schema_of(database):
    rows = DatabaseTable.objects.filter(database=database, gone_at=None)
    return Schema(
        flavour="postgres" if database.engine == "postgres" else "mariadb",
        version="18.0",
        default_schema="public" if database.engine == "postgres" else database.database,
        tables=tuple(_table(row) for row in rows.exclude(exposure="hidden")),
    )


def _table(row):
    shown = row.columns.exclude(exposure="hidden").filter(gone_at=None)
    return Table(
        schema=row.schema,
        name=row.name,
        comment=row.comment,
        rows=row.rows,
        columns=tuple(
            Column(
                name=one.name,
                data_type=one.data_type,
                family=one.family,
                comment=one.comment,
                is_key=one.is_key,
                exposure=one.exposure,
                values=tuple(one.values),
            )
            for one in shown
        ),
        foreign_keys=tuple(
            ForeignKey(
                name=key.name,
                columns=tuple(key.columns),
                target_schema=key.target.schema,
                target_table=key.target.name,
                target_columns=tuple(key.target_columns),
            )
            for key in DatabaseKey.objects.filter(table=row).select_related("target")
        ),
    )


def guard(sql, schema, *, limit, values=0):
    try:
        trees = sqlglot.parse(sql, read=schema.dialect)
    except sqlglot.errors.SqlglotError as error:
        raise GuardRefused("syntax", "The statement is no SQL.") from error
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise GuardRefused("reading-only", "Only one SELECT may run.")
    tree = trees[0]
    if called := next(tree.find_all(exp.Anonymous), None):
        raise GuardRefused("function", f"The function {called.name} is not allowed.")
    paths = []
    for named in tree.find_all(exp.Table):
        path = (named.db or schema.default_schema, named.name)
        if path not in schema.by_path:
            raise GuardRefused("table", f"There is no table {named.name}.")
        paths.append(".".join(path))
    known = {name for t in schema.tables for name in t.by_name}
    aliases = {alias.alias for alias in tree.find_all(exp.Alias)}
    for column in tree.find_all(exp.Column):
        if column.name not in known | aliases:
            raise GuardRefused("column", f"There is no column {column.name}.")
    found = tree.find_all(exp.Placeholder)
    if len(list(found)) != values:
        raise GuardRefused("values", "As many placeholders as values.")
    rendered = tree.sql(dialect=schema.dialect, comments=False)
    for place in range(1, values + 1):
        rendered = rendered.replace("?", f"${place}", 1)
    sent = f"SELECT * FROM ({rendered}) AS q LIMIT {limit + 1}"  # noqa: S608 # a fake
    return Guarded(
        sql=sent,
        original=sql,
        limit=limit,
        tables=tuple(dict.fromkeys(paths)),
    )


def refused(database, sql, error, *, user, question, shown_in):
    return _row(
        database, sql, user, question, shown_in, verdict="refused", rule=error.rule,
        error=str(error),
    )  # fmt: skip


def _row(database, sql, user, question, shown_in, **fields):
    return DatabaseQuery.objects.create(
        tenant=database.tenant, project=database.project, database=database,
        database_name=database.name, user=user, question=question, asked_sql=sql,
        shown_in=shown_in, **fields,
    )  # fmt: skip


def explain(database, guarded):
    _read(database, f"EXPLAIN {guarded.sql}", ())


def run(database, guarded, *, user, question="", shown_in="", values=()):
    row = _row(
        database, guarded.original, user, question, shown_in, sent_sql=guarded.sql
    )
    began = time.perf_counter()
    try:
        names, rows = _read(database, guarded.sql, values)
    except RunFailed as error:
        row.verdict, row.error = "failed", str(error)
        raise
    else:
        row.verdict, row.rows = "done", min(len(rows), guarded.limit)
    finally:
        row.finished_at = timezone.now()
        row.save()
    return Rows(
        sql=guarded.sql,
        columns=tuple(ResultColumn(name=n, family=f) for n, f in names),
        rows=rows[: guarded.limit],
        truncated=len(rows) > guarded.limit,
        took_ms=(time.perf_counter() - began) * 1000,
        run=row.pk,
    )


FAMILIES = {25: "text", 1043: "text", 20: "number", 23: "number", 1700: "number"}


def _read(database, sql, values):
    opened = open_connection(database)
    try:
        cursor = psycopg.RawCursor(opened.raw)
        cursor.execute("BEGIN READ ONLY")
        try:
            cursor.execute(sql, list(values) or None)
        except psycopg.Error as error:
            raise RunFailed(str(error)) from error
        names = [
            (c.name, FAMILIES.get(c.type_code, "other")) for c in cursor.description
        ]
        return names, [tuple(row) for row in cursor.fetchall()]
    finally:
        opened.close()


@dataclass(frozen=True)
class Join:
    condition: str


@dataclass(frozen=True)
class JoinPath:
    steps: tuple[Join, ...]
    bridges: tuple[tuple[str, str], ...] = ()


def join_paths(schema, tables):
    return tuple(
        JoinPath((Join(f"{table.path}.{key.columns[0]} = {key.target_table}"),))
        for table in schema.tables
        for key in table.foreign_keys
        if {(table.schema, table.name), (key.target_schema, key.target_table)}
        <= set(tables)
    )


def as_ddl(table):
    lines = []
    for c in table.columns:
        notes = [c.comment, c.exposure if c.exposure != "visible" else ""]
        if c.values and c.exposure == "visible":
            notes.append("values: " + ", ".join(f"'{value}'" for value in c.values))
        lines.append(f"  {c.name} {c.data_type} -- {'; '.join(filter(None, notes))}")
    return "\n".join([f"CREATE TABLE {table.path} ( -- {table.comment}", *lines, ");"])


def stand_in(monkeypatch):
    """Put the stand-ins in the place of the steps that are missing."""
    given = {
        steps.GUARD: {"guard": guard},
        steps.RUNNER: {
            "refused": refused,
            "explain": explain,
            "run": run,
            "is_of_statement": lambda error: type(error) is RunFailed,
        },
        steps.SNAPSHOT: {"schema_of": schema_of},
        steps.JOINS: {"join_paths": join_paths, "as_ddl": as_ddl},
    }
    for module, functions in given.items():
        if find_spec(module) is None:
            for name, function in functions.items():
                monkeypatch.setattr(steps, name, function)
