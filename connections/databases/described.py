"""A schema in words: what search finds a table or a column by, and shows of it."""

from __future__ import annotations

from collections.abc import Sequence

from connections.databases.base import Column, ForeignKey, Table
from connections.databases.personal import words_of

# The most frequent come first; a text is no place for two hundred.
VALUES_SHOWN = 20
EXPOSURES = {
    "masked": "masked",
    "aggregate": "only in aggregates",
}


def path_key(*names: str) -> str:
    """Return names with dots between; one that holds a dot or a quote is quoted.

    So `"a.b".c` and `a."b.c"` are two keys.
    """
    return ".".join(_key_part(name) for name in names)


def _key_part(name: str) -> str:
    if "." in name or '"' in name or name != name.strip():
        return '"' + name.replace('"', '""') + '"'
    return name


def spoken(name: str) -> str:
    """Return a name in words: "orderItems" and "order_items" as "order items"."""
    return " ".join(words_of(name)) or name


def table_text(table: Table) -> str:
    """Return what a table is and holds: its comment, then a line a column."""
    head = f"{spoken(table.name)}: {table.kind} {table.path}"
    keys = _targets(table.foreign_keys)
    columns = [_column_line(column, keys.get(column.name)) for column in table.columns]
    parts = [head, table.comment, "Columns:", *columns]
    return "\n".join(part for part in parts if part)


def _targets(keys: Sequence[ForeignKey]) -> dict[str, list[str]]:
    targets: dict[str, list[str]] = {}
    for key in keys:
        for own, other in zip(key.columns, key.target_columns, strict=True):
            target = f"{key.target_schema}.{key.target_table}.{other}"
            targets.setdefault(own, []).append(target)
    return targets


def _column_line(column: Column, targets: list[str] | None) -> str:
    said = [f"- {column.name} ({column.data_type})"]
    if column.is_key:
        said.append("primary key")
    if targets:
        said.append(f"references {', '.join(targets)}")
    if column.exposure != "visible":
        said.append(EXPOSURES[column.exposure])
    if column.comment:
        said.append(column.comment)
    if column.values:
        said.append(f"values: {shown_values(column.values)}")
    return "; ".join(said)


def column_text(table: Table, column: Column) -> str:
    """Return what a column is and holds; no value of one that is not visible."""
    said = [
        f"{spoken(column.name)}: column {column.name} ({column.data_type}) of the"
        f" {table.kind} {table.path}"
    ]
    if column.comment:
        said.append(column.comment)
    if column.exposure != "visible":
        said.append(f"May be used {EXPOSURES[column.exposure]}.")
    if column.values:
        said.append(f"Values: {shown_values(column.values)}")
    return "\n".join(said)


def shown_values(values: Sequence[str], most: int = VALUES_SHOWN) -> str:
    """Return the first values with commas between, and how many more there are."""
    shown = ", ".join(values[:most])
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown
