"""Literals of a statement that its columns do not hold, and what they do hold instead.

`'Open'` finds nothing where the column says `open`. Only columns whose values are known
are looked at; what people may not see is never suggested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from connections.databases.base import Column, Rows, Schema, Table
from memory.sql.context import values_of
from memory.sql.words import similarity

NEAR = 0.45
SUGGESTED = 3


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A literal that its column does not hold, and the nearest values that it does."""

    column: str
    said: str
    near: tuple[str, ...]

    @property
    def is_sure(self) -> bool:
        """Return whether one value is so near that it must be meant."""
        same = [n for n in self.near if n.casefold() == self.said.casefold()]
        return len(same) == 1 or len(self.near) == 1


def is_empty(rows: Rows) -> bool:
    """Return whether nothing was found: no rows, or one of nothing but 0 and NULL."""
    if len(rows.rows) > 1:
        return False
    return all(cell is None or cell == 0 for row in rows.rows for cell in row)


def suggestions(sql: str, schema: Schema) -> list[Suggestion]:
    """Return the literals that conditions of `sql` compare known columns with in vain."""
    found: list[Suggestion] = []
    if (tree := _parsed(sql, schema)) is None:
        return found
    for column, literal in _compared(tree):
        known = _column(tree, column, schema)
        if known is None or not (values := values_of(known)):
            continue
        said = literal.name
        if said in values:
            continue
        if near := _near(said, values):
            found.append(Suggestion(known.name, said, near))
    return list(dict.fromkeys(found))


def corrected(sql: str, schema: Schema, meant: Mapping[tuple[str, str], str]) -> str:
    """Return `sql` with the literals of `meant`, (column, said) -> value, replaced."""
    tree = _parsed(sql, schema)
    if tree is None:
        return sql
    for column, literal in list(_compared(tree)):
        known = _column(tree, column, schema)
        value = meant.get((known.name, literal.name)) if known else None
        if value is not None:
            literal.replace(exp.Literal.string(value))
    return tree.sql(dialect=schema.dialect, comments=False)


def _parsed(sql: str, schema: Schema) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(sql, read=schema.dialect)
    except SqlglotError:
        return None


def _compared(tree: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Yield each column with the text that it is compared with for equality."""
    for one in tree.find_all(exp.EQ, exp.In):
        if isinstance(one, exp.EQ):
            pairs = [(one.this, one.expression), (one.expression, one.this)]
        else:
            pairs = [(one.this, each) for each in one.expressions]
        for column, literal in pairs:
            literal = literal.this if isinstance(literal, exp.Cast) else literal
            is_text = isinstance(literal, exp.Literal) and literal.is_string
            if isinstance(column, exp.Column) and is_text:
                yield column, literal


def _column(tree: exp.Expr, column: exp.Column, schema: Schema) -> Column | None:
    """Return what the schema knows of a column; None where two tables may be meant."""
    tables = [
        known
        for named in tree.find_all(exp.Table)
        if column.table in ("", named.alias_or_name)
        and (known := _table(named, schema))
    ]
    held = [t.by_name[column.name] for t in tables if column.name in t.by_name]
    return held[0] if len({id(one) for one in held}) == 1 else None


def _table(named: exp.Table, schema: Schema) -> Table | None:
    return schema.by_path.get((named.db or schema.default_schema, named.name))


def _near(said: str, values: tuple[str, ...]) -> tuple[str, ...]:
    same = [value for value in values if value.casefold() == said.casefold()]
    if same:
        return tuple(same)
    ranked = sorted(values, key=lambda value: (-similarity(said, value), value))
    return tuple(v for v in ranked[:SUGGESTED] if similarity(said, v) >= NEAR)
