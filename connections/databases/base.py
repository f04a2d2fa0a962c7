"""What a database is to Fabric: its schema as far as it may be seen, and rows read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Literal, TypeAlias
from uuid import UUID

from connections.refusals import Refused

Cell: TypeAlias = (
    bool
    | int
    | float
    | Decimal
    | str
    | date
    | datetime
    | time
    | timedelta
    | UUID
    | bytes
    | None
)
# What a server speaks; MariaDB and MySQL share a dialect and differ in functions.
Flavour: TypeAlias = Literal["postgres", "mysql", "mariadb"]
DIALECTS: Mapping[Flavour, str] = {
    "postgres": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
}
# How the values of a column compare and add up, whatever its type is called.
Family: TypeAlias = Literal[
    "number", "text", "date", "time", "timestamp", "boolean", "json", "binary", "other"
]
# `masked`: only a mask of each value leaves; `aggregate`: only through aggregates.
Exposure: TypeAlias = Literal["visible", "masked", "aggregate"]


class DatabaseError(Refused):
    """A database that cannot do what was asked; the message says what to do."""

    code = "database_error"
    status_code = 502


class GuardRefused(Refused):
    """A statement that is not let through; `rule` names the rule it breaks."""

    code = "statement_refused"
    status_code = 422

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column that may be used; hidden ones are in no schema that is asked about."""

    name: str
    data_type: str
    family: Family
    nullable: bool = True
    comment: str = ""
    is_key: bool = False
    exposure: Exposure = "visible"
    # All values of an enumeration; else some of a column with few, never of masked ones.
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKey:
    """Columns of one table that name a row of another, pairwise."""

    name: str
    columns: tuple[str, ...]
    target_schema: str
    target_table: str
    target_columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table or view that may be used, with the columns that may."""

    schema: str
    name: str
    kind: Literal["table", "view"] = "table"
    comment: str = ""
    rows: int = 0
    columns: tuple[Column, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()

    @property
    def path(self) -> str:
        return f"{self.schema}.{self.name}"

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What may be asked of one database, and in which dialect.

    `default_schema` is where a bare name is looked up: PostgreSQL's `public` by
    default, MySQL's database. `namespace` of MySQL is its database.
    """

    flavour: Flavour
    version: str
    default_schema: str
    tables: tuple[Table, ...] = ()

    @property
    def dialect(self) -> str:
        """Return sqlglot's name of the dialect."""
        return DIALECTS[self.flavour]

    @cached_property
    def by_path(self) -> Mapping[tuple[str, str], Table]:
        return {(table.schema, table.name): table for table in self.tables}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A statement as the guard wrote it: only this text is ever sent.

    `limit` rows are asked for and one more, which tells that there are more. `masked`
    are the places (from 0) of the result's columns whose values are to be masked.
    """

    sql: str
    original: str
    limit: int
    tables: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    masked: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumn:
    """A column of a result: its name, and how its values behave."""

    name: str
    family: Family


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a statement gave: at most as many rows, bytes and characters as allowed.

    `truncated` says that there were more rows; `shortened` how many cells were cut.
    """

    sql: str
    columns: tuple[ResultColumn, ...]
    rows: Sequence[tuple[Cell, ...]]
    truncated: bool
    took_ms: float
    shortened: int = 0
    run: UUID | None = None
    warnings: tuple[str, ...] = field(default=())
