"""Names of a schema as sqlglot's nodes, quoted as they are written."""

from __future__ import annotations

from sqlglot import exp

from connections.databases.base import Schema, Table
from memory.sql.translator.base import Ref


def table_node(table: Table, schema: Schema) -> exp.Table:
    """Return a table by its name, with its schema where that is not the default."""
    space = table.schema if table.schema != schema.default_schema else None
    return exp.table_(table.name, db=space, quoted=True)


def column_of(ref: Ref) -> exp.Expr:
    """Return a column with its table's name before it."""
    return exp.column(ref.column.name, table=ref.table.name, quoted=True)


def count_all() -> exp.Expr:
    return exp.Count(this=exp.Star())
