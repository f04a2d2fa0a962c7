"""One condition of a plan as an expression."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from connections.databases.base import Column, Schema
from memory.sql.translator.base import Filter, NotUnderstood, Period, Ref
from memory.sql.translator.nodes import column_of, table_node
from memory.sql.translator.words import number_of

OPERATORS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}


def is_numeric(column: Column) -> bool:
    """Whether a column's values add up: numbers, or texts that all are numbers."""
    if column.family == "number":
        return True
    known = [value.strip() for value in column.values if value.strip()]
    return bool(known) and all(number_of(value) is not None for value in known)


def measured(ref: Ref, column: exp.Expr) -> exp.Expr:
    """Return a column as a number where its texts all are numbers."""
    if ref.column.family == "text" and is_numeric(ref.column):
        return exp.cast(column, "double")
    return column


def condition(found: Filter, schema: Schema) -> exp.Expr:
    """Return a condition; raises `NotUnderstood` where its types do not fit."""
    column = column_of(found.ref)
    if found.is_null:
        made: exp.Expr = exp.Is(this=column, expression=exp.Null())
    elif found.average:
        made = _average(found, column, schema)
    elif found.period is not None:
        made = _period(found.period, column)
    elif found.match is not None:
        made = _like(found, column)
    else:
        made = _value(found, column)
    return exp.not_(made) if found.negated and not _is_unequal(made) else made


def _is_unequal(made: exp.Expr) -> bool:
    return isinstance(made, exp.NEQ)


def _average(found: Filter, column: exp.Expr, schema: Schema) -> exp.Expr:
    if not is_numeric(found.ref.column):
        raise NotUnderstood(f"{found.ref.shown} holds no numbers")
    number = measured(found.ref, column)
    inner = exp.select(exp.Avg(this=number.copy()))
    inner = inner.from_(table_node(found.ref.table, schema))
    operator = OPERATORS[found.operator]
    return operator(this=number, expression=inner.subquery())


def _period(period: Period, column: exp.Expr) -> exp.Expr:
    parts: list[exp.Expr] = []
    if period.first:
        first = exp.cast(exp.Literal.string(period.first), "date")
        parts.append(exp.GTE(this=column, expression=first))
    if period.end:
        end = exp.cast(exp.Literal.string(period.end), "date")
        parts.append(exp.LT(this=column.copy(), expression=end))
    if not parts:
        raise NotUnderstood("a period without days")
    return exp.and_(*parts)


def _like(found: Filter, column: exp.Expr) -> exp.Expr:
    text = str(found.values[0]).lower()
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    pattern = {
        "contains": f"%{text}%",
        "starts": f"{text}%",
        "ends": f"%{text}",
    }[found.match or "contains"]
    lower = exp.Lower(this=column)
    return exp.Like(this=lower, expression=exp.Literal.string(pattern))


def _value(found: Filter, column: exp.Expr) -> exp.Expr:
    ref, values = found.ref, found.values
    family = ref.column.family
    if family == "boolean":
        is_true = exp.Boolean(this=bool(values[0]))
        return exp.EQ(this=column, expression=is_true)
    if family == "number":
        numbers = [_number(value, ref) for value in values]
        return _among(found, column, [exp.convert(n) for n in numbers])
    if family != "text":
        if found.operator == "=" and all(str(v) in ref.column.values for v in values):
            return _among(found, column, [exp.Literal.string(str(v)) for v in values])
        raise NotUnderstood(f"{ref.shown} cannot be compared with {values[0]}")
    if found.operator != "=":
        if not is_numeric(ref.column):
            raise NotUnderstood(f"{ref.shown} holds text, no numbers")
        number = measured(ref, column)
        return _among(found, number, [exp.convert(_number(v, ref)) for v in values])
    known = set(ref.column.values)
    if all(str(value) in known for value in values):
        return _among(found, column, [exp.Literal.string(str(v)) for v in values])
    lowered = [exp.Literal.string(str(value).lower()) for value in values]
    return _among(found, exp.Lower(this=column), lowered)


def _among(found: Filter, left: exp.Expr, values: Sequence[exp.Expr]) -> exp.Expr:
    if len(values) > 1:
        return exp.In(this=left, expressions=list(values))
    if found.negated and found.operator == "=":
        return exp.NEQ(this=left, expression=values[0])
    return OPERATORS[found.operator](this=left, expression=values[0])


def _number(value: str | int | float, ref: Ref) -> int | float:
    number = number_of(str(value)) if isinstance(value, str) else value
    if number is None:
        raise NotUnderstood(f"{ref.shown} is compared with “{value}”")
    return number


def compared(left: exp.Expr, operator: str, right: exp.Expr) -> exp.Expr:
    """Return a comparison by its operator."""
    return OPERATORS[operator](this=left, expression=right)
