"""FROM and its joins: which tables are read, and how they are related."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from connections.databases.base import Schema, Table
from connections.databases.guard_calls import series_rows
from connections.databases.guard_expressions import read_condition, read_expression
from connections.databases.guard_functions import (
    AGGREGATES,
    NAMED_COLUMNS,
    TABLE_FUNCTIONS,
)
from connections.databases.guard_limits import JOINS
from connections.databases.guard_rules import refuse
from connections.databases.guard_scopes import (
    Output,
    Scope,
    Source,
    Statement,
    columns_of,
)

_TABLE_PARTS = {"this", "db", "alias"}
_JOIN_PARTS = {"this", "on", "side", "kind", "using", "method"}
_KINDS = {"", "INNER", "CROSS", "OUTER"}
_SIDES = {"", "LEFT", "RIGHT", "FULL"}
_METHODS = {"", "NATURAL"}


def only_parts(node: exp.Expr, parts: set[str], what: str) -> None:
    """Refuse a construct with anything beside the parts that are read."""
    for name, value in node.args.items():
        if value and name not in parts:
            refuse("construct", f"{name.strip('_')} is not allowed in {what}.")


def read_sources(statement: Statement, select: exp.Select, scope: Scope) -> None:
    """Fill `scope` with what FROM names; joins by name become plain conditions."""
    from_ = select.args.get("from_")
    joins = select.args.get("joins") or []
    if from_ is None:
        if joins:
            refuse("construct", "A join needs a FROM.")
        return
    if len(joins) > JOINS:
        refuse("complexity", f"More than {JOINS} joins in one SELECT.")
    chain = [_read_source(statement, from_.this, scope)]
    for join in joins:
        only_parts(join, _JOIN_PARTS, "a join")
        if _is_comma(join):
            chain = []
        chain.append(_read_source(statement, join.this, scope))
        _read_join(statement, join, chain, scope)


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(name) for name in _JOIN_PARTS - {"this"})


def _read_join(
    statement: Statement, join: exp.Join, chain: list[str], scope: Scope
) -> None:
    allowed = ((join.kind, _KINDS), (join.side, _SIDES), (join.method, _METHODS))
    for said, known in allowed:
        if said.upper() not in known:
            refuse("construct", f"{said} joins are not allowed.")
    if join.method or join.args.get("using"):
        _join_by_name(statement, join, chain, scope)
    condition = join.args.get("on")
    if condition is not None:
        scope.seen = frozenset(chain)
        read_condition(statement, condition, scope)
        scope.seen = None


def _join_by_name(
    statement: Statement, join: exp.Join, chain: list[str], scope: Scope
) -> None:
    """Write NATURAL and USING as a condition over columns that may be seen."""
    *left, right = chain
    if join.method:
        names = [
            key
            for key in scope.sources[right].columns
            if any(key in scope.sources[one].columns for one in left)
        ]
    else:
        names = [statement.key(statement.canonical(one)) for one in join.args["using"]]
    if not names:
        refuse("join", "NATURAL JOIN finds no column that both sides share: use ON.")
    conditions: list[exp.Expr] = []
    for name in names:
        ours = scope.merged.get(name) or _column(scope, left, name)
        theirs = _column(scope, [right], name)
        conditions.append(exp.EQ(this=ours.copy(), expression=theirs.copy()))
        scope.merged[name] = _merged(join.side.upper(), ours, theirs)
    join.set("using", None)
    join.set("method", None)
    join.set("on", reduce(lambda a, b: exp.And(this=a, expression=b), conditions))


def _merged(side: str, ours: exp.Expr, theirs: exp.Expr) -> exp.Expr:
    if side == "FULL":
        return exp.Anonymous(this="COALESCE", expressions=[ours.copy(), theirs.copy()])
    return theirs if side == "RIGHT" else ours


def _column(scope: Scope, keys: list[str], name: str) -> exp.Expr:
    holding = [scope.sources[key] for key in keys if name in scope.sources[key].columns]
    output = holding[0].columns[name] if len(holding) == 1 else None
    if output is None:
        refuse("join", f"{name} is not in exactly one table of each side: use ON.")
    return exp.column(output.name, holding[0].alias, quoted=True)


def _read_source(statement: Statement, node: exp.Expr, scope: Scope) -> str:
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        source = _table(statement, node, scope)
    elif isinstance(node, exp.Subquery):
        source = _derived(statement, node, scope, scope.parent)
    elif isinstance(node, exp.Lateral):
        source = _lateral(statement, node, scope)
    elif isinstance(node, exp.Table):
        only_parts(node, {"this", "alias"}, "a function in FROM")
        source = _called(statement, node.this, node.args.get("alias"), scope)
    elif isinstance(node, exp.Unnest):
        only_parts(node, {"expressions", "alias"}, "unnest")
        source = _called(statement, node, node.args.get("alias"), scope)
    elif isinstance(node, exp.Values):
        source = _rows(statement, node, scope)
    else:
        refuse("construct", "FROM may name tables, subqueries and their joins only.")
    alike = source.alias.lower()
    if any(alike == taken.lower() for taken in scope.sources):
        refuse("name", f"Two tables are called {source.alias} here: give one an alias.")
    key = statement.key(source.alias)
    scope.sources[key] = source
    if scope.touched:  # what LATERAL and functions take from the tables before them
        scope.touched.add(key)
        scope.relate()
    return key


def _table(statement: Statement, node: exp.Table, scope: Scope) -> Source:
    if node.args.get("catalog"):
        refuse("table", "Names of three parts are not allowed; leave out the database.")
    only_parts(node, _TABLE_PARTS, "a table")
    name = statement.canonical(node.this)
    if not node.args.get("db") and (cte := scope.ctes.get(statement.key(name))):
        node.this.set("this", cte.alias)
        columns, rows, schema = cte.columns, cte.rows, ""
        declared = cte.alias
    else:
        table = _find_table(statement, node, name)
        node.this.set("this", table.name)
        node.set("db", exp.to_identifier(table.schema, quoted=True))
        statement.tables[table.path] = None
        columns = {
            statement.key(column.name): Output(
                column.name, column.exposure, f"{table.path}.{column.name}"
            )
            for column in table.columns
        }
        rows, schema, declared = table.rows or None, table.schema, table.name
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        if schema:
            refuse("name", "Columns of a table cannot be renamed in FROM.")
        columns = _renamed(statement, alias, list(columns.values()))
    if alias is not None and alias.this:
        return Source(statement.new_name(alias.this), columns, rows)
    return Source(declared, columns, rows, schema)


def _find_table(statement: Statement, node: exp.Table, name: str) -> Table:
    schema, db = statement.schema, node.args.get("db")
    space = statement.canonical(db) if db else schema.default_schema
    found = schema.by_path.get((space, name))
    if found is not None:
        return found
    alike = [
        one
        for one in schema.tables
        if one.name.lower() == name.lower() and one.schema.lower() == space.lower()
    ]
    if len(alike) == 1 and not statement.is_postgres:
        return alike[0]
    if alike:
        refuse("table", f'Write "{alike[0].name}" in double quotes: its case matters.')
    said = f"{space}.{name}"[:120]
    refuse(
        "table",
        f"There is no table {said} that may be read; there are: {_known(schema)}.",
    )


def _known(schema: Schema) -> str:
    names = [table.path for table in schema.tables[:12]]
    more = " and more" if len(schema.tables) > len(names) else ""
    return (", ".join(names) or "none") + more


def _renamed(
    statement: Statement, alias: exp.TableAlias, outputs: list[Output | None]
) -> dict[str, Output | None]:
    """Return outputs under the names that an alias lists."""
    names = [statement.new_name(one) for one in alias.args["columns"]]
    if len(names) > len(outputs) or None in outputs:
        refuse("name", "The alias lists more columns than there are, or unclear ones.")
    statement.listed.add(str(alias.this.this))
    known = [one for one in outputs if one is not None]
    new = [
        Output(name, output.exposure, output.path)
        for name, output in zip(names, known, strict=False)
    ]
    return columns_of(statement, [*new, *known[len(names) :]])


def named_outputs(
    statement: Statement, alias: exp.TableAlias | None, outputs: list[Output]
) -> dict[str, Output | None]:
    """Return the columns of a query under its alias, by key."""
    if alias is not None and alias.args.get("columns"):
        return _renamed(statement, alias, list(outputs))
    return columns_of(statement, outputs)


def _derived(
    statement: Statement, node: exp.Subquery, scope: Scope, outer: Scope | None
) -> Source:
    only_parts(node, {"this", "alias"}, "a subquery")
    if not isinstance(node.this, exp.Query) or isinstance(node.this, exp.Table):
        refuse("construct", "Joins in brackets are not allowed: write them in a row.")
    alias = node.args.get("alias")
    if alias is None or not alias.this:
        refuse("name", "A subquery in FROM needs an alias.")
    name = statement.new_name(alias.this)
    outputs = statement.read_query(statement, node.this, outer, scope.ctes)
    return Source(name, named_outputs(statement, alias, outputs), rows_of(node.this))


def _lateral(statement: Statement, node: exp.Lateral, scope: Scope) -> Source:
    only_parts(node, {"this", "alias"}, "LATERAL")
    alias = node.args.get("alias")
    if not isinstance(node.this, exp.Subquery):
        return _called(statement, node.this, alias, scope)
    if alias is None or not alias.this:
        refuse("name", "LATERAL needs an alias.")
    only_parts(node.this, {"this"}, "LATERAL")
    name = statement.new_name(alias.this)
    outputs = statement.read_query(statement, node.this.this, scope, scope.ctes)
    rows = rows_of(node.this.this)
    return Source(name, named_outputs(statement, alias, outputs), rows)


def _called(
    statement: Statement,
    call: exp.Expr,
    alias: exp.TableAlias | None,
    scope: Scope,
) -> Source:
    """Return the source that a function gives; only functions of PostgreSQL do."""
    name = "unnest" if isinstance(call, exp.Unnest) else call.name.lower()
    names = ("unnest",) if name == "unnest" else TABLE_FUNCTIONS.get(name)
    if names is None or not statement.is_postgres:
        refuse("function", f"The function {name[:60]} may not stand in FROM.")
    if isinstance(call, exp.Unnest):
        for one in call.expressions:
            read_expression(statement, one, scope)
    else:
        read_expression(statement, call, scope)
    given = statement.new_name(alias.this) if alias and alias.this else name
    if len(names) == 1 and name not in NAMED_COLUMNS:
        names = (given,)
    columns = columns_of(statement, [Output(one) for one in names])
    if alias is not None and alias.args.get("columns"):
        columns = _renamed(statement, alias, list(columns.values()))
    return Source(given, columns, series_rows(call))


def _rows(statement: Statement, node: exp.Values, scope: Scope) -> Source:
    only_parts(node, {"expressions", "alias"}, "VALUES")
    alias = node.args.get("alias")
    if not statement.is_postgres or alias is None or not alias.this:
        refuse("construct", "VALUES in FROM needs PostgreSQL and an alias.")
    for row in node.expressions:
        read_expression(statement, row, scope)
    name, width = statement.new_name(alias.this), len(node.expressions[0].expressions)
    outputs = [Output(f"column{place}") for place in range(1, width + 1)]
    columns = named_outputs(statement, alias, outputs)
    return Source(name, columns, len(node.expressions))


def rows_of(query: exp.Expr) -> int | None:
    """Return how many rows a query gives at most, where its shape tells."""
    if isinstance(query, exp.Subquery):
        return rows_of(query.this)
    limit = query.args.get("limit")
    if limit is not None and isinstance(limit.args.get("expression"), exp.Literal):
        return int(limit.expression.name)
    if isinstance(query, exp.SetOperation):
        sides = rows_of(query.this), rows_of(query.expression)
        return None if None in sides else sum(side or 0 for side in sides)
    if query.args.get("group"):
        return None
    if query.args.get("from_") is None or any(map(_is_figure, query.expressions)):
        return 1
    return None


def _is_figure(node: exp.Expr) -> bool:
    """Tell whether an expression holds an aggregate of its own query."""
    if isinstance(node, exp.Window | exp.Query):
        return False
    if isinstance(node, exp.Anonymous) and node.name.lower() in AGGREGATES:
        return True
    return any(map(_is_figure, node.iter_expressions()))
