"""Schemas made by hand, as questions are asked of them in tests."""

from __future__ import annotations

from connections.databases.base import (
    Column,
    Exposure,
    Family,
    Flavour,
    ForeignKey,
    Schema,
    Table,
)


def column(
    name: str,
    family: Family = "text",
    *,
    key: bool = False,
    values: tuple[str, ...] = (),
    comment: str = "",
    exposure: Exposure = "visible",
) -> Column:
    return Column(
        name=name,
        data_type=family,
        family=family,
        nullable=not key,
        is_key=key,
        values=values,
        comment=comment,
        exposure=exposure,
    )


def key() -> Column:
    return column("id", "number", key=True)


def to(table: str, *columns: str, space: str = "public") -> ForeignKey:
    return ForeignKey(
        name="_".join(columns),
        columns=columns,
        target_schema=space,
        target_table=table,
        target_columns=("id",),
    )


def table(name: str, *columns: Column, keys: tuple[ForeignKey, ...] = ()) -> Table:
    return Table(schema="public", name=name, columns=columns, foreign_keys=keys)


def schema(*tables: Table, flavour: Flavour = "postgres") -> Schema:
    return Schema(flavour=flavour, version="18", default_schema="public", tables=tables)


MEMBERS = table(
    "members",
    key(),
    column("full_name"),
    column("town", values=("Hull", "York", "Bath")),
    column("age", "number"),
    column("fee", "number"),
    column("email"),
    column("joined_on", "date"),
    column("is_active", "boolean"),
)
BOOKS = table(
    "books",
    key(),
    column("title"),
    column("genre", values=("crime", "poetry")),
    column("price", "number"),
    column("publicationYear", "number"),
    column("publisher_id", "number"),
    keys=(to("publishers", "publisher_id"),),
)
PUBLISHERS = table("publishers", key(), column("name"), column("country"))
LOANS = table(
    "loans",
    key(),
    column("member_id", "number"),
    column("book_id", "number"),
    column("fine", "number"),
    column("borrowed_at", "timestamp", comment="When the member took the book"),
    column("returned_at", "timestamp", comment="When the member brought it back"),
    keys=(to("members", "member_id"), to("books", "book_id")),
)
BRANCHES = table("branches", key(), column("name"), column("capacity", "number"))
LIBRARY = schema(MEMBERS, BOOKS, PUBLISHERS, LOANS, BRANCHES)
