"""A small shop as the guard sees it, and as a server holds it: more than is shown."""

from __future__ import annotations

from connections.databases.base import Column, Flavour, Schema, Table

# What the login may not read, and what it may but the guard does not show.
SECRET, UNSHOWN = "CANARYFORBIDDEN7731", "CANARYUNSHOWN4402"


def column(name: str, family: str = "number", **fields: object) -> Column:
    return Column(name=name, data_type=family, family=family, **fields)


def shop_schema(flavour: Flavour, *, rows: int = 0) -> Schema:
    """Return what of the shop may be asked; `rows` of each table, 0 for unknown."""
    space = "public" if flavour == "postgres" else "shop"
    customers = Table(
        schema=space,
        name="customers",
        rows=rows,
        columns=(
            column("id", is_key=True),
            column("name", "text"),
            column("city", "text"),
            column("email", "text", exposure="masked"),
            column("salary", exposure="aggregate"),
        ),
    )
    orders = Table(
        schema=space,
        name="orders",
        rows=rows,
        columns=(
            column("id", is_key=True),
            column("customer_id"),
            column("total"),
            column("placed", "timestamp"),
        ),
    )
    odd = Table(
        schema=space,
        name="Größe (m)",
        rows=rows,
        columns=(column("Länge", "number"), column("order", "text"), column("ID")),
    )
    return Schema(
        flavour=flavour,
        version="18.0",
        default_schema=space,
        tables=(customers, orders, odd),
    )
