"""SQL that puts staged lines into the tables, compiled from a part's fields.

Names of tables and columns are the models' own, never input; values are bound.
"""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Field, JSONField, UUIDField

from connections.models import User
from graph.exporting.parts import Part, concrete, part_of, target_of

USERS = "restored_users"
STAGE_USERS = (
    f"CREATE TEMPORARY TABLE {USERS} (email text PRIMARY KEY, id bigint NOT NULL)"
    " ON COMMIT DROP"
)


def in_table(part: Part) -> str:
    """Return the name of the temporary table of a part's lines."""
    return f"restored_{part.name}"


def stage_statement(part: Part) -> str:
    """Return what makes the table that lines are copied into; each gets an id."""
    pk = part.model._meta.pk
    if isinstance(pk, UUIDField):
        ids = "id uuid NOT NULL DEFAULT gen_random_uuid()"
    elif pk.remote_field is not None:
        ids = "id bigint"
    else:
        ids = (
            "id bigint NOT NULL DEFAULT"
            f" nextval(pg_get_serial_sequence('{part.table}', '{pk.column}'))"
        )
    return (
        f"CREATE TEMPORARY TABLE {in_table(part)} (line bigint NOT NULL, {ids},"
        " address jsonb NOT NULL, doc jsonb NOT NULL) ON COMMIT DROP"
    )


def index_statement(part: Part) -> str:
    return f"CREATE INDEX ON {in_table(part)} USING hash (address)"


def own_id_statement(part: Part) -> str | None:
    """Return what gives rows that are one with another, such as an observation with its
    node, that one's id; None for those with ids of their own."""
    pk = part.model._meta.pk
    to = target_of(pk)
    if to is None:
        return None
    return (
        f"UPDATE {in_table(part)} s SET id = a.id FROM {in_table(part_of(to))} a"  # noqa: S608 - ours
        f" WHERE a.address = s.doc -> '{pk.name}'"
    )


def twice_statement(part: Part) -> str:
    """Return what finds a line that names what an earlier one has named."""
    return (
        "SELECT min(twice.line) FROM ("  # noqa: S608 - ours
        f"SELECT max(s.line) AS line FROM {in_table(part)} s"
        " GROUP BY s.address HAVING count(*) > 1) twice"
    )


def references(part: Part) -> list[Field[Any, Any]]:
    """Return the fields that refer to rows of the export itself."""
    return [
        f
        for f in part.fields
        if target_of(f) not in (None, User) and f.name not in part.translated
    ]


def missing_statement(part: Part, column: Field[Any, Any]) -> str:
    """Return what finds the first line that refers to what the export has not."""
    to = target_of(column)
    assert to is not None  # noqa: S101 - `references` gave it
    return (
        f"SELECT s.line, s.doc ->> '{column.name}' FROM {in_table(part)} s"  # noqa: S608 - ours
        f" LEFT JOIN {in_table(part_of(to))} a ON a.address = s.doc -> '{column.name}'"
        f" WHERE s.doc -> '{column.name}' <> 'null' AND a.address IS NULL"
        " ORDER BY s.line LIMIT 1"
    )


def insert_statement(part: Part) -> str:
    """Return what inserts the lines of a part, as one statement in their order."""
    pk = part.model._meta.pk
    columns = [] if pk.remote_field else [(pk.column, "s.id")]
    if part.is_scoped:
        columns += [("tenant_id", "%(tenant)s"), ("project_id", "%(project)s")]
    columns += [(f.column, _value(part, f)) for f in part.fields]
    columns += [(f.column, f"%({f.name})s") for f in fixed_fields(part)]
    names = ", ".join(f'"{name}"' for name, _ in columns)
    values = ", ".join(value for _, value in columns)
    return (
        f"INSERT INTO {part.table} ({names}) SELECT {values}"  # noqa: S608 - ours
        f" FROM {in_table(part)} s {_record(part)} {_joins(part)} ORDER BY s.line"
    )


def update_statement(part: Part) -> str:
    """Return what gives the project itself what its one line says."""
    named = ", ".join(f'"{f.column}" = r."{f.column}"' for f in part.fields)
    return (
        f"UPDATE {part.table} t SET {named} FROM {in_table(part)} s"  # noqa: S608 - ours
        f" {_record(part)} WHERE t.id = %(project)s"
    )


def fixed_fields(part: Part) -> list[Field[Any, Any]]:
    """Return the fields that the file has not and that may not be empty."""
    written = {f.name for f in part.fields} | {"tenant", "project"}
    return [
        f
        for f in concrete(part.model)
        if f.name not in written
        and not f.primary_key
        and (f.name in part.fixed or not f.null)
    ]


def fixed_value(part: Part, column: Field[Any, Any]) -> Any:
    """Return what a field is given that the file has not, as the database takes it."""
    value = part.fixed.get(column.name, column.get_default())
    return column.get_db_prep_save(value, connection)


def _record(part: Part) -> str:
    """Return the fields of a line as columns of the table's own types."""
    plain = [
        f for f in part.fields if target_of(f) is None and f.name not in part.translated
    ]
    if not plain:
        return ""
    types = ", ".join(f'"{f.column}" {f.db_type(connection)}' for f in plain)
    return f"CROSS JOIN LATERAL jsonb_to_record(s.doc) AS r ({types})"


def _joins(part: Part) -> str:
    joins = []
    for column in part.fields:
        to = target_of(column)
        if to is None or column.name in part.translated:
            continue
        alias, said = f"a_{column.name}", f"s.doc -> '{column.name}'"
        table = USERS if to is User else in_table(part_of(to))
        same = (
            f"{alias}.email = s.doc ->> '{column.name}'"
            if to is User
            else f"{alias}.address = {said}"
        )
        joins.append(f"LEFT JOIN {table} {alias} ON {same}")
    return " ".join(joins)


def _value(part: Part, column: Field[Any, Any]) -> str:
    if column.name in part.translated:
        return part.translated[column.name].back
    if target_of(column) is None:
        said = f'r."{column.column}"'
        # In JSON that must be there, null is what was said.
        is_said = isinstance(column, JSONField) and not column.null
        return f"coalesce({said}, 'null')" if is_said else said
    if part.unordered and column.name in part.unordered:
        choose = "LEAST" if column.name == part.unordered[0] else "GREATEST"
        return f"{choose}({', '.join(f'a_{n}.id' for n in part.unordered)})"
    return f"a_{column.name}.id"
