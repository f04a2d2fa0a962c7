"""Bounds of a statement: its size, its joins, and the rows it may ask for."""

from __future__ import annotations

from sqlglot import exp

from connections.databases.guard_rules import refuse
from connections.databases.guard_scopes import Scope

BYTES = 20_000
TOKENS = 4_000
BRACKETS = 40  # inside each other; more makes the parser slow, and people lost
JOINS = 15  # of one SELECT
SELECTS = 40  # of the whole statement
DEPTH = 10  # of queries in queries
SET_OPERATIONS = 20
CTES = 20
OFFSET = 100_000
ROWS = 1_000_000  # of a LIMIT inside the statement
# A table without a condition to the others is joined if it is known to be small.
SMALL_ROWS = 1_000
# How many rows a figure over a column for figures only must be made of.
SMALLEST_GROUP = 5


def check_related(scope: Scope) -> None:
    """Refuse tables in FROM that no condition relates, but small ones beside one large."""
    groups = [{key} for key in scope.sources]
    for related in scope.related:
        joined = [group for group in groups if group & related]
        groups = [group for group in groups if not group & related]
        groups.append(set().union(*joined))
    large = [group for group in groups if not _is_small(group, scope)]
    if len(large) > 1:
        first, second = (scope.sources[min(group)].alias for group in large[:2])
        refuse(
            "join",
            f"Nothing relates {first} to {second}: join them with a condition.",
        )


def _is_small(group: set[str], scope: Scope) -> bool:
    rows = 1
    for key in group:
        known = scope.sources[key].rows
        if known is None:
            return False
        rows *= max(1, known)
    return rows <= SMALL_ROWS


def check_limits(query: exp.Expr) -> None:
    """Refuse LIMIT and OFFSET but plain numbers; FETCH FIRST becomes LIMIT."""
    fetch = query.args.get("limit")
    if isinstance(fetch, exp.Fetch):
        query.set("limit", exp.Limit(expression=_fetched(fetch)))
    for name, most in (("limit", ROWS), ("offset", OFFSET)):
        node = query.args.get(name)
        if node is None:
            continue
        extra = [
            key for key, value in node.args.items() if value and key != "expression"
        ]
        if extra or _number(node.args.get("expression")) is None:
            refuse("limit", f"{name.upper()} takes a plain number.")
        if name == "offset" and (_number(node.expression) or 0) > most:
            refuse("limit", f"OFFSET may be {most} at most: filter instead.")


def _fetched(fetch: exp.Fetch) -> exp.Expr:
    options = fetch.args.get("limit_options")
    if options is not None and (
        options.args.get("percent") or options.args.get("with_ties")
    ):
        refuse("limit", "FETCH takes a plain number of rows, without ties or percent.")
    return fetch.args.get("count") or exp.Literal.number(1)


def _number(node: exp.Expr | None) -> int | None:
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal():
        return int(node.name)
    return None


def cap_rows(query: exp.Query, limit: int) -> None:
    """Let a query give at most `limit` rows and one more."""
    asked = query.args.get("limit")
    number = _number(asked.expression) if asked is not None else None
    most = limit + 1 if number is None else min(number, limit + 1)
    query.set("limit", exp.Limit(expression=exp.Literal.number(most)))
