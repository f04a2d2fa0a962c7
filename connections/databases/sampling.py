"""Values of text columns that have few, read through a bounded sample of each table.

A statement a table, in a read-only transaction with a time limit; the server counts,
and at most `MOST_VALUES` short values a column come back. What runs out of time is left
for the next run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from connections.databases.base import DatabaseError
from connections.databases.connecting import Opened
from connections.databases.driver_errors import driver_errors
from connections.databases.found import FoundTable
from connections.databases.personal import (
    Looks,
    is_personal,
    is_secret,
    looks_by_values,
)

SAMPLE_ROWS = 5000
MOST_VALUES = 200
MOST_CHARACTERS = 100
# A statement lists every column twice: wide tables are read in several.
COLUMNS_AT_ONCE = 50
STATEMENT_SECONDS = 1.0
LOCK_SECONDS = 0.5

_POSTGRES = """
    WITH drawn ({names}) AS MATERIALIZED (
        SELECT {columns} FROM {table} t {method} LIMIT {rows}
    )
    SELECT -1 AS place, pg_catalog.count(*)::pg_catalog.text AS said FROM drawn
    {each}
"""
_POSTGRES_EACH = """
    UNION ALL (SELECT {place}, d.{name} FROM drawn d WHERE d.{name} <> ''
                GROUP BY d.{name} ORDER BY pg_catalog.count(*) DESC, d.{name}
                LIMIT {most})
"""
_POSTGRES_COLUMN = 'pg_catalog.left(t.{column}::pg_catalog.text, {length}) COLLATE "C"'
# MariaDB would read a named subquery once for every use: each column has its own.
_MYSQL = """
    SELECT -1 AS place, CAST(COUNT(*) AS CHAR) AS said
      FROM (SELECT 1 FROM {table} t LIMIT {rows}) drawn
    {each}
"""
_MYSQL_EACH = """
    UNION ALL (SELECT {place}, d.said FROM (
                   SELECT CONVERT(LEFT(t.{column}, {length}) USING utf8mb4)
                          COLLATE utf8mb4_bin AS said
                     FROM {table} t LIMIT {rows}) d
                WHERE d.said <> '' GROUP BY d.said
                ORDER BY COUNT(*) DESC, d.said LIMIT {most})
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A table, and the text columns of it whose values are wanted."""

    table: FoundTable
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnSample:
    """The values of a column, the most frequent first; none where there are many.

    `complete` says that the column holds no others. `looks` is what they look like:
    then there are none either.
    """

    values: tuple[str, ...] = ()
    complete: bool = False
    looks: Looks = ""


@dataclass(slots=True)
class Sampled:
    """What was sampled, by table and column; an empty mapping where a table could not
    be read in time. `waiting` are tables that time did not suffice for."""

    tables: dict[tuple[str, str], Mapping[str, ColumnSample]] = field(
        default_factory=dict
    )
    waiting: int = 0


def sample(opened: Opened, wanted: Sequence[Wanted], *, seconds: float) -> Sampled:
    """Return the samples of `wanted`, in order, until `seconds` are over."""
    end, result = time.monotonic() + seconds, Sampled()
    with _read_only(opened):
        for place, one in enumerate(wanted):
            left = end - time.monotonic()
            if left <= 0.01:
                result.waiting = len(wanted) - place
                break
            result.tables[one.table.path] = _sample_table(opened, one, left)
    return result


@contextmanager
def _read_only(opened: Opened) -> Iterator[None]:
    """Keep whatever is read from writing, and from waiting for others' locks."""
    _begin(opened)
    try:
        yield
    finally:
        _run(opened, "ROLLBACK")


def _begin(opened: Opened) -> None:
    if opened.flavour == "postgres":
        _run(opened, "BEGIN READ ONLY")
        _run(opened, f"SET LOCAL statement_timeout = {int(STATEMENT_SECONDS * 1000)}")
        _run(opened, f"SET LOCAL lock_timeout = {int(LOCK_SECONDS * 1000)}")
        return
    if opened.flavour == "mariadb":
        _run(opened, f"SET SESSION max_statement_time = {STATEMENT_SECONDS}")
    else:
        limit = int(STATEMENT_SECONDS * 1000)
        _run(opened, f"SET SESSION max_execution_time = {limit}")
    _run(opened, "SET SESSION lock_wait_timeout = 1")
    _run(opened, "START TRANSACTION READ ONLY")


