"""The tables that may be asked, as a page lists and searches them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.dialects import Dialect

from connections.databases.base import Column, ForeignKey, Schema, Table

TABLES_SHOWN, TABLES_OPENED = 60, 3
# What may stand in a statement without quotes: no capitals, which PostgreSQL folds.
_BARE = re.compile(r"[a-z_][a-z0-9_]*")
NOTES = {
    "masked": "masked: only a mask of each value is shown",
    "aggregate": "only in counts, sums and averages",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDatabaseColumn:
    """A column: how it is written in a statement, and what is known of it."""

    column: Column
    written: str
    note: str
    refers_to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDatabaseTable:
    """A table with its columns; `is_open` where the search was for something in it."""

    table: Table
    written: str
    columns: tuple[ShownDatabaseColumn, ...]
    is_open: bool
    # Its schema, where it must be said.
    schema: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSchema:
    """The tables that a search found: the first of them, and how many there are."""

    tables: tuple[ShownDatabaseTable, ...]
    found: int
    total: int
    find: str

    @property
    def more(self) -> int:
        return self.found - len(self.tables)


def shown_schema(schema: Schema, find: str = "") -> ShownSchema:
    """Return the tables in which every word of `find` occurs, by name.

    A word may be of the table's name or comment, or of one of its columns'.
    """
    words = find.lower().split()
    found = [table for table in schema.tables if _has(table, words)]
    # Whose name has the words comes before those with a column that has them.
    found.sort(key=lambda table: (not _is_named(table, words), table.path.lower()))
    opens = len(found) <= TABLES_OPENED
    return ShownSchema(
        tables=tuple(
            _table(table, schema, is_open=opens or _in_columns(table, words))
            for table in found[:TABLES_SHOWN]
        ),
        found=len(found),
        total=len(schema.tables),
        find=find,
    )


def written(name: str, dialect: str) -> str:
    """Return an identifier as it is written in a statement, quoted where it must be.

    Any word that the dialect knows is quoted: one that needs none takes no harm.
    """
    words = Dialect.get_or_raise(dialect).tokenizer_class.KEYWORDS
    must = not _BARE.fullmatch(name) or name.upper() in words
    return exp.to_identifier(name, quoted=must).sql(dialect)


def _table(table: Table, schema: Schema, *, is_open: bool) -> ShownDatabaseTable:
    name = written(table.name, schema.dialect)
    is_near = table.schema == schema.default_schema
    if not is_near:
        name = f"{written(table.schema, schema.dialect)}.{name}"
    return ShownDatabaseTable(
        table=table,
        written=name,
        columns=tuple(_column(one, table, schema) for one in table.columns),
        is_open=is_open,
        schema="" if is_near else table.schema,
    )


def _column(column: Column, table: Table, schema: Schema) -> ShownDatabaseColumn:
    keys = (key for key in table.foreign_keys if column.name in key.columns)
    return ShownDatabaseColumn(
        column=column,
        written=written(column.name, schema.dialect),
        note=NOTES.get(column.exposure, ""),
        refers_to=", ".join(_target(key, column.name, schema) for key in keys),
    )


def _target(key: ForeignKey, column: str, schema: Schema) -> str:
    other = dict(zip(key.columns, key.target_columns, strict=False)).get(column, "")
    is_near = key.target_schema == schema.default_schema
    table = key.target_table if is_near else f"{key.target_schema}.{key.target_table}"
    return f"{table}.{other}" if other else table


def _has(table: Table, words: list[str]) -> bool:
    said = _said(table)
    return all(word in said for word in words)


def _is_named(table: Table, words: list[str]) -> bool:
    return all(word in table.path.lower() for word in words)


def _in_columns(table: Table, words: list[str]) -> bool:
    return bool(words) and not _is_named(table, words)


def _said(table: Table) -> str:
    columns = (f"{one.name} {one.comment}" for one in table.columns)
    return " ".join((table.path, table.comment, *columns)).lower()
