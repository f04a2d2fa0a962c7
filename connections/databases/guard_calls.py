"""Calls: by allow-list, and with bounds where one makes many rows or long texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from sqlglot import exp

from connections.databases.guard_functions import FUNCTIONS, LENGTHENING
from connections.databases.guard_rules import refuse
from connections.databases.guard_scopes import Statement

LENGTH = 10_000
SERIES = 100_000
GROWING = frozenset((*LENGTHENING, "replace", "regexp_replace"))
_STEP = re.compile(r"\s*([1-9]\d{0,3})\s*(hour|day|week|month|quarter|year)s?\s*", re.I)
_DAYS = {"hour": 1 / 24, "day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)( \d\d:\d\d(:\d\d)?)?")
# A bound may be reckoned from today; so far back or ahead is enough for a calendar.
_SPAN = re.compile(r"\d{1,4}(\s*[a-z]+)?", re.I)


def check_call(statement: Statement, call: exp.Anonymous) -> str:
    """Return the lower-cased name of a call that is allowed, and within bounds."""
    name = _name(statement, call)
    if name not in FUNCTIONS[statement.schema.flavour]:
        refuse("function", f"The function {name[:60]}() is not allowed here.")
    if name == "generate_series" and series_rows(call) is None:
        refuse(
            "argument",
            "generate_series takes plain numbers, or dates and a step of an hour or"
            f" more, for at most {SERIES} rows.",
        )
    if name in GROWING:
        _check_growth(name, call)
    return name


def _name(statement: Statement, call: exp.Anonymous) -> str:
    said = call.this
    name = str(said.this if isinstance(said, exp.Identifier) else said)
    lowered = name.lower()
    if isinstance(said, exp.Identifier):
        if statement.is_postgres and name != lowered:
            refuse("function", f'The function "{name[:60]}" is not allowed here.')
        call.set("this", lowered)
    return lowered


def _check_growth(name: str, call: exp.Anonymous) -> None:
    args = call.expressions
    grows = True
    if name in LENGTHENING:
        place = LENGTHENING[name]
        length = _number(args[place]) if len(args) > place else None
        if length is None or length > LENGTH:
            refuse("argument", f"{name}() takes a plain length up to {LENGTH}.")
    else:
        grows = len(args) < 3 or _grows(args[1], args[2])
    if grows and any(_calls(arg) for arg in args):
        refuse("argument", f"{name}() may not lengthen what was lengthened already.")


def _grows(pattern: exp.Expr, replacement: exp.Expr) -> bool:
    plain = isinstance(pattern, exp.Literal) and isinstance(replacement, exp.Literal)
    return not plain or len(replacement.name) > max(1, len(pattern.name))


def _calls(node: exp.Expr) -> Iterator[exp.Expr] | bool:
    return any(
        str(call.name).lower() in GROWING for call in node.find_all(exp.Anonymous)
    )


def _number(node: exp.Expr | None) -> int | None:
    if isinstance(node, exp.Neg):
        inner = _number(node.this)
        return None if inner is None else -inner
    if isinstance(node, exp.Literal) and not node.is_string:
        return int(node.name) if node.name.isdecimal() else None
    return None


def series_rows(call: exp.Expr) -> int | None:
    """Return how many rows a function in FROM gives; None where it may be many."""
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "generate_series":
        return None
    args = call.expressions
    if len(args) not in (2, 3):
        return None
    start, stop = _number(args[0]), _number(args[1])
    step = _number(args[2]) if len(args) == 3 else 1
    if start is not None and stop is not None:
        rows = abs(stop - start) // abs(step) + 1 if step else None
    else:
        rows = _dates(args) if len(args) == 3 else None
    return rows if rows is not None and rows <= SERIES else None


def _dates(args: list[exp.Expr]) -> int | None:
    step = _step(args[2])
    if step is None:
        return None
    first, last = (_date(one) for one in args[:2])
    if first is not None and last is not None:
        return int(abs((last - first).days) / step) + 2
    if step < 1 or not all(map(_is_calendar, args[:2])):
        return None
    return SMALL_CALENDAR


# Rows that a calendar between days of the data may have: some decades of days.
SMALL_CALENDAR = 20_000


def _step(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Cast):
        node = node.this
    said = node.name
    if isinstance(node, exp.Interval):
        unit = node.args.get("unit")
        said = f"{node.this.name} {unit.name}" if unit is not None else node.this.name
    matched = _STEP.fullmatch(said)
    return int(matched[1]) * _DAYS[matched[2].lower()] if matched else None


def _date(node: exp.Expr) -> date | None:
    while isinstance(node, exp.Cast | exp.Paren):
        node = node.this
    matched = _DATE.fullmatch(node.name) if isinstance(node, exp.Literal) else None
    try:
        return date(*map(int, matched.group(1, 2, 3))) if matched else None
    except ValueError:
        return None


def _is_calendar(node: exp.Expr) -> bool:
    """Tell whether a bound is a day near ours, or one of the data."""
    for literal in node.find_all(exp.Literal):
        parent = literal.parent
        if isinstance(parent, exp.Anonymous) and literal.is_string:
            continue  # the unit of date_trunc
        if not _DATE.fullmatch(literal.name) and not _SPAN.fullmatch(literal.name):
            return False
    return not node.find(exp.Mul, exp.Pow)
