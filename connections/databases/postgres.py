"""One statement on PostgreSQL, in a transaction that can only read.

The statement is declared as a cursor: `DECLARE` takes one query, no second statement
and no query that changes data, and the protocol of parameters is used throughout.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import sql as composed

from connections.databases import runner_sql
from connections.databases.base import Cell, ResultColumn
from connections.databases.caps import Cutter
from connections.databases.cells_postgres import family_of, install_loaders
from connections.databases.connecting import Opened
from connections.databases.failures import Lost, RunFailed, TimedOut, trimmed
from connections.databases.session import LOCK_SECONDS, SERVER_LATER_SECONDS, Plan
from connections.databases.wire import Wire
from connections.models import Database

CURSOR = "fabric_rows"


class PostgresSession:
    """A session of one statement; see `Session`."""

    def __init__(self, opened: Opened, database: Database) -> None:
        self._raw: psycopg.Connection[Any] = opened.raw
        self._schema = database.default_schema or "public"
        self.wire = Wire(self._raw.fileno())

    def seal(self, seconds: float) -> bool:
        """Begin reading only; return whether the login is a superuser."""
        values = {
            "path": composed.Identifier(self._schema).as_string(self._raw)
            + ", pg_temp",
            "statement": str(int(1000 * (seconds + SERVER_LATER_SECONDS))),
            "lock": str(1000 * LOCK_SECONDS),
        }
        try:
            self._raw.execute(runner_sql.POSTGRES_BEGIN)
            row = self._raw.execute(runner_sql.POSTGRES_SEAL, values).fetchone()
            for version, statement in runner_sql.POSTGRES_SEAL_NEWER:
                if self._raw.info.server_version >= version:
                    self._raw.execute(statement, values)
        except psycopg.Error as error:
            raise _failure(error) from error
        return bool(row and row[0])

    def rows(
        self, sql: str, values: Sequence[Cell], cutter: Cutter, most: int
    ) -> tuple[tuple[ResultColumn, ...], Iterator[tuple[Cell, ...]]]:
        """Declare the cursor; return its columns and a stream of at most `most` rows."""
        install_loaders(self._raw, cutter)
        cursor = psycopg.RawServerCursor(self._raw, CURSOR)
        try:
            # Without values too the protocol of parameters is used: one statement only.
            cursor.execute(_text(sql), list(values) or None)
        except (psycopg.Error, UnicodeError) as error:
            raise _failure(error) from error
        columns = tuple(
            ResultColumn(name=column.name, family=family_of(column.type_code))
            for column in cursor.description or ()
        )
        return columns, self._streamed(most)

    def _streamed(self, most: int) -> Iterator[tuple[Cell, ...]]:
        """Yield row by row as they come: what is held is one of them, however wide."""
        fetch = runner_sql.POSTGRES_FETCH % int(most)
        try:
            with self._raw.cursor() as cursor:
                yield from cursor.stream(fetch)
        except (psycopg.Error, UnicodeError) as error:
            raise _failure(error) from error

    def plan(self, sql: str, values: Sequence[Cell]) -> Plan:
        """Return the planner's cost and rows."""
        cursor = psycopg.RawCursor(self._raw)
        try:
            # Prepared, so that it is one statement.
            cursor.execute(
                _text(runner_sql.POSTGRES_EXPLAIN + sql),
                list(values) or None,
                prepare=True,
            )
            said = cursor.fetchone()
        except (psycopg.Error, UnicodeError) as error:
            raise _failure(error) from error
        plan = _top(said[0] if said else None)
        return Plan(cost=float(plan["Total Cost"]), rows=int(plan["Plan Rows"]))

    def interrupt(self, seconds: float) -> None:
        """Cancel by a connection of its own; a server that is away is left alone."""
        with suppress(psycopg.Error, OSError):
            self._raw.cancel_safe(timeout=seconds)

    def end(self) -> None:
        with suppress(psycopg.Error, OSError):
            if (
                self._raw.info.transaction_status
                == psycopg.pq.TransactionStatus.INTRANS
            ):
                self._raw.execute("ROLLBACK")
        with suppress(psycopg.Error, OSError):
            self._raw.close()
        self.wire.close()


def _text(sql: str) -> bytes:
    return sql.encode()


def _top(said: Any) -> dict[str, Any]:
    """Return the uppermost node of a plan in JSON, as text or already read."""
    try:
        document = json.loads(said) if isinstance(said, str) else said
        plan: dict[str, Any] = document[0]["Plan"]
    except (TypeError, ValueError, LookupError) as error:
        raise RunFailed("It has no plan: only a query can be explained.") from error
    return plan


def _failure(error: Exception) -> RunFailed | TimedOut:
    """Return what a person or a model may be told of an error of the driver's."""
    if isinstance(error, UnicodeError):
        return RunFailed("The statement holds characters that cannot be sent.")
    if isinstance(error, psycopg.errors.QueryCanceled):
        return TimedOut("The database ended the statement, for it took too long.")
    diagnosis = error.diag if isinstance(error, psycopg.Error) else None
    is_lost = isinstance(error, psycopg.OperationalError) and (
        diagnosis is None
        or diagnosis.sqlstate is None
        or diagnosis.sqlstate.startswith(("57P", "08"))
    )
    if is_lost or diagnosis is None:
        return Lost("The database ended the connection while it worked. Try again.")
    said = (diagnosis.message_primary or str(error), diagnosis.message_hint)
    return RunFailed(trimmed(" ".join(part for part in said if part)))
