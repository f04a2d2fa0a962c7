"""Stand-ins for what stands between a page and a database, where it is not there yet.

Each has the shape of the real one, and runs statements on a real server. `install` puts
in only those whose module does not exist: beside the real ones it does nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import Any
from uuid import UUID

import psycopg
import sqlglot
from django.utils import timezone
from sqlglot import exp

from connections.databases.base import (
    Cell,
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
from connections.models import (
    Database,
    DatabaseColumn,
    DatabaseKey,
    DatabaseQuery,
    DatabaseTable,
    User,
)
from memory.models import VerifiedExample

FAMILIES = {
    16: "boolean", 20: "number", 21: "number", 23: "number", 700: "number",
    701: "number", 1700: "number", 1082: "date", 1114: "timestamp", 1184: "timestamp",
}  # fmt: skip


class TimedOut(DatabaseError):
    code = "timed_out"


class Cancelled(DatabaseError):
    code = "cancelled"


class RunFailed(DatabaseError):
    code = "run_failed"


def schema_of(database: Database) -> Schema:
    rows = DatabaseTable.objects.filter(database=database, exposure="visible")
    return Schema(
        flavour=database.flavour or database.engine,
        version=database.version,
        default_schema=database.default_schema,
        tables=tuple(_table(row) for row in rows),
    )


def _table(row: DatabaseTable) -> Table:
    keys = DatabaseKey.objects.filter(table=row).select_related("target")
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
                nullable=one.nullable,
                comment=one.comment,
                is_key=one.is_key,
                exposure=one.exposure,
                values=tuple(one.values),
            )
            for one in DatabaseColumn.objects.filter(table=row).exclude(
                exposure="hidden"
            )
        ),
        foreign_keys=tuple(
            ForeignKey(
                name=key.name,
                columns=tuple(key.columns),
                target_schema=key.target.schema,
                target_table=key.target.name,
                target_columns=tuple(key.target_columns),
            )
            for key in keys
        ),
    )


def guard(sql: str, schema: Schema, *, limit: int) -> Guarded:
    try:
        trees = [tree for tree in sqlglot.parse(sql, dialect=schema.dialect) if tree]
    except sqlglot.errors.ParseError:
        raise GuardRefused("unreadable", "This is no SQL that can be read.") from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise GuardRefused("one_query", "Only one statement that reads may be run.")
    known = {table.name for table in schema.tables}
    for table in trees[0].find_all(exp.Table):
        if table.name not in known:
            raise GuardRefused("unknown_table", f"There is no table {table.name}.")
    inner = trees[0].sql(dialect=schema.dialect, comments=False)
    return Guarded(
        sql=f"SELECT * FROM ({inner}) AS q LIMIT {limit + 1}",  # noqa: S608
        original=sql,
        limit=limit,
    )


def run(
    database: Database,
    guarded: Guarded,
    *,
    user: User | None,
    question: str = "",
    shown_in: str = "",
    values: Sequence[Cell] = (),
) -> Rows:
    row = _written(database, guarded.original, user, question, shown_in)
    row.sent_sql = guarded.sql
    row.save()
    began = time.monotonic()
    try:
        rows, columns = _read(database, guarded, row)
    except DatabaseError as error:
        names = {Cancelled: "cancelled", TimedOut: "timed_out"}
        _end(row, names.get(type(error), "failed"), began, error=str(error))
        raise
    truncated = len(rows) > guarded.limit
    rows = rows[: guarded.limit]
    _end(row, "done", began, rows=len(rows), truncated=truncated)
    return Rows(
        sql=guarded.sql,
        columns=columns,
        rows=rows,
        truncated=truncated,
        took_ms=(time.monotonic() - began) * 1000,
        run=row.pk,
    )


def _read(
    database: Database, guarded: Guarded, row: DatabaseQuery
) -> tuple[list[tuple[Cell, ...]], tuple[ResultColumn, ...]]:
    opened = open_connection(database)
    ended = threading.Event()
    asked = threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            if asked.is_set():
                opened.raw.cancel()
                return

    def read() -> None:
        try:
            cursor.execute(guarded.sql)
            found.extend(cursor.fetchall())
        except psycopg.Error as error:
            failures.append(error)
        finally:
            ended.set()

    cursor, found, failures = opened.raw.cursor(), [], []
    threads = [threading.Thread(target=each) for each in (watch, read)]
    for thread in threads:
        thread.start()
    while not ended.wait(0.05):
        wanted = DatabaseQuery.objects.filter(pk=row.pk, cancel_asked_at=None)
        if not wanted.exists():
            asked.set()
    for thread in threads:
        thread.join()
    opened.close()
    for error in failures:
        if isinstance(error, psycopg.errors.QueryCanceled):
            raise Cancelled("It was cancelled.") from error
        raise RunFailed(f"The server says: {error}") from error
    columns = tuple(
        ResultColumn(name=one.name, family=FAMILIES.get(one.type_code, "text"))
        for one in cursor.description or ()
    )
    return found, columns


def refused(
    database: Database,
    sql: str,
    error: GuardRefused,
    *,
    user: User | None,
    question: str,
    shown_in: str,
) -> DatabaseQuery:
    row = _written(database, sql, user, question, shown_in)
    row.verdict, row.rule, row.error = "refused", error.rule, str(error)
    row.finished_at = timezone.now()
    row.save()
    return row


def cancel(query_id: UUID, *, user: User) -> bool:
    running = DatabaseQuery.objects.filter(pk=query_id, verdict="running")
    return bool(running.update(cancel_asked_at=timezone.now()))


def _written(
    database: Database, sql: str, user: User | None, question: str, shown_in: str
) -> DatabaseQuery:
    return DatabaseQuery.objects.create(
        tenant_id=database.tenant_id,
        project_id=database.project_id,
        database=database,
        database_name=database.name,
        user=user,
        question=question,
        asked_sql=sql,
        shown_in=shown_in,
    )


def _end(row: DatabaseQuery, verdict: str, began: float, **fields: Any) -> None:
    took = (time.monotonic() - began) * 1000
    DatabaseQuery.objects.filter(pk=row.pk).update(
        verdict=verdict, finished_at=timezone.now(), took_ms=took, **fields
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    sql: str
    rows: Rows
    reading: str
    assumptions: tuple[str, ...]
    tables: tuple[str, ...]
    attempts: tuple[object, ...] = ()
    by: str = "rules"
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    reason: str
    attempts: tuple[object, ...] = ()


def ask_database(database: Database, question: str, **_: Any) -> Unanswered:
    return Unanswered(reason="Nothing here answers questions.")


def propose(
    database: Database, question: str, sql: str, *, by: User
) -> VerifiedExample:
    example, _ = VerifiedExample.objects.get_or_create(
        database=database, question=question, sql=sql, defaults={"asked_by": by}
    )
    return example


MODULES: dict[str, tuple[Any, ...]] = {
    "connections.databases.snapshot": (schema_of,),
    "connections.databases.guard": (guard,),
    "connections.databases.runner": (
        run, refused, cancel, TimedOut, Cancelled, RunFailed,
    ),
    "memory.sql.asking": (Answered, Unanswered, ask_database),
    "memory.sql.examples": (propose,),
}  # fmt: skip


def install(monkeypatch: Any) -> None:
    """Put in a stand-in for each module that does not exist."""
    for name, parts in MODULES.items():
        if find_spec(name) is None:
            module = ModuleType(name)
            for part in parts:
                setattr(module, part.__name__, part)
            monkeypatch.setitem(sys.modules, name, module)


def answer_with(
    monkeypatch: Any, answering: Callable[[Database, str, User, str], object]
) -> None:
    """Let questions in words be answered by `answering`, whoever asks them."""
    import memory.sql.asking as asking

    def ask(database: Database, question: str, **asked: Any) -> object:
        shown_in = asked.get("shown_in", "")
        return answering(database, question, asked["user"], shown_in)

    monkeypatch.setattr(asking, "ask_database", ask)
