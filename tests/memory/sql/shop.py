"""A shop's database on a real server, and what Fabric knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.utils import timezone

from connections.models import (
    Database,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
    Project,
)
from tests.targets import Target, make_database

MADE = (
    """CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, email text,
       country text)""",
    """CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers,
       placed_on date NOT NULL, total numeric(10, 2), note text, margin numeric)""",
    "CREATE TABLE salaries (person text, amount int)",
    "CREATE TABLE numbers (n int)",
    """INSERT INTO customers VALUES (1, 'Ada Farm', 'ada@farm.test', 'DE'),
       (2, 'Böhm & Söhne', 'post@boehm.test', 'DE'), (3, 'Cole <b>Ltd</b>', NULL, 'GB')""",
    """INSERT INTO orders SELECT n, n % 3 + 1, date '2026-01-01' + n, n * 10.5,
       CASE WHEN n = 1 THEN '=1+1' WHEN n = 2 THEN '-5' END, n
       FROM generate_series(1, 120) AS s (n)""",
    "INSERT INTO salaries VALUES ('Ada', 90000)",
    "INSERT INTO numbers SELECT n FROM generate_series(1, 20000) AS s (n)",
)
TABLES: dict[str, tuple[tuple[str, str, str, dict[str, Any]], ...]] = {
    "customers": (
        ("id", "integer", "number", {"is_key": True, "nullable": False}),
        ("name", "text", "text", {"nullable": False, "comment": "As on the invoice"}),
        ("email", "text", "text", {"exposure": "masked"}),
        ("country", "text", "text", {"values": ["DE", "GB"]}),
    ),
    "orders": (
        ("id", "integer", "number", {"is_key": True, "nullable": False}),
        ("customer_id", "integer", "number", {}),
        ("placed_on", "date", "date", {"nullable": False}),
        ("total", "numeric", "number", {}),
        ("note", "text", "text", {}),
        ("margin", "numeric", "number", {"exposure": "aggregate"}),
        ("secret_code", "text", "text", {"exposure": "hidden"}),
    ),
    "salaries": (("person", "text", "text", {}), ("amount", "integer", "number", {})),
    "numbers": (("n", "integer", "number", {}),),
}
HIDDEN = {"salaries"}


@contextmanager
def shop_tables(target: Target) -> Iterator[Target]:
    """Yield the server with the shop's tables, which its reader may read."""
    target.run(*MADE)
    for table in TABLES:
        target.run(f'GRANT SELECT ON {table} TO "{target.user}"')
    try:
        yield target
    finally:
        for table in ("orders", "customers", "salaries", "numbers"):
            target.run(f"DROP TABLE {table}")


def make_shop(project: Project, target: Target, **fields: object) -> Database:
    """Return the shop's connection with its schema, as a discovery stores it."""
    values = {
        "flavour": "postgres",
        "version": "18.4",
        "default_schema": "public",
        "discovered_at": timezone.now(),
        **fields,
    }
    database = make_database(project, target, **values)
    tables = {}
    for name, columns in TABLES.items():
        tables[name] = DatabaseTable.objects.create(
            database=database,
            schema="public",
            name=name,
            rows=120,
            comment="What was bought" if name == "orders" else "",
            exposure="hidden" if name in HIDDEN else "visible",
        )
        for position, (column, data_type, family, more) in enumerate(columns):
            DatabaseColumn.objects.create(
                table=tables[name],
                name=column,
                position=position,
                data_type=data_type,
                family=family,
                **more,
            )
    DatabaseKey.objects.create(
        table=tables["orders"],
        name="orders_customer_id_fkey",
        columns=["customer_id"],
        target=tables["customers"],
        target_columns=["id"],
    )
    return database
