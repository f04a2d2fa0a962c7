"""One statement on MySQL or MariaDB, in a transaction that can only read.

There is no `DECLARE` here: that the text is a query, and nothing else, is proven by the
server itself, which is asked to explain `EXISTS (text)` first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from connections.databases import runner_sql
from connections.databases.base import Cell, DatabaseError, ResultColumn
from connections.databases.binding import bound
from connections.databases.caps import Cutter
from connections.databases.cells_mysql import converters, family_of
from connections.databases.connecting import Opened, open_connection
from connections.databases.failures import Lost, RunFailed, TimedOut, trimmed
from connections.databases.session import LOCK_SECONDS, SERVER_LATER_SECONDS, Plan
from connections.databases.wire import Wire
from connections.models import Database

# Killed by us or an administrator, gone away, lost in the middle, killed (MariaDB).
GONE = (1053, 1317, 1927, 2006, 2013, 2055, 4031)
TOOK_TOO_LONG = (1969, 3024)
# A column of EXPLAIN, where the server says how many rows it looks at.
ROWS_COLUMN, ID_COLUMN = "rows", "id"


class MysqlSession:
    """A session of one statement; see `Session`."""

    def __init__(self, opened: Opened, database: Database) -> None:
        self._raw = opened.raw
        self._database = database
        self._is_mariadb = opened.flavour == "mariadb"
        self._thread = int(self._raw.thread_id())
        self._is_drained = True
        # Kept until the end: a result that is let go of reads all that is left of it.
        self._result: Any = None
        self.wire = Wire(self._raw.fileno())

    def seal(self, seconds: float) -> bool:
        """Begin reading only; return whether the login has the privilege SUPER."""
        later = seconds + SERVER_LATER_SECONDS
        values = {
            "lock": LOCK_SECONDS,
            "seconds": f"{later:.3f}",
            "milliseconds": math.ceil(later * 1000),
        }
        for statement in (*runner_sql.MYSQL_SEAL, *self._of_flavour()):
            self._send(statement % values)
        for statement in runner_sql.MYSQL_BEGIN:
            self._send(statement)
        (row,) = self._send(runner_sql.MYSQL_SELF)
        # Behind a proxy it is not the one that the greeting named.
        self._thread = int(row[0])
        return bool(row[1])

    def _of_flavour(self) -> tuple[str, ...]:
        if self._is_mariadb:
            return (runner_sql.MARIADB_TIMEOUT,)
        return (runner_sql.MYSQL_TIMEOUT, runner_sql.MYSQL_MODE_GROUPS)

    def rows(
        self, sql: str, values: Sequence[Cell], cutter: Cutter, most: int
    ) -> tuple[tuple[ResultColumn, ...], Iterator[tuple[Cell, ...]]]:
        """Prove that it is a query, send it, return its columns and a stream of rows."""
        text = bound(sql, values, self._literal)
        self._prove(text)
        self._raw.converter = converters(cutter)
        self._is_drained = False
        try:
            self._raw.query(text.encode())
            result = self._result = self._raw.use_result()
        except _errors() as error:
            raise _failure(error) from error
        if result is None:
            raise RunFailed("The statement gives no rows: only queries are run.")
        columns = tuple(
            ResultColumn(name=_name(about[0]), family=family_of(about[1], how, cutter))
            for about, how in zip(result.describe(), result.converter, strict=True)
        )
        return columns, self._streamed(result, most)

    def _prove(self, text: str) -> None:
        """Raise `RunFailed` where the text is no query, or one that writes a file."""
        before, after = runner_sql.MYSQL_PROBE
        self._send(before + text + after)

    def _streamed(self, result: Any, most: int) -> Iterator[tuple[Cell, ...]]:
        left = most
        try:
            # One by one: a block of wide rows is more than may be held at once.
            while left > 0 and (block := result.fetch_row(1, 0)):
                left -= 1
                yield from block
            # Nothing came although more was asked for: that was all.
            self._is_drained = left > 0
        except _errors() as error:
            raise _failure(error) from error

    def plan(self, sql: str, values: Sequence[Cell]) -> Plan:
        """Return the rows that the server expects to look at; it tells no cost."""
        text = bound(sql, values, self._literal)
        self._prove(text)
        cursor = self._raw.cursor()
        try:
            cursor.execute(runner_sql.MYSQL_EXPLAIN + text)
            names = [about[0] for about in cursor.description]
            found = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except _errors() as error:
            raise _failure(error) from error
        finally:
            cursor.close()
        return Plan(cost=None, rows=_rows_of(found))

    def interrupt(self, seconds: float) -> None:
        """Kill the connection by another one: a busy server heeds nothing less."""
        with suppress(DatabaseError, *_errors()):
            killer = open_connection(self._database, seconds=seconds)
            try:
                killer.read(runner_sql.MYSQL_KILL % {"thread": self._thread})
            finally:
                killer.close()

    def end(self) -> None:
        if not self._is_drained:
            self.wire.cut()
        self._result = None
        with suppress(*_errors()):
            self._raw.close()
        self.wire.close()

    def _send(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        cursor = self._raw.cursor()
        try:
            cursor.execute(statement)
            rows: tuple[tuple[Any, ...], ...] = cursor.fetchall()
        except _errors() as error:
            raise _failure(error) from error
        finally:
            cursor.close()
        return rows

    def _literal(self, value: Cell) -> str:
        known = str(value) if isinstance(value, UUID) else value
        literal: bytes = self._raw.literal(known)
        return literal.decode("utf-8", "surrogateescape")


def _errors() -> tuple[type[Exception], ...]:
    # Built where its system library is; without it PostgreSQL works all the same.
    import MySQLdb

    return (MySQLdb.Error, UnicodeError)


def _name(raw: object) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def _rows_of(explained: Sequence[Mapping[str, Any]]) -> int:
    """Return the rows of the largest part: tables of one part are joined."""
    parts: dict[object, int] = {}
    for line in explained:
        rows = int(line.get(ROWS_COLUMN) or 1)
        key = line.get(ID_COLUMN)
        parts[key] = parts.get(key, 1) * rows
    return max(parts.values(), default=0)


def _failure(error: Exception) -> RunFailed | TimedOut:
    """Return what a person or a model may be told of an error of the driver's."""
    if isinstance(error, UnicodeError):
        return RunFailed("The statement holds characters that cannot be sent.")
    code = error.args[0] if error.args else 0
    if code in TOOK_TOO_LONG:
        return TimedOut("The database ended the statement, for it took too long.")
    if code in GONE or not isinstance(code, int) or code == 0:
        return Lost("The database ended the connection while it worked. Try again.")
    return RunFailed(trimmed(str(error.args[-1])))