def _run(opened: Opened, statement: str) -> None:
    cursor = opened.raw.cursor()
    try:
        cursor.execute(statement)
    finally:
        cursor.close()


def _sample_table(
    opened: Opened, wanted: Wanted, left: float
) -> Mapping[str, ColumnSample]:
    """Return the samples of its columns; none where it took too long or failed."""
    found: dict[str, ColumnSample] = {}
    try:
        if left < STATEMENT_SECONDS and opened.flavour == "postgres":
            _run(opened, f"SET LOCAL statement_timeout = {max(1, int(left * 1000))}")
        for start in range(0, len(wanted.columns), COLUMNS_AT_ONCE):
            columns = wanted.columns[start : start + COLUMNS_AT_ONCE]
            rows = opened.read(statement_of(opened.flavour, wanted.table, columns))
            found |= _samples(wanted.table, columns, rows)
    except driver_errors(opened.flavour):
        # A table that is locked, slow or not to be read after all says nothing; one
        # whose connection broke says it again at the next statement.
        _start_again(opened)
        return {}
    return found


def _start_again(opened: Opened) -> None:
    try:
        _run(opened, "ROLLBACK")
        _begin(opened)
    except driver_errors(opened.flavour) as error:
        raise DatabaseError(
            "The connection broke while values were sampled; discover it again."
        ) from error


def statement_of(flavour: str, table: FoundTable, columns: Sequence[str]) -> str:
    """Return the statement that samples `columns`: pairs of a place and a value."""
    mark = '"' if flavour == "postgres" else "`"
    path = f"{_quoted(table.schema, mark)}.{_quoted(table.name, mark)}"
    names = [_quoted(column, mark) for column in columns]
    length, most = MOST_CHARACTERS + 1, MOST_VALUES + 1
    if flavour != "postgres":
        each = "".join(
            _MYSQL_EACH.format(
                place=place, column=name, table=path, rows=SAMPLE_ROWS, length=length,
                most=most,
            )
            for place, name in enumerate(names)
        )  # fmt: skip
        return _MYSQL.format(table=path, rows=SAMPLE_ROWS, each=each)
    drawn = [f"c{place}" for place in range(len(names))]
    return _POSTGRES.format(
        names=", ".join(drawn),
        columns=", ".join(
            _POSTGRES_COLUMN.format(column=name, length=length) for name in names
        ),
        table=path,
        method=_method(table),
        rows=SAMPLE_ROWS,
        each="".join(
            _POSTGRES_EACH.format(place=place, name=name, most=most)
            for place, name in enumerate(drawn)
        ),
    )


def _is_drawn(table: FoundTable) -> bool:
    """Return whether pages are drawn by lot: of large tables, the first are the old."""
    is_stored = table.kind in ("table", "materialized view")
    return is_stored and table.rows > 2 * SAMPLE_ROWS


def _method(table: FoundTable) -> str:
    if not _is_drawn(table):
        return ""
    # Twice as much as is kept, for pages are not equally full.
    share = min(100.0, 100.0 * 2 * SAMPLE_ROWS / table.rows)
    return f"TABLESAMPLE SYSTEM ({share:.6f})"


def _quoted(name: str, mark: str) -> str:
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def _samples(
    table: FoundTable, columns: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> dict[str, ColumnSample]:
    values: dict[int, list[str]] = {place: [] for place in range(len(columns))}
    read = 0
    for place, said in rows:
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        if int(str(place)) < 0:
            read = int(text)
        else:
            values[int(str(place))].append(text)
    is_whole = read < SAMPLE_ROWS and not _is_drawn(table)
    return {
        name: judged(values[place], is_whole=is_whole)
        for place, name in enumerate(columns)
    }


def judged(values: Sequence[str], *, is_whole: bool) -> ColumnSample:
    """Return what may be kept of a column's values, and what they look like.

    A value that is secret or personal by itself is never kept, also among others.
    """
    looks = looks_by_values(values)
    if looks or len(values) > MOST_VALUES:
        return ColumnSample(looks=looks)
    if any(len(value) > MOST_CHARACTERS for value in values):
        return ColumnSample()
    kept = tuple(
        value
        for value in values
        if "\x00" not in value and not is_secret(value) and not is_personal(value)
    )
    return ColumnSample(kept, complete=is_whole and len(kept) == len(values))
