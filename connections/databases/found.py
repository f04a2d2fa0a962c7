"""What a catalogue holds, as it was read: before anybody decided what may be seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from connections.databases.base import Family, Flavour, ForeignKey


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundColumn:
    """A column that the login may read; `values` are all of an enumeration's."""

    name: str
    position: int
    data_type: str
    family: Family
    nullable: bool
    comment: str
    is_key: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTable:
    """A table or view that the login may read; `rows` is the server's own estimate.

    `kind` is what it is called: table, view, materialized view, foreign table.
    """

    schema: str
    name: str
    kind: str
    comment: str
    rows: int
    columns: tuple[FoundColumn, ...] = ()
    keys: tuple[ForeignKey, ...] = ()

    @property
    def path(self) -> tuple[str, str]:
        return self.schema, self.name

    @property
    def is_view(self) -> bool:
        return self.kind in ("view", "materialized view")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A whole catalogue, in the order of schemas and names."""

    flavour: Flavour
    version: str
    default_schema: str
    tables: tuple[FoundTable, ...]


def assembled(
    heads: Iterable[FoundTable],
    columns: Mapping[tuple[str, str], list[FoundColumn]],
    keys: Mapping[tuple[str, str], list[ForeignKey]],
) -> tuple[FoundTable, ...]:
    """Return the tables with their columns, and the keys whose both ends are there.

    A table of which no column may be read is left out, and so is a key that needs a
    column that may not.
    """
    readable = {
        head.path: {column.name for column in columns[head.path]}
        for head in heads
        if columns.get(head.path)
    }
    return tuple(
        FoundTable(
            schema=head.schema,
            name=head.name,
            kind=head.kind,
            comment=head.comment,
            rows=head.rows,
            columns=tuple(columns[head.path]),
            keys=tuple(
                key
                for key in keys.get(head.path, ())
                if set(key.columns) <= readable[head.path]
                and set(key.target_columns)
                <= readable.get((key.target_schema, key.target_table), set())
            ),
        )
        for head in heads
        if head.path in readable
    )


def clean(text: str | None) -> str:
    """Return text that PostgreSQL stores: MySQL lets NUL into comments and values."""
    return (text or "").replace("\x00", "\ufffd")
