"""A statement kept to names from elsewhere: as placeholders, never as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from connections.databases.base import Cell, Column, Rows, Schema

# Of a column of names most values differ, and begin with a capital.
DISTINCT, CAPITALS, LONGEST = 0.8, 0.5, 120
_NAMING = ("name", "title", "titel")


def name_place(rows: Rows) -> int | None:
    """Return the place of the column whose values look like names; None without one.

    One that is called so goes first, then the first from the left.
    """
    looks = [
        place
        for place, column in enumerate(rows.columns)
        if column.family == "text" and _are_names([row[place] for row in rows.rows])
    ]
    called = [p for p in looks if _is_naming(rows.columns[p].name)]
    return next(iter((*called, *looks)), None)


def _are_names(cells: Sequence[Cell]) -> bool:
    said = [cell.strip() for cell in cells if isinstance(cell, str) and cell.strip()]
    if not said or any("@" in text or "://" in text for text in said):
        return False
    capitals = sum(text[0].isupper() for text in said)
    return (
        len(set(said)) >= DISTINCT * len(said)
        and capitals >= CAPITALS * len(said)
        and all(len(text) <= LONGEST for text in said)
    )


def _is_naming(name: str) -> bool:
    return any(word in name.casefold() for word in _NAMING)


def kept_to_names(sql: str, schema: Schema, rows: Rows, count: int) -> str | None:
    """Return `sql` kept to rows whose name is one of `count` placeholders (`?`).

    The column is the one of names that it shows, else one that is called so in the
    tables it reads; None where there is none.
    """
    try:
        tree = sqlglot.parse_one(sql, read=schema.dialect)
    except SqlglotError:
        return None
    if not isinstance(tree, exp.Select):
        return None
    column = _shown(tree, rows) or next(_called(tree, schema), None)
    if column is None:
        return None
    places = [exp.Placeholder(jdbc=True) for _ in range(count)]
    kept = tree.where(exp.In(this=column.copy(), expressions=places), copy=False)
    return kept.sql(dialect=schema.dialect, comments=False)


def _shown(tree: exp.Select, rows: Rows) -> exp.Column | None:
    place = name_place(rows)
    if place is None or place >= len(tree.selects):
        return None
    shown = tree.selects[place].unalias()
    return shown if isinstance(shown, exp.Column) else None


def _called(tree: exp.Select, schema: Schema) -> Iterator[exp.Column]:
    """Yield the columns of names of the tables that the statement itself reads."""
    read = [
        tree.args.get("from") or tree.args.get("from_"),
        *tree.args.get("joins", ()),
    ]
    for source in read:
        named = source.this if source else None
        if not isinstance(named, exp.Table):
            continue
        table = schema.by_path.get((named.db or schema.default_schema, named.name))
        for column in table.columns if table else ():
            if _is_name_column(column):
                yield exp.column(
                    exp.to_identifier(column.name, quoted=True),
                    table=exp.to_identifier(named.alias_or_name, quoted=True),
                )


def _is_name_column(column: Column) -> bool:
    is_open = column.exposure == "visible" and column.family == "text"
    return is_open and _is_naming(column.name)
