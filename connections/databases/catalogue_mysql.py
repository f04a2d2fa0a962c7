"""The catalogue of a MySQL or MariaDB server, as far as the login may read it.

`information_schema` shows what the login has any right to; only what it may SELECT is
taken. A schema is a database here; those of the server itself are left out.
"""

from __future__ import annotations

import re
from collections import defaultdict

from connections.databases.base import Family, ForeignKey
from connections.databases.connecting import Opened
from connections.databases.found import (
    Found,
    FoundColumn,
    FoundTable,
    assembled,
    clean,
)

DEFAULT_SCHEMA = "SELECT DATABASE()"
_OWN = "('mysql', 'information_schema', 'performance_schema', 'sys')"
# A view's comment is "VIEW", or says what is wrong with it: it has none of its own.
TABLES = f"""
    SELECT t.table_schema, t.table_name, t.table_type,
           CASE WHEN t.table_type = 'VIEW' THEN '' ELSE t.table_comment END,
           coalesce(t.table_rows, 0)
      FROM information_schema.tables t
     WHERE t.table_schema NOT IN {_OWN}
       AND t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')
     ORDER BY t.table_schema, t.table_name
"""  # noqa: S608 - ours
COLUMNS = f"""
    SELECT c.table_schema, c.table_name, c.column_name, c.ordinal_position,
           c.data_type, c.column_type, c.is_nullable, c.column_comment, c.column_key
      FROM information_schema.columns c
     WHERE c.table_schema NOT IN {_OWN}
       AND find_in_set('select', lower(replace(c.privileges, ' ', ''))) > 0
     ORDER BY c.table_schema, c.table_name, c.ordinal_position
"""  # noqa: S608 - ours
KEYS = f"""
    SELECT k.table_schema, k.table_name, k.constraint_name, k.column_name,
           k.referenced_table_schema, k.referenced_table_name,
           k.referenced_column_name
      FROM information_schema.key_column_usage k
     WHERE k.table_schema NOT IN {_OWN} AND k.referenced_table_name IS NOT NULL
     ORDER BY k.table_schema, k.table_name, k.constraint_name, k.ordinal_position
"""  # noqa: S608 - ours
_FAMILIES: dict[str, Family] = {
    **dict.fromkeys(
        (
            "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "decimal",
            "numeric", "float", "double", "year",
        ),
        "number",
    ),
    **dict.fromkeys(
        (
            "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum",
            "set",
        ),
        "text",
    ),
    **dict.fromkeys(
        (
            "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit",
        ),
        "binary",
    ),
    "date": "date",
    "time": "time",
    "datetime": "timestamp",
    "timestamp": "timestamp",
    "json": "json",
}  # fmt: skip
# Both servers have no boolean type of their own: BOOLEAN makes the first of these.
_BOOLEANS = ("tinyint(1)", "bit(1)")
_QUOTED = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)
_ESCAPED = re.compile(r"''|\\(.)", re.DOTALL)
_MEANT = {"0": "\ufffd", "n": "\n", "r": "\r", "t": "\t"}


def read_catalogue(opened: Opened) -> Found:
    """Return what the login may read; four statements, none a table."""
    (default,) = opened.read(DEFAULT_SCHEMA)[0]
    heads = [
        FoundTable(
            schema=schema,
            name=name,
            kind="view" if kind == "VIEW" else "table",
            comment=clean(comment),
            rows=int(rows),
        )
        for schema, name, kind, comment, rows in opened.read(TABLES)
    ]
    return Found(
        flavour=opened.flavour,
        version=opened.version,
        default_schema=default or "",
        tables=assembled(heads, _columns(opened), _keys(opened)),
    )


def _columns(opened: Opened) -> dict[tuple[str, str], list[FoundColumn]]:
    columns: dict[tuple[str, str], list[FoundColumn]] = defaultdict(list)
    for (
        schema, table, name, place, kind, whole, nullable, comment, key,
    ) in opened.read(COLUMNS):  # fmt: skip
        kind, whole = _text(kind).lower(), _text(whole)
        is_listed = kind in ("enum", "set")
        columns[schema, table].append(
            FoundColumn(
                name=name,
                position=int(place),
                # The values of an enumeration are told apart from its type.
                data_type=kind if is_listed else whole,
                family=_family(kind, whole),
                nullable=nullable == "YES",
                comment=clean(_text(comment)),
                is_key=key == "PRI",
                values=listed_values(whole) if is_listed else (),
            )
        )
    return columns


def _family(kind: str, whole: str) -> Family:
    if whole.lower() in _BOOLEANS:
        return "boolean"
    return _FAMILIES.get(kind, "other")


def _text(value: str | bytes) -> str:
    """Return text: MySQL tells some columns of its catalogue as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def listed_values(column_type: str) -> tuple[str, ...]:
    """Return the values of `enum('a','b''s')` or `set(...)`, as they were written."""
    return tuple(
        clean(_ESCAPED.sub(_unescaped, match[1]))
        for match in _QUOTED.finditer(column_type)
    )


def _unescaped(match: re.Match[str]) -> str:
    return "'" if match[1] is None else _MEANT.get(match[1], match[1])


def _keys(opened: Opened) -> dict[tuple[str, str], list[ForeignKey]]:
    parts: dict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
    for schema, table, name, own, target_schema, target, other in opened.read(KEYS):
        parts[schema, table, name, target_schema, target].append((own, other))
    keys: dict[tuple[str, str], list[ForeignKey]] = defaultdict(list)
    for (schema, table, name, target_schema, target), pairs in parts.items():
        keys[schema, table].append(
            ForeignKey(
                name=name,
                columns=tuple(own for own, _ in pairs),
                target_schema=target_schema,
                target_table=target,
                target_columns=tuple(other for _, other in pairs),
            )
        )
    return keys
