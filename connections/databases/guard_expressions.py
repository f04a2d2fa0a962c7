"""Expressions: every construct is a known one, every name a column that may be used."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from sqlglot import exp

from connections.databases.guard_calls import LENGTH, check_call
from connections.databases.guard_functions import EXPRESSIONS, FIGURES, TYPES
from connections.databases.guard_rules import refuse
from connections.databases.guard_scopes import Found, Scope, Statement, find_column

# What may stand where an expression is read, beyond visible columns.
SHOWN = frozenset(("masked",))
_COUNTED = frozenset(("masked", "aggregate"))
_SUMMED = frozenset(("aggregate",))
_NOTHING: frozenset[str] = frozenset()
_PER_ROW = frozenset(("per row",))  # inside OVER or FILTER

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"\d[\d_]*(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?")
_COLLATION = re.compile(r"[A-Za-z0-9_@.-]+")
_CHAINS = (exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.DPipe)

Reader = Callable[[Statement, exp.Expr, Scope, frozenset[str]], None]


def read_condition(statement: Statement, node: exp.Expr, scope: Scope) -> None:
    """Read a condition, and note which tables each part of it relates."""
    scope.touched.clear()
    for part in _chained(node, exp.And):
        read_expression(statement, part, scope)
        scope.relate()


def read_expression(
    statement: Statement,
    node: exp.Expr,
    scope: Scope,
    allows: frozenset[str] = _NOTHING,
) -> None:
    """Check an expression with all inside it; its columns are written in full."""
    kind = type(node)
    if isinstance(node, exp.Select | exp.SetOperation):
        _read_query(statement, node, scope)
        return
    if kind not in EXPRESSIONS:
        refuse_construct(node)
    _READERS.get(kind, _read_children)(statement, node, scope, allows)


def _read_query(statement: Statement, node: exp.Expr, scope: Scope) -> None:
    outputs = statement.read_query(statement, node, scope, scope.ctes)
    holder = node.parent
    while isinstance(holder, exp.Subquery | exp.Paren):
        holder = holder.parent
    if isinstance(holder, exp.Exists):
        return
    for output in outputs:
        if output.exposure != "visible":
            refuse(
                "masked",
                f"{output.name} is masked: a subquery may not give it to compare.",
            )


def _read_children(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    if isinstance(node, _CHAINS):
        # Long chains are deep trees; they are read without going down each time.
        for part in _chained(node, type(node)):
            read_expression(statement, part, scope)
        return
    for value in node.args.values():
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, exp.Expr):
                read_expression(statement, child, scope)


def _chained(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    parts = []
    while type(node) is kind:
        parts.append(node.args["expression"])
        node = node.this
    return [node, *reversed(parts)]


def _read_column(
    statement: Statement, node: exp.Expr, scope: Scope, allows: frozenset[str]
) -> None:
    if not isinstance(node.this, exp.Identifier):
        refuse("whole-row", "`*` stands only by itself in a SELECT, or in count(*).")
    found = find_column(statement, node, scope)  # type: ignore[arg-type] # a Column
    if not isinstance(found, Found):
        node.replace(found)
        read_expression(statement, found, scope, allows)
        return
    _check_exposure(found, node, scope, allows)
    found.scope.touched.add(found.key)
    if found.output.path:
        statement.columns[found.output.path] = None
    node.set("db", None)
    node.set("this", exp.to_identifier(found.output.name, quoted=True))
    node.set("table", exp.to_identifier(found.source.alias, quoted=True))


def _check_exposure(
    found: Found, node: exp.Expr, scope: Scope, allows: frozenset[str]
) -> None:
    name, exposure = found.output.name, found.output.exposure
    if exposure == "visible":
        return
    if exposure == "masked":
        if "masked" not in allows or found.away:
            refuse("masked", f"{name} is masked: it may only be shown, or counted.")
        return
    if "aggregate" not in allows or found.away or not scope.figures_allowed:
        refuse(
            "aggregate",
            f"{name} is for figures only: use it in count, sum or avg of a SELECT list.",
        )
    column = exp.column(name, found.source.alias, quoted=True)
    scope.figures[f"{found.key}.{name}"] = column


def _read_call(
    statement: Statement, node: exp.Expr, scope: Scope, allows: frozenset[str]
) -> None:
    name = check_call(statement, node)  # type: ignore[arg-type] # an Anonymous
    inner = _NOTHING
    if name in FIGURES and allows != _PER_ROW:
        inner = _COUNTED if name == "count" else _SUMMED
    elif name == "count":
        inner = SHOWN
    for arg in node.expressions:
        if isinstance(arg, exp.Star) and name == "count" and len(node.expressions) == 1:
            if any(arg.args.values()):
                refuse_construct(arg)
            continue
        read_expression(statement, arg, scope, inner)


def _read_distinct(
    statement: Statement, node: exp.Expr, scope: Scope, allows: frozenset[str]
) -> None:
    if node.args.get("on"):
        refuse_construct(node)
    for one in node.expressions:
        read_expression(statement, one, scope, allows)


def _read_window(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    for name, value in node.args.items():
        if isinstance(value, exp.Identifier):
            statement.new_name(value)
        elif name == "this":
            read_expression(statement, value, scope, _PER_ROW)
        else:
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, exp.Expr):
                    read_expression(statement, child, scope)


def _read_paren(
    statement: Statement, node: exp.Expr, scope: Scope, allows: frozenset[str]
) -> None:
    read_expression(statement, node.this, scope, allows & SHOWN)


def _read_subquery(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    extra = [name for name, value in node.args.items() if value and name != "this"]
    inner = node.this
    if extra or not isinstance(inner, exp.Select | exp.SetOperation | exp.Subquery):
        refuse("construct", "A subquery here is a plain SELECT in brackets.")
    read_expression(statement, inner, scope)


def _read_type(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    kind = node.this.this if isinstance(node.this, exp.Interval) else node.this
    named = node.this if isinstance(node.this, exp.DType) else exp.DType.INTERVAL
    if named not in TYPES or node.args.get("kind") or node.args.get("values"):
        said = getattr(kind, "value", kind)
        refuse("cast", f"Values may not be turned into {str(said)[:60]} here.")
    for inner in node.expressions:
        if isinstance(inner, exp.DataType):
            _read_type(statement, inner, scope, _)
        elif not isinstance(inner, exp.DataTypeParam) or not _is_length(inner.this):
            refuse("cast", f"A type takes a plain length up to {LENGTH}.")


def _is_length(node: exp.Expr) -> bool:
    said = node.name if isinstance(node, exp.Literal) else ""
    return said.isdecimal() and int(said) <= LENGTH


def _read_cast(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    for name, value in node.args.items():
        if value and name not in ("this", "to"):
            refuse("cast", "Values are turned into types without further words.")
    if type(node.args["to"]) is not exp.DataType:
        refuse("cast", f"Values may not be turned into {node.args['to'].sql()[:60]}.")
    read_expression(statement, node.this, scope)
    read_expression(statement, node.args["to"], scope)


def _read_word(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    if not _WORD.fullmatch(node.name):
        refuse("construct", f"{node.name[:60]!r} is not allowed here.")


def _read_literal(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    if not node.is_string and not _NUMBER.fullmatch(node.name):
        refuse("literal", f"{node.name[:60]!r} is not a plain number.")


def _read_collation(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    read_expression(statement, node.this, scope)
    named = node.expression
    plain = isinstance(named, exp.Var | exp.Identifier | exp.Column)
    if not plain or named.args.get("table") or not _COLLATION.fullmatch(named.name):
        refuse("construct", "COLLATE takes the plain name of a collation.")


def _read_placeholder(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    if not statement.values or node.args.get("this"):
        refuse("variable", "Placeholders are not allowed: write the value itself.")


def _read_json(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    for value in (node.this, node.expression):
        if not isinstance(value, exp.JSONPath):
            read_expression(statement, value, scope)
    for one in node.args.get("expressions") or ():
        read_expression(statement, one, scope)


def _read_interval(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    _read_children(statement, node, scope, _)
    length = node.args.get("this")
    if length is not None and not isinstance(length, exp.Literal | exp.Paren):
        node.set("this", exp.Paren(this=length))  # as it will be written


def _read_star(
    statement: Statement, node: exp.Expr, scope: Scope, _: frozenset[str]
) -> None:
    refuse("whole-row", "`*` stands only by itself in a SELECT, or in count(*).")


_READERS: Mapping[type[exp.Expr], Reader] = {
    exp.Anonymous: _read_call,
    exp.Cast: _read_cast,
    exp.Collate: _read_collation,
    exp.Column: _read_column,
    exp.DataType: _read_type,
    exp.Distinct: _read_distinct,
    exp.Filter: _read_window,
    exp.Interval: _read_interval,
    exp.JSONBExtract: _read_json,
    exp.JSONBExtractScalar: _read_json,
    exp.JSONExtract: _read_json,
    exp.JSONExtractScalar: _read_json,
    exp.Literal: _read_literal,
    exp.Paren: _read_paren,
    exp.Placeholder: _read_placeholder,
    exp.Star: _read_star,
    exp.Subquery: _read_subquery,
    exp.Var: _read_word,
    exp.Window: _read_window,
}

_LITERALS = (
    exp.BitString, exp.ByteString, exp.HexString, exp.Introducer, exp.National,
    exp.RawString, exp.UnicodeString,
)  # fmt: skip
_VARIABLES = (exp.Parameter, exp.SessionParameter, exp.PropertyEQ)
_WHOLE_ROWS = (exp.Dot, exp.TableColumn)


def refuse_construct(node: exp.Expr) -> NoReturn:
    """Refuse a node that no statement may hold, by the rule that it breaks."""
    said = type(node).__name__
    if isinstance(node, _LITERALS):
        refuse("literal", "Write texts in plain single quotes, numbers in digits.")
    if isinstance(node, _VARIABLES):
        refuse("variable", "Variables and parameters are not allowed.")
    if isinstance(node, _WHOLE_ROWS):
        refuse("whole-row", "Write a column as table.column; rows and schemas no call.")
    if isinstance(node, exp.Func):
        refuse("function", f"{node.sql_name()[:60]} is not allowed here.")
    if isinstance(node, exp.Identifier):
        refuse("name", f"The name {node.name[:60]!r} may not stand here.")
    refuse("construct", f"The construct {said} is not allowed.")
