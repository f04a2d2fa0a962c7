"""GROUP BY, HAVING and ORDER BY: where a name may mean an output of the query."""

from __future__ import annotations

from sqlglot import exp

from connections.databases.guard_expressions import read_expression
from connections.databases.guard_functions import AGGREGATES
from connections.databases.guard_rules import refuse
from connections.databases.guard_scopes import Output, Scope, Statement

_GROUPINGS = (exp.Tuple, exp.Paren, exp.Rollup, exp.Cube, exp.GroupingSets)


def _bare(node: exp.Expr) -> bool:
    """Tell whether a node is a name without a table."""
    return (
        isinstance(node, exp.Column)
        and isinstance(node.this, exp.Identifier)
        and not node.args.get("table")
    )


def _matching(statement: Statement, node: exp.Expr, outputs: list[Output]) -> list[int]:
    key = statement.key(statement.canonical(node.this))
    return [
        place
        for place, output in enumerate(outputs)
        if output.name and statement.key(output.name) == key
    ]


def _is_column(statement: Statement, node: exp.Expr, scope: Scope) -> bool:
    key = statement.key(statement.canonical(node.this))
    return key in scope.merged or any(
        key in source.columns for source in scope.sources.values()
    )


def _place(node: exp.Expr, outputs: list[Output], what: str) -> int | None:
    """Return the place from 0 that a number means; None for anything else."""
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    if not node.name.isdecimal() or not 1 <= int(node.name) <= len(outputs):
        refuse("column", f"{what} {node.name[:20]}: there is no such output.")
    return int(node.name) - 1


def _check_shown(output: Output, what: str) -> None:
    if output.exposure != "visible":
        refuse("masked", f"{output.name} is masked: {what} may not use it.")


def _alias_of(node: exp.Expr) -> str:
    return node.alias if isinstance(node, exp.Alias) else ""


def read_group(
    statement: Statement, select: exp.Select, scope: Scope, outputs: list[Output]
) -> None:
    """Check GROUP BY; an output's name becomes its place, which means one thing."""
    group = select.args.get("group")
    if group is None:
        return
    for name, value in group.args.items():
        for node in value if isinstance(value, list) else ():
            _read_group_item(statement, node, select, scope, outputs)
        if value and name not in ("expressions", "rollup", "cube", "grouping_sets"):
            refuse("construct", f"GROUP BY {name.upper()} is not allowed.")


def _read_group_item(
    statement: Statement,
    node: exp.Expr,
    select: exp.Select,
    scope: Scope,
    outputs: list[Output],
) -> None:
    if isinstance(node, _GROUPINGS):
        for child in list(node.iter_expressions()):
            _read_group_item(statement, child, select, scope, outputs)
        return
    place = _place(node, outputs, "GROUP BY")
    if place is None and _bare(node) and not _is_column(statement, node, scope):
        named = _matching(statement, node, outputs)
        place = named[0] if len(named) == 1 else None
        if place is not None:
            node.replace(exp.Literal.number(place + 1))
    if place is not None:
        _check_shown(outputs[place], "GROUP BY")
        return
    node = _spelled_out(statement, node, select, scope, outputs)
    read_expression(statement, node, scope)


def _spelled_out(
    statement: Statement,
    node: exp.Expr,
    select: exp.Select,
    scope: Scope,
    outputs: list[Output],
) -> exp.Expr:
    """Put the expression in place of an output's name inside another expression.

    MySQL knows such names there, PostgreSQL does not.
    """
    if statement.is_postgres:
        return node
    for column in [one for one in node.find_all(exp.Column) if _bare(one)]:
        if column is node or _is_column(statement, column, scope):
            continue
        if column.find_ancestor(exp.Query) is not select:
            continue
        named = _matching(statement, column, outputs)
        if len(named) == 1 and _alias_of(select.expressions[named[0]]):
            _check_shown(outputs[named[0]], "an expression")
            written = select.expressions[named[0]].this.copy()
            column.replace(exp.Paren(this=written))
    return node


def read_having(
    statement: Statement, select: exp.Select, scope: Scope, outputs: list[Output]
) -> None:
    """Check HAVING; in MySQL an output's name stays, as it means that first."""
    having = select.args.get("having")
    if having is None:
        return
    if statement.is_postgres:
        read_expression(statement, having.this, scope)
        return
    grouped = {
        statement.key(column.name)
        for column in (select.args.get("group") or exp.Group()).find_all(exp.Column)
    }
    kept: list[tuple[exp.Expr, exp.Expr]] = []
    stand_in: exp.Expr
    for column in [one for one in having.find_all(exp.Column) if _bare(one)]:
        named = _matching(statement, column, outputs)
        if statement.key(column.name) in grouped or not named or _aggregated(column):
            continue
        if column.find_ancestor(exp.Query) is not select:
            continue
        if len(named) > 1 or not _alias_of(select.expressions[named[0]]):
            continue
        _check_shown(outputs[named[0]], "HAVING")
        name = exp.to_identifier(outputs[named[0]].name, quoted=True)
        stand_in = exp.Null()
        column.replace(stand_in)
        kept.append((stand_in, exp.Column(this=name)))
    read_expression(statement, having.this, scope)
    for stand_in, named_column in kept:
        stand_in.replace(named_column)


def _aggregated(node: exp.Expr) -> bool:
    parent = node.parent
    while parent is not None and not isinstance(parent, exp.Having):
        if isinstance(parent, exp.Anonymous) and parent.name.lower() in AGGREGATES:
            return True
        parent = parent.parent
    return False


def read_order(
    statement: Statement,
    query: exp.Expr,
    scope: Scope,
    outputs: list[Output],
    written: list[exp.Expr],
    *,
    only_outputs: bool = False,
) -> None:
    """Check ORDER BY; a name by itself means an output first, as on both servers."""
    order = query.args.get("order")
    if order is None:
        return
    if order.args.get("this") or order.args.get("siblings"):
        refuse("construct", "Only a plain ORDER BY is allowed.")
    for ordered in order.expressions:
        if type(ordered) is not exp.Ordered or ordered.args.get("with_fill"):
            refuse("construct", "Only a plain ORDER BY is allowed.")
        node = ordered.this
        place = _place(node, outputs, "ORDER BY")
        if place is None and _bare(node):
            place = _named_output(statement, node, outputs, written, only_outputs)
        if place is not None:
            _check_shown(outputs[place], "ORDER BY")
        elif only_outputs:
            refuse("column", "ORDER BY of a UNION takes the names of its outputs.")
        else:
            if not statement.is_postgres:
                _spelled_out(statement, node, query, scope, outputs)  # type: ignore[arg-type] # a Select
            read_expression(statement, ordered.this, scope)


def _named_output(
    statement: Statement,
    node: exp.Expr,
    outputs: list[Output],
    written: list[exp.Expr],
    only_outputs: bool,
) -> int | None:
    named = _matching(statement, node, outputs)
    if not named:
        return None
    aliased = [one for one in named if only_outputs or _alias_of(written[one])]
    if not aliased and len(named) == 1 and isinstance(written[named[0]], exp.Column):
        node.replace(written[named[0]].copy())
        return named[0]
    if len(named) > 1:
        refuse("name", f"{node.name} is the name of two outputs: use its number.")
    if not aliased:
        return None
    name = exp.to_identifier(outputs[named[0]].name, quoted=True)
    node.set("this", name)
    return named[0]
