"""The dialects as the guard reads and writes them: functions stay as they were written.

sqlglot knows many functions by what they mean and writes them in its own way (MySQL's
`REGEXP` becomes `REGEXP_LIKE()`, which MariaDB lacks; date patterns are translated twice).
A guard may only judge what is sent, so here a call is its name and its arguments, and
is written with that name again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.mysql import MySQL
from sqlglot.dialects.postgres import Postgres
from sqlglot.generators.mysql import MySQLGenerator
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.parsers.postgres import PostgresParser

from connections.databases.base import Flavour

# Calls with a grammar of their own; every other call is a name and arguments.
_POSTGRES_GRAMMAR = ("CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "TRIM")
_MYSQL_GRAMMAR = (
    "CAST",
    "CONVERT",
    "EXTRACT",
    "GROUP_CONCAT",
    "POSITION",
    "SUBSTR",
    "SUBSTRING",
    "TRIM",
)
# Their first argument is a unit, which the grammar takes for a column.
_UNIT_FIRST = ("TIMESTAMPADD", "TIMESTAMPDIFF")


def _unit_first(name: str, args: list[exp.Expr]) -> exp.Expr:
    unit = args[0] if args else None
    if isinstance(unit, exp.Column) and not unit.table:
        args = [exp.var(unit.name.upper()), *args[1:]]
    return exp.Anonymous(this=name, expressions=args)


def _regexp(self: MySQLGenerator, node: exp.RegexpLike) -> str:
    return self.binary(node, "REGEXP")


def _json_text(self: MySQLGenerator, node: exp.JSONExtractScalar) -> str:
    # MariaDB lacks `->>`; both know this.
    return self.func(
        "JSON_UNQUOTE", self.func("JSON_EXTRACT", node.this, node.expression)
    )


class _Quiet:
    """Says nothing in the log of what is refused anyway: it may hold personal data."""

    def _warn_unsupported(self) -> None:
        pass


class GuardPostgres(Postgres):
    """PostgreSQL, its calls by name."""

    class Parser(_Quiet, PostgresParser):
        FUNCTIONS: ClassVar[dict] = {}
        FUNCTION_PARSERS = {
            name: PostgresParser.FUNCTION_PARSERS[name] for name in _POSTGRES_GRAMMAR
        }

    class Generator(PostgresGenerator):
        MULTI_ARG_DISTINCT = True
        TRANSFORMS = {
            kind: write
            for kind, write in PostgresGenerator.TRANSFORMS.items()
            if kind is not exp.Select
        }


class GuardMySQL(MySQL):
    """MySQL and MariaDB, their calls by name, in words that both know."""

    class Parser(_Quiet, MySQLParser):
        FUNCTIONS: ClassVar[dict] = {
            name: lambda args, name=name: _unit_first(name, args)
            for name in _UNIT_FIRST
        }
        FUNCTION_PARSERS = {
            name: MySQLParser.FUNCTION_PARSERS[name] for name in _MYSQL_GRAMMAR
        }

    class Generator(MySQLGenerator):
        TRANSFORMS = {
            kind: write
            for kind, write in MySQLGenerator.TRANSFORMS.items()
            if kind is not exp.Select
        } | {exp.RegexpLike: _regexp, exp.JSONExtractScalar: _json_text}


READS: Mapping[Flavour, Dialect] = {
    "postgres": GuardPostgres(),
    "mysql": GuardMySQL(),
    "mariadb": GuardMySQL(),
}
