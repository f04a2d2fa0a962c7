"""The catalogue of a PostgreSQL server, as far as the login may read what it tells of.

Every statement reads `pg_catalog` once, whatever the number of tables. Partitions are
left out for the table they are parts of, and what belongs to an extension for what it
is: machinery, not content.
"""

from __future__ import annotations

from collections import defaultdict

from connections.databases.base import Family, ForeignKey
from connections.databases.connecting import Opened
from connections.databases.found import Found, FoundColumn, FoundTable, assembled

DEFAULT_SCHEMA = """
    SELECT coalesce(pg_catalog.current_schema(), 'public')
"""
# The relations that count, and may be read at least in part.
_RELATIONS = """
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
       AND n.nspname <> 'information_schema'
       AND pg_catalog.left(n.nspname, 3) <> 'pg_'
       AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
       AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
       AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend x
                        WHERE x.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
                          AND x.objid = c.oid AND x.deptype = 'e')
"""
# Until a table is analyzed, `reltuples` is -1: the statistics of its use know better.
TABLES = f"""
    SELECT n.nspname, c.relname, c.relkind,
           pg_catalog.obj_description(c.oid, 'pg_class'),
           greatest(0, CASE
               WHEN c.relkind = 'p' THEN (
                   SELECT coalesce(sum(CASE WHEN leaf.reltuples < 0
                              THEN pg_catalog.pg_stat_get_live_tuples(leaf.oid)
                              ELSE leaf.reltuples END), 0)
                     FROM pg_catalog.pg_partition_tree(c.oid) part
                     JOIN pg_catalog.pg_class leaf ON leaf.oid = part.relid
                    WHERE part.isleaf)
               WHEN c.reltuples < 0 THEN pg_catalog.pg_stat_get_live_tuples(c.oid)
               ELSE c.reltuples END)::pg_catalog.int8
      {_RELATIONS}
     ORDER BY n.nspname, c.relname
"""  # noqa: S608 - ours
# The type beneath a domain says how its values behave.
COLUMNS = f"""
    WITH RECURSIVE base (domain, type) AS (
        SELECT t.oid, t.typbasetype FROM pg_catalog.pg_type t WHERE t.typtype = 'd'
        UNION ALL
        SELECT base.domain, t.typbasetype
          FROM base JOIN pg_catalog.pg_type t ON t.oid = base.type
         WHERE t.typtype = 'd'
    ), relations (id, schema, name) AS (
        SELECT c.oid, n.nspname, c.relname {_RELATIONS}
    )
    SELECT r.schema, r.name, a.attname, a.attnum,
           pg_catalog.format_type(a.atttypid, a.atttypmod),
           b.typname, b.typcategory, b.oid,
           NOT (a.attnotnull OR (t.typtype = 'd' AND t.typnotnull)),
           d.description,
           coalesce(a.attnum = ANY(p.conkey), false)
      FROM relations r
      JOIN pg_catalog.pg_attribute a ON a.attrelid = r.id
      JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
      JOIN pg_catalog.pg_type b ON b.oid = coalesce(
           (SELECT base.type FROM base
              JOIN pg_catalog.pg_type last ON last.oid = base.type
             WHERE base.domain = t.oid AND last.typtype <> 'd'), t.oid)
      LEFT JOIN pg_catalog.pg_description d ON d.objoid = r.id
       AND d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
       AND d.objsubid = a.attnum
      LEFT JOIN pg_catalog.pg_constraint p ON p.conrelid = r.id AND p.contype = 'p'
     WHERE a.attnum > 0 AND NOT a.attisdropped
       AND pg_catalog.has_column_privilege(r.id, a.attnum, 'SELECT')
     ORDER BY r.schema, r.name, a.attnum
"""  # noqa: S608 - ours
ENUMS = """
    SELECT e.enumtypid, e.enumlabel FROM pg_catalog.pg_enum e
     ORDER BY e.enumtypid, e.enumsortorder
"""
# A key to a partitioned table has one more row for each partition: those have a parent.
KEYS = """
    SELECT n.nspname, c.relname, k.conname, tn.nspname, tc.relname,
           ARRAY(SELECT a.attname::pg_catalog.text
                   FROM unnest(k.conkey) WITH ORDINALITY AS part (number, place)
                   JOIN pg_catalog.pg_attribute a
                     ON a.attrelid = k.conrelid AND a.attnum = part.number
                  ORDER BY part.place),
           ARRAY(SELECT a.attname::pg_catalog.text
                   FROM unnest(k.confkey) WITH ORDINALITY AS part (number, place)
                   JOIN pg_catalog.pg_attribute a
                     ON a.attrelid = k.confrelid AND a.attnum = part.number
                  ORDER BY part.place)
      FROM pg_catalog.pg_constraint k
      JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_class tc ON tc.oid = k.confrelid
      JOIN pg_catalog.pg_namespace tn ON tn.oid = tc.relnamespace
     WHERE k.contype = 'f' AND k.conparentid = 0
     ORDER BY n.nspname, c.relname, k.conname
"""
KINDS = {
    "r": "table",
    "p": "table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
}
_BY_NAME: dict[str, Family] = {
    "date": "date",
    "time": "time",
    "timetz": "time",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "json": "json",
    "jsonb": "json",
    "bytea": "binary",
}
_BY_CATEGORY: dict[str, Family] = {
    "N": "number",
    "S": "text",
    "E": "text",
    "B": "boolean",
}


def read_catalogue(opened: Opened) -> Found:
    """Return what the login may read; five statements in one snapshot."""
    opened.raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    try:
        (default,) = opened.read(DEFAULT_SCHEMA)[0]
        heads = [
            FoundTable(
                schema=schema,
                name=name,
                kind=KINDS[_text(kind)],
                comment=comment or "",
                rows=rows,
            )
            for schema, name, kind, comment, rows in opened.read(TABLES)
        ]
        columns, keys = _columns(opened), _keys(opened)
    finally:
        opened.raw.execute("ROLLBACK")
    return Found(
        flavour=opened.flavour,
        version=opened.version,
        default_schema=default,
        tables=assembled(heads, columns, keys),
    )


def _columns(opened: Opened) -> dict[tuple[str, str], list[FoundColumn]]:
    labels: dict[int, list[str]] = defaultdict(list)
    for type_id, label in opened.read(ENUMS):
        labels[type_id].append(label)
    columns: dict[tuple[str, str], list[FoundColumn]] = defaultdict(list)
    for (
        schema, table, name, place, shown, base, category, type_id, nullable, comment,
        is_key,
    ) in opened.read(COLUMNS):  # fmt: skip
        columns[schema, table].append(
            FoundColumn(
                name=name,
                position=place,
                data_type=shown,
                family=_family(base, _text(category)),
                nullable=nullable,
                comment=comment or "",
                is_key=is_key,
                values=tuple(labels.get(type_id, ())),
            )
        )
    return columns


def _family(base: str, category: str) -> Family:
    return _BY_NAME.get(base) or _BY_CATEGORY.get(category) or "other"


def _text(character: str | bytes) -> str:
    """Return a value of PostgreSQL's one-byte type, which comes as bytes or text."""
    return character.decode() if isinstance(character, bytes) else character


def _keys(opened: Opened) -> dict[tuple[str, str], list[ForeignKey]]:
    keys: dict[tuple[str, str], list[ForeignKey]] = defaultdict(list)
    for schema, table, name, target_schema, target, own, other in opened.read(KEYS):
        keys[schema, table].append(
            ForeignKey(
                name=name,
                columns=tuple(own),
                target_schema=target_schema,
                target_table=target,
                target_columns=tuple(other),
            )
        )
    return keys
