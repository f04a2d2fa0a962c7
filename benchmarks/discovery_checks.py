"""What a server says of its own schema, by other statements than discovery's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from connections.databases.catalogue_mysql import listed_values
from connections.models import (
    Database,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
)
from tests.targets import Target

PG_TABLES = """
    SELECT t.table_schema, t.table_name FROM information_schema.tables t
     WHERE t.table_schema NOT IN ('pg_catalog', 'information_schema')
    UNION ALL
    SELECT m.schemaname, m.matviewname FROM pg_matviews m
"""
PG_TABLE_COMMENTS = """
    SELECT d.description FROM pg_description d
     WHERE d.objoid = %s::regclass AND d.classoid = 'pg_class'::regclass
       AND d.objsubid = 0
"""
PG_COLUMNS = """
    SELECT c.column_name, c.ordinal_position, c.is_nullable,
           CASE WHEN c.domain_name IS NOT NULL THEN c.domain_name
                WHEN c.data_type = 'USER-DEFINED' THEN c.udt_name
                WHEN c.data_type = 'ARRAY' THEN ltrim(c.udt_name, '_') || '[]'
                ELSE c.data_type END,
           col_description(%s::regclass, c.ordinal_position),
           EXISTS (SELECT 1 FROM information_schema.table_constraints k
                     JOIN information_schema.key_column_usage u
                       ON u.constraint_schema = k.constraint_schema
                      AND u.constraint_name = k.constraint_name
                      AND u.table_name = k.table_name
                    WHERE k.constraint_type = 'PRIMARY KEY'
                      AND k.table_schema = c.table_schema
                      AND k.table_name = c.table_name
                      AND u.column_name = c.column_name)
      FROM information_schema.columns c
     WHERE c.table_schema = %s AND c.table_name = %s
"""
PG_KEYS = """
    SELECT k.conname, pg_get_constraintdef(k.oid) FROM pg_constraint k
     WHERE k.conrelid = %s::regclass AND k.contype = 'f'
