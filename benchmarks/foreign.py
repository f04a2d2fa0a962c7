"""Databases of the real data, loaded into servers of their own and read back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import MySQLdb
import psycopg

from connections.databases.base import (
    Column,
    Family,
    Flavour,
    ForeignKey,
    Schema,
    Table,
)
from tests.targets import Target

FEW = 50  # values of a column that are worth knowing
FAMILIES: dict[str, Family] = {
    **dict.fromkeys(
        [
            "bigint",
            "integer",
            "smallint",
            "numeric",
            "decimal",
            "double",
            "real",
            "float",
            "int",
            "tinyint",
            "mediumint",
        ],
        "number",
    ),
    **dict.fromkeys(
        ["text", "character", "varchar", "char", "longtext", "mediumtext"], "text"
    ),
    "date": "date",
    "time": "time",
    "timestamp": "timestamp",
    "datetime": "timestamp",
    "boolean": "boolean",
}
COLUMNS = """
    SELECT c.table_name, c.column_name, c.data_type, c.is_nullable
      FROM information_schema.columns c
     WHERE c.table_schema = %s ORDER BY c.table_name, c.ordinal_position
"""
KEYS = """
    SELECT k.table_name, k.constraint_name, k.column_name, t.constraint_type
      FROM information_schema.key_column_usage k
      JOIN information_schema.table_constraints t
        ON t.constraint_schema = k.constraint_schema
       AND t.constraint_name = k.constraint_name AND t.table_name = k.table_name
     WHERE k.table_schema = %s
     ORDER BY k.table_name, k.constraint_name, k.ordinal_position
"""
POSTGRES_TARGETS = """
    SELECT c.conname, c.conrelid::regclass::text, c.confrelid::regclass::text,
           (SELECT array_agg(a.attname ORDER BY p.place)
              FROM unnest(c.confkey) WITH ORDINALITY p (number, place)
              JOIN pg_attribute a
                ON a.attrelid = c.confrelid AND a.attnum = p.number)
      FROM pg_constraint c
     WHERE c.contype = 'f' AND c.connamespace = %s::regnamespace
"""
MYSQL_TARGETS = """
    SELECT k.constraint_name, k.table_name, k.referenced_table_name,
           k.referenced_column_name
      FROM information_schema.key_column_usage k
     WHERE k.table_schema = %s AND k.referenced_table_name IS NOT NULL
     ORDER BY k.table_name, k.constraint_name, k.ordinal_position
"""


class Foreign:
    """A database of the real data as loaded: statements run there, its schema."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.raw: Any = target.admin()
        self.flavour: Flavour = "postgres" if target.engine == "postgres" else "mariadb"
        self.space = "public" if self.flavour == "postgres" else target.database

    def load(self, path: Path) -> Schema:
        """Empty the database, load a dump and return what it holds."""
        statements = path.read_text(encoding="utf-8")
        if self.flavour == "postgres":
            self.raw.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            self.raw.execute(statements)
            self.raw.execute("SET search_path = public")
            self.raw.execute("SET statement_timeout = '20s'")
        else:
            self._load_mysql(statements)
        return self._schema()

    def rows(self, statement: str) -> list[tuple[Any, ...]] | None:
        """Return what a statement gives; None where it fails."""
        cursor = self.raw.cursor()
        try:
            cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()]
        except (psycopg.Error, MySQLdb.Error):
            return None
        finally:
            cursor.close()

    def _load_mysql(self, statements: str) -> None:
        self.raw.close()
        name = self.space
        self.target.run(
            f"DROP DATABASE IF EXISTS {name}",
            f"CREATE DATABASE {name} CHARACTER SET utf8mb4",
        )
        owner = {**self.target.owner, "database": name}
        # CLIENT.MULTI_STATEMENTS is on by default: a dump is sent whole.
        self.raw = MySQLdb.connect(**owner, autocommit=True)
        cursor = self.raw.cursor()
        cursor.execute("SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')")
        cursor.execute(statements)
        while cursor.nextset() is not None:
            pass
        cursor.execute("SET sql_mode = REPLACE(@@sql_mode, 'NO_BACKSLASH_ESCAPES', '')")
        cursor.close()

    def _read(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self.raw.cursor()
        cursor.execute(statement, (self.space,))
        return [tuple(row) for row in cursor.fetchall()]

    def _schema(self) -> Schema:
        keys: dict[str, dict[str, list[str]]] = {}
        primary: dict[str, list[str]] = {}
        for table, name, column, kind in self._read(KEYS):
            if kind == "PRIMARY KEY":
                primary.setdefault(table, []).append(column)
            elif kind == "FOREIGN KEY":
                keys.setdefault(table, {}).setdefault(name, []).append(column)
        targets = self._targets()
        columns: dict[str, list[Column]] = {}
        for table, name, kind, nullable in self._read(COLUMNS):
            is_key = name in primary.get(table, ())
            found = self._column(table, name, kind, nullable == "YES", is_key)
            columns.setdefault(table, []).append(found)
        tables = tuple(
            Table(
                schema=self.space,
                name=table,
                columns=tuple(some),
                foreign_keys=tuple(
                    ForeignKey(
                        name=name,
                        columns=tuple(own),
                        target_schema=self.space,
                        target_table=targets[table, name][0],
                        target_columns=tuple(targets[table, name][1]),
                    )
                    for name, own in keys.get(table, {}).items()
                ),
            )
            for table, some in columns.items()
        )
        return Schema(
            flavour=self.flavour, version="", default_schema=self.space, tables=tables
        )

    def _targets(self) -> dict[tuple[str, str], tuple[str, Sequence[str]]]:
        if self.flavour == "postgres":
            return {
                (_bare(table), name): (_bare(target), columns)
                for name, table, target, columns in self._read(POSTGRES_TARGETS)
            }
        found: dict[tuple[str, str], tuple[str, list[str]]] = {}
        for name, table, target, column in self._read(MYSQL_TARGETS):
            found.setdefault((table, name), (target, []))[1].append(column)
        return dict(found)

    def _column(
        self, table: str, name: str, kind: str, nullable: bool, is_key: bool
    ) -> Column:
        family = FAMILIES.get(kind.lower().split(" ")[0], "other")
        values: tuple[str, ...] = ()
        if family == "text":
            quote = '"' if self.flavour == "postgres" else "`"
            one, of = (f"{quote}{text}{quote}" for text in (name, table))
            some = self.rows(
                f"SELECT DISTINCT {one} FROM {of} WHERE {one} IS NOT NULL"  # noqa: S608
                f" ORDER BY 1 LIMIT {FEW + 1}"
            )
            if some is not None and len(some) <= FEW:
                values = tuple(str(row[0]) for row in some if len(str(row[0])) <= 100)
        return Column(
            name=name,
            data_type=kind,
            family=family,
            nullable=nullable,
            is_key=is_key,
            values=values,
        )


def _bare(name: str) -> str:
    return name.split(".")[-1].strip('"')


@contextmanager
def opened(target: Target) -> Iterator[Foreign]:
    """Yield a target's database to load into; its connection is closed afterwards."""
    foreign = Foreign(target)
    try:
        yield foreign
    finally:
        foreign.raw.close()
