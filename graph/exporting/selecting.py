"""SQL that reads the rows of a part as lines of JSON, compiled from its fields.

Names of tables and columns are the models' own, never input; values are bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Field

from connections.models import Project, User
from graph.exporting.parts import Part, part_of, referred_to, target_of

# One column that holds no control characters: nothing is ever quoted or escaped.
LINES = (
    "COPY ({query}) TO STDOUT"
    r" (FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01', NULL E'\x03')"
)
_SCOPE = "t.tenant_id = {tenant} AND t.project_id = {project}"


@dataclass(frozen=True, slots=True)
class Scope:
    """Of which project, and whether what people said to it goes along."""

    tenant: int
    project: int
    with_memory: bool = True


def out_table(part: Part) -> str:
    """Return the name of the temporary table of a part's ids and addresses."""
    return f"exported_{part.name}"


def addresses_statement(part: Part, scope: Scope) -> str:
    """Return what makes the table of a part's ids and addresses."""
    pk = part.model._meta.pk.column
    return (
        f"CREATE TEMPORARY TABLE {out_table(part)} ON COMMIT DROP AS "
        f"SELECT t.{pk} AS id, {_address(part)} AS address"
        f" {_rows(part, scope, only=part.address)}"
    )


def lines_statement(part: Part, scope: Scope) -> str:
    """Return what reads a part line by line, in an order that no database changes."""
    own = _knows_itself(part)
    pk = part.model._meta.pk.column
    columns = [f"{said} AS {_quoted(name)}" for name, said in part.extra.items()]
    columns += [f"{_value(part, f)} AS {_quoted(f.name)}" for f in part.fields]
    if part.is_numbered:
        columns.insert(len(part.address), f"{_number(part, own)} AS n")
    itself = f"JOIN {out_table(part)} self ON self.id = t.{pk}" if own else ""
    order = "self.address" if own else _address(part)
    return (
        f"SELECT row_to_json(line)::text FROM ("  # noqa: S608 - ours
        f"SELECT {', '.join(columns)}"
        f" {_rows(part, scope, itself=itself)}"
        f' ORDER BY ({order})::text COLLATE "C", t.{pk}) line'
    )


def in_project_statement(part: Part, project: Project) -> str:
    """Return what finds a row of the project, if it has one."""
    scope = _SCOPE.format(tenant=project.tenant_id, project=project.pk)
    return f"SELECT 1 FROM {part.table} t WHERE {scope} LIMIT 1"  # noqa: S608 - ours


def _knows_itself(part: Part) -> bool:
    return part.name in referred_to() or part.prepare is not None


def _rows(
    part: Part, scope: Scope, *, itself: str = "", only: tuple[str, ...] | None = None
) -> str:
    """Return the tables and conditions of a part's rows, what they refer to joined."""
    joins, conditions = [itself], []
    if part.is_scoped:
        conditions.append(_SCOPE.format(tenant=scope.tenant, project=scope.project))
    for column in part.fields:
        to = target_of(column)
        if to is None or column.name in part.translated:
            continue
        if to is User:
            if only is None or column.name in only:
                joins.append(_join(column, User._meta.db_table))
            continue
        if only is not None and to is part.model:
            continue
        # What is left out takes along what refers to it.
        joins.append(_join(column, out_table(part_of(to))))
        there = f"a_{column.name}.id IS NOT NULL"
        is_open = column.null and column.name != part.within
        conditions.append(
            f"(t.{column.column} IS NULL OR {there})" if is_open else there
        )
    wheres = [part.where.format(project=scope.project) if part.where else ""]
    if not scope.with_memory:
        wheres.append(part.where_without_memory)
    said = " AND ".join(c for c in (*conditions, *wheres) if c)
    return f"FROM {part.table} t {' '.join(joins)} WHERE {said}"


def _join(column: Field[Any, Any], table: str) -> str:
    alias = f"a_{column.name}"
    return f"LEFT JOIN {table} {alias} ON {alias}.id = t.{column.column}"


def _value(part: Part, column: Field[Any, Any]) -> str:
    """Return what stands for a field in the file."""
    if column.name in part.translated:
        return part.translated[column.name].out
    to = target_of(column)
    if to is User:
        return f"lower(a_{column.name}.email)"
    if to is None:
        return f"t.{column.column}"
    if part.unordered and column.name in part.unordered:
        sides = [f'a_{name}.address::text COLLATE "C"' for name in part.unordered]
        choose = "LEAST" if column.name == part.unordered[0] else "GREATEST"
        return f"{choose}({', '.join(sides)})::jsonb"
    return f"a_{column.name}.address"


def _address(part: Part) -> str:
    values = _named(part)
    if part.is_numbered:
        values.append(_number(part, False))
    if part.is_plain:
        return f"to_jsonb({values[0]})"
    return f"jsonb_build_array({', '.join(values)})"


def _named(part: Part) -> list[str]:
    by_name = {f.name: f for f in part.fields}
    return [
        part.extra[name] if name in part.extra else _value(part, by_name[name])
        for name in part.address
    ]


def _number(part: Part, own: bool) -> str:
    if own:
        return "(self.address ->> -1)::bigint"
    same = ", ".join(_named(part))
    pk = part.model._meta.pk.column
    return f"row_number() OVER (PARTITION BY {same} ORDER BY t.{pk})"


def _quoted(name: str) -> str:
    return f'"{name}"'
