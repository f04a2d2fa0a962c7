"""A small shop as the guard sees it, and as a server holds it: more than is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from connections.databases.base import Column, Flavour, Schema, Table
from tests.targets import Target

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


_TABLES = (
    "CREATE TABLE customers (id int PRIMARY KEY, name varchar(40), city varchar(40),"
    " email varchar(80), salary int, password varchar(40), note varchar(40))",
    "CREATE TABLE orders (id int PRIMARY KEY, customer_id int, total int,"
    " placed timestamp NULL)",
    "CREATE TABLE secrets (id int PRIMARY KEY, token varchar(40))",
    "INSERT INTO customers VALUES "  # noqa: S608
    + ", ".join(
        f"({n}, 'name {n}', '{'Köln' if n % 2 else 'Ulm'}', 'p{n}@shop.test', {n}00,"
        f" '{SECRET}', '{UNSHOWN}')"
        for n in range(1, 13)
    ),
    "INSERT INTO orders VALUES "  # noqa: S608
    + ", ".join(f"({n}, {n % 7 + 1}, {n * n % 11}, '2026-0{n % 9 + 1}-03 10:00:00')"
                for n in range(1, 31)),
    f"INSERT INTO secrets VALUES (1, '{SECRET}'), (2, '{SECRET}')",  # noqa: S608
)  # fmt: skip
_VISIBLE = "id, name, city, email, salary, note"
_POSTGRES = (
    'CREATE TABLE "Größe (m)" ("Länge" int, "order" text, "ID" int)',
    """INSERT INTO "Größe (m)" VALUES (1, 'a', 10), (2, NULL, 20)""",
    "CREATE FUNCTION leak() RETURNS text LANGUAGE sql SECURITY DEFINER AS"
    " 'SELECT max(token) FROM public.secrets'",
    "CREATE FUNCTION wipe() RETURNS void LANGUAGE sql SECURITY DEFINER AS"
    " 'DELETE FROM public.orders'",
    "CREATE FUNCTION leak_row(customers) RETURNS text LANGUAGE sql AS"
    " 'SELECT ($1).note'",
    "CREATE SEQUENCE s",
    "GRANT USAGE ON SCHEMA public TO {user}",
    "GRANT SELECT (" + _VISIBLE + ") ON customers TO {user}",
    'GRANT SELECT ON orders, "Größe (m)" TO {user}',
)
_MYSQL = (
    "CREATE TABLE `Größe (m)` (`Länge` int, `order` varchar(9), `ID` int)",
    "INSERT INTO `Größe (m)` VALUES (1, 'a', 10), (2, NULL, 20)",
    "CREATE FUNCTION leak() RETURNS varchar(40) READS SQL DATA SQL SECURITY DEFINER"
    " RETURN (SELECT max(token) FROM secrets)",
    "CREATE FUNCTION wipe() RETURNS int MODIFIES SQL DATA SQL SECURITY DEFINER"
    " BEGIN DELETE FROM orders; RETURN 1; END",
    "CREATE SEQUENCE s",
    "GRANT SELECT (" + _VISIBLE + ") ON shop.customers TO {user}@'127.0.0.1'",
    "GRANT SELECT ON shop.orders TO {user}@'127.0.0.1'",
    "GRANT SELECT ON shop.`Größe (m)` TO {user}@'127.0.0.1'",
    "GRANT EXECUTE ON FUNCTION shop.leak TO {user}@'127.0.0.1'",
    "GRANT EXECUTE ON FUNCTION shop.wipe TO {user}@'127.0.0.1'",
)


@contextmanager
def shop_on(target: Target) -> Iterator[Target]:
    """Make the shop on a server, readable for its login as far as is granted."""
    if target.engine == "postgres":
        own, gone = _POSTGRES, "DROP OWNED BY {user}; DROP SCHEMA public CASCADE;"
        gone += " CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC"
    else:
        own, gone = _MYSQL, "REVOKE ALL, GRANT OPTION FROM {user}@'127.0.0.1'"
        # What another test granted would let the login read what it must not.
        target.run(gone.format(user=target.user))
    target.run(*_TABLES, *(line.format(user=target.user) for line in own))
    try:
        yield target
    finally:
        target.run(gone.format(user=target.user))
        if target.engine != "postgres":
            target.run(
                "DROP DATABASE shop", "CREATE DATABASE shop CHARACTER SET utf8mb4"
            )
