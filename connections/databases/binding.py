"""Values into the places of a statement: as literals of the server's own making."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from connections.databases.base import Cell
from connections.databases.failures import RunFailed


def bound(sql: str, values: Sequence[Cell], literal: Callable[[Cell], str]) -> str:
    """Return MySQL's `sql` with each `?` replaced by the literal of its value.

    Question marks in texts, names and comments are none; raises `RunFailed` where there
    are not as many places as values.
    """
    if not values:
        return sql
    try:
        tokens = Dialect.get_or_raise("mysql").tokenize(sql)
    except SqlglotError as error:
        raise RunFailed("The statement cannot be read.") from error
    places = [t.start for t in tokens if t.token_type == TokenType.PLACEHOLDER]
    if len(places) != len(values):
        raise RunFailed(
            f"The statement has {len(places)} places for values; {len(values)} came."
        )
    pieces, before = [], 0
    for place, value in zip(places, values, strict=True):
        pieces += [sql[before:place], literal(value)]
        before = place + 1
    return "".join([*pieces, sql[before:]])