"""
_MYSQL_KEY = re.compile(
    r"CONSTRAINT `((?:[^`]|``)*)` FOREIGN KEY \(([^)]*)\) REFERENCES"
    r" ((?:`(?:[^`]|``)*`\.)?`(?:[^`]|``)*`) \(([^)]*)\)"
)


@dataclass(slots=True)
class Checked:
    """How much was compared, and what differed."""

    tables: int = 0
    columns: int = 0
    keys: int = 0
    comments: int = 0
    values: int = 0
    differences: list[str] = field(default_factory=list)

    def add(self, other: Checked) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def cells(self) -> tuple[object, ...]:
        return (
            self.tables,
            self.columns,
            self.keys,
            self.comments,
            self.values,
            len(self.differences),
        )

    def same(self, what: str, found: object, said: object) -> None:
        """Note where what was found is not what the server says."""
        if found != said:
            self.differences.append(
                f"{what}: found {found!r}, the server says {said!r}"
            )


def checked(database: Database, target: Target, owner: Any) -> Checked:
    """Compare every stored row of `database` with the server."""
    cursor = owner.cursor()
    result = Checked()
    tables = {(t.schema, t.name): t for t in _tables(database)}
    is_postgres = target.engine == "postgres"
    said = set(_pg_tables(cursor) if is_postgres else _mysql_tables(cursor, target))
    result.same("tables", sorted(tables), sorted(said))
    if not said:
        result.differences.append("no table was made")
    compare = _check_postgres if is_postgres else _check_mysql
    for path in sorted(said & set(tables)):
        result.tables += 1
        compare(result, cursor, path, tables[path])
    return result


def _tables(database: Database) -> Iterator[DatabaseTable]:
    yield from DatabaseTable.objects.filter(
        database=database, gone_at=None
    ).prefetch_related("columns", "keys__target")


def _rows(cursor: Any, statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    cursor.execute(statement, values)
    return list(cursor.fetchall())


def _pg_tables(cursor: Any) -> Iterator[tuple[str, str]]:
    yield from ((str(a), str(b)) for a, b in _rows(cursor, PG_TABLES))


def _check_postgres(
    result: Checked, cursor: Any, path: tuple[str, str], table: DatabaseTable
) -> None:
    name = _rows(cursor, "SELECT format('%%I.%%I', %s::text, %s::text)", list(path))
    place = name[0][0]
    said = _rows(cursor, PG_TABLE_COMMENTS, [place])
    _check_comment(result, place, table.comment, said[0][0] if said else "")
    columns = {c.name: c for c in table.columns.all()}
    is_matview = _rows(
        cursor, "SELECT relkind = 'm' FROM pg_class WHERE oid = %s::regclass", [place]
    )[0][0]
    rows = _rows(cursor, PG_COLUMNS, [place, *path])
    if not is_matview:
        result.same(f"columns of {place}", sorted(columns), sorted(r[0] for r in rows))
    for column, position, nullable, kind, comment, is_key in rows:
        result.columns += 1
        found = columns.get(column)
        if found is None:
            continue
        what = f"{place}.{column}"
        _check_column(result, what, found, (position, nullable == "YES", is_key))
        result.same(f"type of {what}", _bare(found.data_type), _bare(kind))
        _check_comment(result, what, found.comment, comment or "")
        _check_enum(result, cursor, what, found, kind)
    _check_pg_keys(result, cursor, place, table)


def _bare(data_type: str) -> str:
    """Return a type without its size and schema, as information_schema writes it."""
    bare = re.sub(r"\([^)]*\)", "", data_type).rpartition(".")[2].strip('"')
    names = {"bpchar": "character", "int4": "integer", "int2": "smallint"}
    stem, array, _ = bare.partition("[]")
    return names.get(stem, stem) + array


def _check_column(
    result: Checked, what: str, found: DatabaseColumn, said: tuple[int, bool, bool]
) -> None:
    seen = (found.position, found.nullable, found.is_key)
    result.same(f"place, nullability, key of {what}", seen, said)


def _check_comment(result: Checked, what: str, found: str, said: str) -> None:
    result.comments += bool(said)
    result.same(f"comment of {what}", found, said)


def _check_enum(
    result: Checked, cursor: Any, what: str, found: DatabaseColumn, kind: str
) -> None:
    rows = _rows(
        cursor,
        "SELECT e.enumlabel FROM pg_enum e JOIN pg_type t ON t.oid = e.enumtypid"
        " WHERE t.typname = %s ORDER BY e.enumsortorder",
        [kind],
    )
    if rows and found.exposure == DatabaseColumn.Exposure.VISIBLE:
        result.values += len(rows)
        result.same(f"values of {what}", found.values, [row[0] for row in rows])


def _check_pg_keys(
    result: Checked, cursor: Any, place: str, table: DatabaseTable
) -> None:
    cursor.execute("SET search_path TO ''")
    said = dict(_rows(cursor, PG_KEYS, [place]))
    cursor.execute("RESET search_path")
    keys = {key.name: key for key in table.keys.all()}
    result.keys += len(said)
    result.same(f"keys of {place}", sorted(keys), sorted(said))
    for name in said.keys() & keys.keys():
        rendered = _pg_rendered(cursor, keys[name])
        text = said[name][: len(rendered)]
        result.same(f"key {name} of {place}", rendered, text)


def _pg_rendered(cursor: Any, key: DatabaseKey) -> str:
    names = [
        *key.columns,
        key.target.schema,
        key.target.name,
        *key.target_columns,
    ]
    quoted = [_rows(cursor, "SELECT quote_ident(%s)", [name])[0][0] for name in names]
    count = len(key.columns)
    schema, target = quoted[count : count + 2]
    own, other = ", ".join(quoted[:count]), ", ".join(quoted[count + 2 :])
    return f"FOREIGN KEY ({own}) REFERENCES {schema}.{target}({other})"


def _mysql_tables(cursor: Any, target: Target) -> Iterator[tuple[str, str]]:
    for row in _rows(cursor, "SHOW FULL TABLES"):
        yield target.database, row[0]


def _check_mysql(
    result: Checked, cursor: Any, path: tuple[str, str], table: DatabaseTable
) -> None:
    place = ".".join(f"`{name.replace('`', '``')}`" for name in path)
    if table.kind == "table":
        status = _rows(cursor, "SHOW TABLE STATUS WHERE Name = %s", [path[1]])
        _check_comment(result, place, table.comment, status[0][17])
    columns = {c.name: c for c in table.columns.all()}
    rows = _rows(cursor, f"SHOW FULL COLUMNS FROM {place}")
    result.same(f"columns of {place}", sorted(columns), sorted(row[0] for row in rows))
    for number, row in enumerate(rows, start=1):
        result.columns += 1
        found = columns.get(row[0])
        if found is None:
            continue
        what = f"{place}.{row[0]}"
        _check_column(result, what, found, (number, row[3] == "YES", row[4] == "PRI"))
        _check_comment(result, what, found.comment, row[8])
        kind = row[1].partition("(")[0]
        if kind in ("enum", "set"):
            values = list(listed_values(row[1]))
            result.values += len(values)
            result.same(f"values of {what}", found.values, values)
        else:
            result.same(f"type of {what}", found.data_type, row[1])
    _check_mysql_keys(result, cursor, place, path, table)


def _check_mysql_keys(
    result: Checked,
    cursor: Any,
    place: str,
    path: tuple[str, str],
    table: DatabaseTable,
) -> None:
    text = _rows(cursor, f"SHOW CREATE TABLE {place}")[0][1]
    said = {
        _plain(name): (_names(own), _names(target)[-1], _names(other))
        for name, own, target, other in _MYSQL_KEY.findall(text)
    }
    keys = {
        key.name: (key.columns, key.target.name, key.target_columns)
        for key in table.keys.all()
    }
    result.keys += len(said)
    result.same(f"keys of {place} in {path[0]}", keys, said)


def _names(quoted: str) -> list[str]:
    return [_plain(name) for name in re.findall(r"`((?:[^`]|``)*)`", quoted)]


def _plain(name: str) -> str:
    return name.replace("``", "`")
