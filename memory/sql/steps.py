"""The steps that other packages do, each found when it is first taken.

Whoever answers no question to a database loads none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from importlib import import_module
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from connections.databases.base import (
    Cell,
    DatabaseError,
    Guarded,
    GuardRefused,
    Rows,
    Schema,
    Table,
)
from connections.models import Database, DatabaseQuery, User

GUARD = "connections.databases.guard"
RUNNER = "connections.databases.runner"
SNAPSHOT = "connections.databases.snapshot"
JOINS = "connections.databases.joins"
TRANSLATOR = "memory.sql.translator"
CHARTS = "memory.sql.charts"


# A schema and a table of it, by their names.
Path: TypeAlias = tuple[str, str]


class Join(Protocol):
    """A step along a foreign key; `condition` is it in words of SQL."""

    @property
    def condition(self) -> str: ...


class JoinPath(Protocol):
    """A way between two tables; `bridges` are the tables on it."""

    @property
    def steps(self) -> Sequence[Join]: ...
    @property
    def bridges(self) -> Sequence[Path]: ...


@runtime_checkable
class Translated(Protocol):
    """A question as SQL, and how it was read; `confidence` from 0 to 1."""

    @property
    def sql(self) -> str: ...
    @property
    def reading(self) -> str: ...
    @property
    def assumptions(self) -> tuple[str, ...]: ...
    @property
    def tables(self) -> tuple[str, ...]: ...
    @property
    def confidence(self) -> float: ...


@runtime_checkable
class Declined(Protocol):
    """Why a question was not understood."""

    @property
    def reason(self) -> str: ...


def schema_of(database: Database) -> Schema:
    """Return what may be asked of `database`."""
    return cast(Schema, _of(SNAPSHOT, "schema_of")(database))


def guard(sql: str, schema: Schema, *, limit: int, values: int = 0) -> Guarded:
    """Return the statement as it may be sent, or raise `GuardRefused`.

    `values` is how many placeholders it has to have.
    """
    bound = {"values": values} if values else {}
    return cast(Guarded, _of(GUARD, "guard")(sql, schema, limit=limit, **bound))


def explain(database: Database, guarded: Guarded) -> object:
    """Return the server's plan, or raise `DatabaseError` with its words."""
    return _of(RUNNER, "explain")(database, guarded)


def run(
    database: Database,
    guarded: Guarded,
    *,
    user: User | None,
    question: str = "",
    shown_in: str = "",
    values: Sequence[Cell] = (),
) -> Rows:
    """Return what the statement gives, recorded; raises `DatabaseError`."""
    found = _of(RUNNER, "run")(
        database,
        guarded,
        user=user,
        question=question,
        shown_in=shown_in,
        values=values,
    )
    return cast(Rows, found)


def refused(
    database: Database,
    sql: str,
    error: GuardRefused,
    *,
    user: User | None,
    question: str,
    shown_in: str,
) -> DatabaseQuery:
    """Record a statement that the guard did not let through."""
    row = _of(RUNNER, "refused")(
        database, sql, error, user=user, question=question, shown_in=shown_in
    )
    return cast(DatabaseQuery, row)


def is_of_statement(error: DatabaseError) -> bool:
    """Return whether the server found fault with the statement itself.

    What is told apart further, such as a lost connection, is no fault of it.
    """
    return type(error) is _of(RUNNER, "RunFailed")


def join_paths(schema: Schema, tables: Sequence[Path]) -> Sequence[JoinPath]:
    """Return the shortest ways between `tables` along foreign keys."""
    return cast("Sequence[JoinPath]", _of(JOINS, "join_paths")(schema, tables))


def as_ddl(table: Table) -> str:
    """Return `table` as the statement that would make it, with comments and values."""
    return str(_of(JOINS, "as_ddl")(table))


def translate(question: str, schema: Schema, *, today: date) -> Translated | Declined:
    """Return `question` as SQL by rules, or why it was not understood."""
    told: Any = _of(TRANSLATOR, "translate")(question, schema, today=today)
    return cast("Translated | Declined", told)


def chart_of(rows: Rows) -> object | None:
    """Return how `rows` may be drawn; None where no picture fits, or none is made."""
    try:
        chart = _of(CHARTS, "chart_of")
    except ModuleNotFoundError:
        return None
    return cast("object | None", chart(rows))


def _of(module: str, name: str) -> Any:
    return getattr(import_module(module), name)
