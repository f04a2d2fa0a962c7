"""Queries: SELECT, set operations and WITH, read from the inside out."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from connections.databases.base import Exposure
from connections.databases.guard_expressions import (
    SHOWN,
    read_condition,
    read_expression,
    refuse_construct,
)
from connections.databases.guard_limits import (
    CTES,
    DEPTH,
    SMALLEST_GROUP,
    check_limits,
    check_related,
)
from connections.databases.guard_ordering import read_group, read_having, read_order
from connections.databases.guard_rules import refuse
from connections.databases.guard_scopes import Output, Scope, Source, Statement
from connections.databases.guard_sources import (
    named_outputs,
    only_parts,
    read_sources,
    rows_of,
)

_SELECT_PARTS = {
    "with_", "expressions", "distinct", "from_", "joins", "where", "group", "having",
    "windows", "order", "limit", "offset",
}  # fmt: skip
_SET_PARTS = {"with_", "this", "expression", "distinct", "order", "limit", "offset"}
_SETS = (exp.Union, exp.Intersect, exp.Except)


def read_query(
    statement: Statement,
    node: exp.Expr,
    outer: Scope | None,
    ctes: Mapping[str, Source],
) -> list[Output]:
    """Return the columns that a query gives, after all in it was checked."""
    statement.depth += 1
    if statement.depth > DEPTH:
        refuse("complexity", f"More than {DEPTH} queries inside each other.")
    if isinstance(node, exp.Subquery):
        only_parts(node, {"this"}, "brackets around a query")
        outputs = read_query(statement, node.this, outer, ctes)
    elif type(node) is exp.Select:
        outputs = _read_select(statement, node, outer, ctes)
    elif type(node) in _SETS:
        outputs = _read_set(statement, node, outer, ctes)
    else:
        refuse(
            "reading-only", "Only SELECT, and UNION and the like of it, are allowed."
        )
    statement.depth -= 1
    return outputs


def _read_with(
    statement: Statement,
    node: exp.Expr,
    outer: Scope | None,
    ctes: Mapping[str, Source],
) -> Mapping[str, Source]:
    with_ = node.args.get("with_")
    if with_ is None:
        return ctes
    only_parts(with_, {"expressions", "recursive"}, "WITH")
    if len(with_.expressions) > CTES:
        refuse("complexity", f"More than {CTES} queries in one WITH.")
    known = dict(ctes)
    for cte in with_.expressions:
        only_parts(cte, {"this", "alias", "materialized"}, "WITH")
        name = statement.new_name(cte.args["alias"].this)
        if statement.key(name) in known:
            # In WITH RECURSIVE, queries before it would read this one instead.
            refuse("name", f"Two queries in WITH are called {name}: name one anew.")
        recursive = bool(with_.args.get("recursive"))
        source = _read_cte(statement, cte, name, outer, known, recursive=recursive)
        known[statement.key(name)] = source
    return known


def _read_cte(
    statement: Statement,
    cte: exp.CTE,
    name: str,
    outer: Scope | None,
    known: Mapping[str, Source],
    *,
    recursive: bool,
) -> Source:
    alias, query = cte.args["alias"], cte.this
    if alias.args.get("columns"):
        statement.listed.add(name)
    if not (recursive and type(query) is exp.Union and _names(query, name, statement)):
        outputs = read_query(statement, query, outer, known)
        return Source(name, named_outputs(statement, alias, outputs), rows_of(query))
    if not _ends(query.expression):
        refuse(
            "complexity",
            f"The recursion {name} needs a WHERE or a join with a condition to end.",
        )
    _check_set_parts(query)
    # The first part says which columns there are; the second may use them.
    first = read_query(statement, query.this, outer, known)
    itself = Source(name, named_outputs(statement, alias, first))
    inside = {**known, statement.key(name): itself}
    second = read_query(statement, query.expression, outer, inside)
    outputs = _together(query, first, second)
    return Source(name, named_outputs(statement, alias, outputs))


def _names(query: exp.Expr, name: str, statement: Statement) -> bool:
    wanted = name.lower()
    return any(
        table.name.lower() == wanted and not table.args.get("db")
        for table in query.args["expression"].find_all(exp.Table)
    )


def _ends(query: exp.Expr) -> bool:
    joins = query.find_all(exp.Join)
    return query.find(exp.Where) is not None or any(
        join.args.get("on") or join.args.get("using") for join in joins
    )


def _check_set_parts(node: exp.Expr) -> None:
    only_parts(node, _SET_PARTS, "a set operation")
    check_limits(node)


def _read_set(
    statement: Statement,
    node: exp.Expr,
    outer: Scope | None,
    ctes: Mapping[str, Source],
) -> list[Output]:
    _check_set_parts(node)
    ctes = _read_with(statement, node, outer, ctes)
    # A chain of unions leans to the left, and is read without going down each time.
    sides, first = [], node
    while type(first) in _SETS and (first is node or not _modified(first)):
        sides.append(first)
        first = first.this
    outputs = read_query(statement, first, outer, ctes)
    for one in reversed(sides):
        if one is not node:
            _check_set_parts(one)
        other = read_query(statement, one.args["expression"], outer, ctes)
        outputs = _together(one, outputs, other)
    read_order(statement, node, Scope(None, ctes), outputs, [], only_outputs=True)
    return outputs


def _modified(node: exp.Expr) -> bool:
    return any(node.args.get(part) for part in ("with_", "order", "limit", "offset"))


def _together(node: exp.Expr, left: list[Output], right: list[Output]) -> list[Output]:
    """Return the outputs of a set operation; masked ones are never compared."""
    if len(left) != len(right):
        refuse("syntax", "Both sides of a UNION give as many columns.")
    plain = type(node) is exp.Union and not node.args.get("distinct")
    for ours, theirs in zip(left, right, strict=True):
        masked = "masked" in (ours.exposure, theirs.exposure)
        if masked and not (plain and ours.exposure == theirs.exposure):
            refuse(
                "masked",
                f"{ours.name or theirs.name} is masked: UNION ALL may take it from both"
                " sides, and nothing else may compare it.",
            )
    return left


def _read_select(
    statement: Statement,
    select: exp.Select,
    outer: Scope | None,
    ctes: Mapping[str, Source],
) -> list[Output]:
    only_parts(select, _SELECT_PARTS, "SELECT")
    scope = Scope(outer, _read_with(statement, select, outer, ctes))
    read_sources(statement, select, scope)
    if where := select.args.get("where"):
        read_condition(statement, where.this, scope)
    check_related(scope)
    scope.figures_allowed = True
    outputs = _read_outputs(statement, select, scope)
    scope.figures_allowed = False
    _read_distinct(statement, select, scope, outputs)
    for window in select.args.get("windows") or ():
        statement.new_name(window.this)
        for name, value in window.args.items():
            if name not in ("this", "over"):
                _read_all(statement, value, scope)
    read_group(statement, select, scope, outputs)
    scope.figures_allowed = True
    read_having(statement, select, scope, outputs)
    scope.figures_allowed = False
    read_order(statement, select, scope, outputs, select.expressions)
    check_limits(select)
    _require_groups(select, scope)
    return outputs


def _read_all(statement: Statement, value: object, scope: Scope) -> None:
    for child in value if isinstance(value, list) else (value,):
        if isinstance(child, exp.Identifier):
            statement.new_name(child)
        elif isinstance(child, exp.Expr):
            read_expression(statement, child, scope)


def _read_distinct(
    statement: Statement, select: exp.Select, scope: Scope, outputs: list[Output]
) -> None:
    distinct = select.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    if on is not None:
        read_expression(statement, on, scope)


def _read_outputs(
    statement: Statement, select: exp.Select, scope: Scope
) -> list[Output]:
    expanded: list[exp.Expr] = []
    for node in select.expressions:
        expanded += _starred(statement, node, scope) or [node]
    if not expanded:
        refuse("column", "The SELECT names no columns that may be seen.")
    select.set("expressions", expanded)
    outputs = [_read_output(statement, node, scope) for node in expanded]
    scope.touched.clear()
    return outputs


def _read_output(statement: Statement, node: exp.Expr, scope: Scope) -> Output:
    inner = node.this if isinstance(node, exp.Alias) else node
    exposure: Exposure = "visible"
    held = exp.Paren(this=inner.copy()) if isinstance(inner, exp.Column) else inner
    if isinstance(inner, exp.Column):
        read_expression(statement, held.this, scope, SHOWN)
        exposure = _exposure(held.this, scope)
        name = statement.canonical(inner.this)
        written: exp.Expr = held.this
        if not isinstance(written, exp.Column) and not isinstance(node, exp.Alias):
            written = exp.alias_(written, name, quoted=True)
        inner.replace(written)
    else:
        read_expression(statement, inner, scope)
        name = implied_name(inner) if statement.is_postgres else ""
    if isinstance(node, exp.Alias):
        name = statement.new_name(node.args["alias"])
    return Output(name, exposure)


def _exposure(node: exp.Expr, scope: Scope) -> Exposure:
    if not isinstance(node, exp.Column):
        return "visible"
    looked: Scope | None = scope
    while looked is not None:
        for source in looked.sources.values():
            if source.alias == node.table:
                output = source.columns.get(node.name)
                output = output or source.columns.get(node.name.lower())
                return output.exposure if output else "visible"
        looked = looked.parent
    return "visible"


def implied_name(node: exp.Expr) -> str:
    """Return what PostgreSQL calls an output without an alias, where it is plain."""
    while isinstance(node, exp.Paren | exp.Window | exp.Filter | exp.WithinGroup):
        node = node.this
    if isinstance(node, exp.Cast):
        return implied_name(node.this)
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if isinstance(node, exp.Column):
        return node.name
    return "case" if isinstance(node, exp.Case) else ""


def _starred(statement: Statement, node: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """Return the columns that a star stands for; none where `node` is no star."""
    star = node.this if isinstance(node, exp.Column) else node
    if not isinstance(star, exp.Star):
        return []
    if any(star.args.values()):
        refuse_construct(star)
    if isinstance(node, exp.Column):
        return _starred_table(statement, node, scope)
    if not scope.sources:
        refuse("column", "`*` needs a FROM.")
    merged: list[exp.Expr] = [
        exp.alias_(one.copy(), _merged_name(one, key), quoted=True)
        for key, one in scope.merged.items()
    ]
    plain = [
        _visible(source, output)
        for source in scope.sources.values()
        for key, output in source.columns.items()
        if key not in scope.merged and _in_star(source, output)
    ]
    return [*merged, *plain] or refuse("column", "`*` stands for no visible column.")


def _merged_name(node: exp.Expr, key: str) -> str:
    return node.name if isinstance(node, exp.Column) else key


def _in_star(source: Source, output: Output | None) -> bool:
    if output is None:
        refuse("name", f"{source.alias} has two columns of one name: name them anew.")
    return output.exposure != "aggregate"


def _visible(source: Source, output: Output | None) -> exp.Expr:
    name = output.name if output is not None else ""
    return exp.column(name, source.alias, quoted=True)


def _starred_table(
    statement: Statement, node: exp.Column, scope: Scope
) -> list[exp.Expr]:
    if node.args.get("catalog") or node.args.get("db"):
        refuse("table", "Write the star of a table as table.*.")
    alias = statement.canonical(node.args["table"])
    source = scope.sources.get(statement.key(alias))
    if source is None:
        refuse("table", f"{alias} is not among the tables in FROM.")
    columns = [
        _visible(source, output)
        for output in source.columns.values()
        if _in_star(source, output)
    ]
    return columns or refuse("column", f"{alias}.* stands for no visible column.")


def _require_groups(select: exp.Select, scope: Scope) -> None:
    """Let figures over columns for figures only be made of enough rows."""
    for column in scope.figures.values():
        count = exp.Anonymous(this="COUNT", expressions=[column])
        enough = exp.GTE(this=count, expression=exp.Literal.number(SMALLEST_GROUP))
        having = select.args.get("having")
        if having is None:
            select.set("having", exp.Having(this=enough))
        elif enough not in having.this.flatten() and enough != having.this:
            both = exp.And(this=exp.Paren(this=having.this), expression=enough)
            select.set("having", exp.Having(this=both))
