"""What names mean where: sources of rows, their columns, and scopes inside each other."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NoReturn, TypeAlias

from sqlglot import exp

from connections.databases.base import Exposure, Schema
from connections.databases.guard_rules import refuse

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
NAME_BYTES = 63  # PostgreSQL cuts longer names, so that two could become one
SHOWN = 12


@dataclass(frozen=True, slots=True)
class Output:
    """A column that a source or a query gives; without a name nothing can refer to it."""

    name: str
    exposure: Exposure = "visible"
    path: str = ""


@dataclass(slots=True, eq=False)
class Source:
    """Something in FROM: its name there, and its columns by key; None where two share it.

    `rows` is how many it has at most, where that is known.
    """

    alias: str
    columns: dict[str, Output | None]
    rows: int | None = None
    schema: str = ""


@dataclass(slots=True, eq=False)
class Scope:
    """What the names in one SELECT mean; `parent` is the query around it."""

    parent: Scope | None
    ctes: Mapping[str, Source]
    sources: dict[str, Source] = field(default_factory=dict)
    merged: dict[str, exp.Expr] = field(default_factory=dict)
    # Inside ON, only the tables of that chain of joins.
    seen: frozenset[str] | None = None
    # Sources that the condition being read has named, and the figures it took.
    touched: set[str] = field(default_factory=set)
    related: list[frozenset[str]] = field(default_factory=list)
    figures: dict[str, exp.Expr] = field(default_factory=dict)
    figures_allowed: bool = False

    def local(self) -> Iterator[tuple[str, Source]]:
        """Yield the sources that may be named here, by key."""
        for key, source in self.sources.items():
            if self.seen is None or key in self.seen:
                yield key, source

    def relate(self) -> None:
        """Note that what was named since the last time stands in one condition."""
        if len(self.touched) > 1:
            self.related.append(frozenset(self.touched))
        self.touched.clear()


ReadQuery: TypeAlias = Callable[
    ["Statement", exp.Expr, "Scope | None", Mapping[str, Source]], list[Output]
]


@dataclass(slots=True, eq=False)
class Statement:
    """One statement on its way through the guard, and what it was seen to use."""

    schema: Schema
    read_query: ReadQuery
    values: int = 0
    tables: dict[str, None] = field(default_factory=dict)
    columns: dict[str, None] = field(default_factory=dict)
    # Names that a list of columns in brackets may follow.
    listed: set[str] = field(default_factory=set)
    depth: int = 0

    @property
    def is_postgres(self) -> bool:
        return self.schema.flavour == "postgres"

    def key(self, name: str) -> str:
        """Return what a canonical name is compared by."""
        return name if self.is_postgres else name.lower()

    def canonical(self, identifier: exp.Expr) -> str:
        """Return the name as the server takes it, and write it so that it stays."""
        name = str(identifier.this)
        if self.is_postgres and not identifier.args.get("quoted"):
            name = name.translate(_LOWER)
        identifier.set("this", name)
        identifier.set("quoted", True)
        return name

    def new_name(self, identifier: exp.Expr) -> str:
        """Return a name that the statement gives; odd ones are refused."""
        name = self.canonical(identifier)
        plain = name.isprintable() and not set(name) & set('"`\\')
        if not plain or not name.strip() or len(name.encode()) > NAME_BYTES:
            refuse(
                "name",
                f"The name {name[:40]!r} is empty, too long or has odd characters; "
                f"use at most {NAME_BYTES} plain ones.",
            )
        return name


def columns_of(statement: Statement, outputs: list[Output]) -> dict[str, Output | None]:
    """Return outputs by key; what two share stands for neither."""
    found: dict[str, Output | None] = {}
    for output in outputs:
        if output.name:
            key = statement.key(output.name)
            found[key] = None if key in found else output
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """A column, where it comes from, and how many queries further out that is."""

    output: Output
    source: Source
    scope: Scope
    key: str
    away: int


def find_column(
    statement: Statement, column: exp.Column, scope: Scope
) -> Found | exp.Expr:
    """Return what a column names; for one that a join merged, what to write for it."""
    name = statement.canonical(column.this)
    if column.args.get("catalog"):
        refuse("table", "Names of three parts are not allowed; leave out the database.")
    if column.args.get("table"):
        return _find_qualified(statement, column, name, scope)
    return _find_bare(statement, name, scope)


def _find_qualified(
    statement: Statement, column: exp.Column, name: str, scope: Scope
) -> Found:
    alias = statement.canonical(column.args["table"])
    schema = column.args.get("db")
    in_schema = statement.canonical(schema) if schema else ""
    key, away = statement.key(alias), 0
    looked: Scope | None = scope
    while looked is not None:
        source = dict(looked.local()).get(key)
        if source is not None:
            if in_schema and statement.key(source.schema) != statement.key(in_schema):
                refuse("table", f"{in_schema}.{alias} is not among the tables in FROM.")
            output = source.columns.get(statement.key(name))
            if output is None:
                _unknown(statement, name, {key: source})
            return _unshadowed(Found(output, source, looked, key, away), scope)
        looked, away = looked.parent, away + 1
    refuse(
        "column", f"{alias}.{name}: there is no table or alias {alias} in FROM here."
    )


def _find_bare(statement: Statement, name: str, scope: Scope) -> Found | exp.Expr:
    wanted, away = statement.key(name), 0
    looked: Scope | None = scope
    while looked is not None:
        if looked.seen is None and wanted in looked.merged:
            return looked.merged[wanted].copy()
        holding = [
            (key, source) for key, source in looked.local() if wanted in source.columns
        ]
        if len(holding) > 1:
            among = " and ".join(source.alias for _, source in holding)
            refuse("name", f"{name} is in {among}: write which, as table.column.")
        if holding:
            key, source = holding[0]
            output = source.columns[wanted]
            if output is None:
                refuse("name", f"{source.alias} has two columns {name}: name one anew.")
            return _unshadowed(Found(output, source, looked, key, away), scope)
        looked, away = looked.parent, away + 1
    if any(wanted in one.sources for one in _outward(scope)):
        refuse(
            "whole-row",
            f"{name} is a table, not a column: name the columns that are wanted.",
        )
    _unknown(statement, name, scope.sources)


def _unshadowed(found: Found, scope: Scope) -> Found:
    """Refuse a column of an outer table whose alias means another table here.

    Written with its alias it would be read from that one, hidden columns and all.
    """
    for nearer in _outward(scope):
        if nearer is found.scope:
            return found
        if found.key in nearer.sources:
            break
    refuse("name", f"Two tables are called {found.source.alias}: give one an alias.")


def _outward(scope: Scope | None) -> Iterator[Scope]:
    while scope is not None:
        yield scope
        scope = scope.parent


def _unknown(
    statement: Statement, name: str, sources: Mapping[str, Source]
) -> NoReturn:
    known = list(
        dict.fromkeys(
            output.name
            for output in chain.from_iterable(
                s.columns.values() for s in sources.values()
            )
            if output is not None
        )
    )
    alike = [one for one in known if one.lower() == name.lower() and one != name]
    if alike and statement.is_postgres:
        refuse("column", f'Write "{alike[0]}" in double quotes: its case matters.')
    there = ", ".join(known[:SHOWN]) + (" and more" if len(known) > SHOWN else "")
    refuse(
        "column",
        f"There is no column {name[:80]} that may be used; there are: {there or 'none'}.",
    )
