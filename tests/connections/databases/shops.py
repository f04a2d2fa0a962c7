"""A small shop in both dialects, made by hand: for tests of discovery."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from tests.targets import Target, allowed

_NUMBERS = count(1)

POSTGRES = (
    "CREATE SCHEMA sales",
    'CREATE SCHEMA "Größe & Co"',
    "CREATE TYPE sales.state AS ENUM ('open', 'it''s paid', 'Überfällig')",
    "CREATE DOMAIN sales.euros AS numeric(12, 2) NOT NULL",
    """CREATE TABLE sales.customers (
        id integer PRIMARY KEY, name text NOT NULL, country varchar(40),
        email text, password_hash text, since date, notes text)""",
    """CREATE TABLE sales.orders (
        id bigint, year integer, customer_id integer REFERENCES sales.customers,
        state sales.state, total sales.euros, at timestamptz, paid boolean,
        details jsonb, scan bytea, PRIMARY KEY (id, year))""",
    '''CREATE TABLE "Größe & Co"."Order Line" (
        "order" bigint, "Jahr" integer, "select" text, "say ""hi""" text,
        CONSTRAINT "its order" FOREIGN KEY ("order", "Jahr")
        REFERENCES sales.orders (id, year))''',
    """CREATE TABLE sales.visits (at date NOT NULL, page text)
        PARTITION BY RANGE (at)""",
    """CREATE TABLE sales.visits_2025 PARTITION OF sales.visits
        FOR VALUES FROM ('2025-01-01') TO ('2026-01-01')""",
    """CREATE TABLE sales.visits_2026 PARTITION OF sales.visits
        FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')""",
    "CREATE VIEW sales.open_orders AS SELECT id, total FROM sales.orders",
    """CREATE MATERIALIZED VIEW sales.countries AS
        SELECT country FROM sales.customers""",
    "COMMENT ON TABLE sales.orders IS 'What was bought'",
    "COMMENT ON COLUMN sales.orders.total IS 'With tax, in €'",
    "INSERT INTO sales.customers SELECT n, 'Customer ' || n,"
    " CASE n % 3 WHEN 0 THEN 'Peru' WHEN 1 THEN 'Österreich' ELSE 'Chad' END,"
    " 'c' || n || '@acme.test', md5(n::text), NULL,"
    " repeat('long ', 30) FROM generate_series(1, 300) n",
    "INSERT INTO sales.visits SELECT DATE '2025-12-01' + n, '/p' || n % 4"
    " FROM generate_series(1, 60) n",
    "ANALYZE",
)
MYSQL = (
    """CREATE TABLE customers (
        id int PRIMARY KEY, name varchar(80) NOT NULL, country varchar(40),
        email varchar(80), password_hash varchar(80), since date, notes text)""",
    """CREATE TABLE orders (
        id bigint, year int, customer_id int, state enum('open','it''s paid','Überfällig'),
        total decimal(12,2) NOT NULL COMMENT 'With tax, in €', at datetime,
        paid boolean, details json, scan blob, flags set('a','b\\\\c','d e'),
        PRIMARY KEY (id, year),
        CONSTRAINT orders_customer FOREIGN KEY (customer_id) REFERENCES customers (id)
        ) COMMENT 'What was bought'""",
    """CREATE TABLE `Größe & Co`.`Order Line` (
        `order` bigint, `Jahr` int, `select` text, `say ``hi```  text,
        CONSTRAINT `its order` FOREIGN KEY (`order`, `Jahr`)
        REFERENCES {main}.orders (id, year))""",
    "CREATE VIEW open_orders AS SELECT id, total FROM orders",
    "INSERT INTO customers SELECT seq, concat('Customer ', seq),"
    " ELT(1 + seq % 3, 'Peru', 'Österreich', 'Chad'), concat('c', seq, '@acme.test'),"
    " md5(seq), NULL, repeat('long ', 30) FROM seq_1_to_300",
    "ANALYZE TABLE customers, orders",
)


@contextmanager
def shop(target: Target) -> Iterator[Target]:
    """Yield a database of its own on the target's server, which `reader` may read."""
    name = f"shop_{next(_NUMBERS)}"
    own = Target(
        target.engine, target.host, target.port, name, target.user, target.password,
        target.owner,
    )  # fmt: skip
    if target.engine == "postgres":
        target.run(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            own.run(*POSTGRES, *_grants_of(target.user))
            with allowed(f"{own.host}:{own.port}/{name}"):
                yield own
        finally:
            target.run(f"DROP DATABASE {name} WITH (FORCE)")
        return
    second = "`Größe & Co`"
    try:
        target.run(
            f"CREATE DATABASE {name} CHARACTER SET utf8mb4",
            f"CREATE DATABASE {second} CHARACTER SET utf8mb4",
        )
        own.run(*(statement.replace("{main}", name) for statement in MYSQL))
        for place in (name, second):
            target.run(f"GRANT SELECT ON {place}.* TO {target.user}@'127.0.0.1'")
        yield own
    finally:
        for place in (second, name):
            target.run(
                f"DROP DATABASE IF EXISTS {place}",
                f"GRANT SELECT ON {place}.* TO {target.user}@'127.0.0.1'",
                f"REVOKE SELECT ON {place}.* FROM {target.user}@'127.0.0.1'",  # noqa: S608
            )


def _grants_of(user: str) -> list[str]:
    schemas = ("sales", '"Größe & Co"')
    return [
        statement
        for schema in schemas
        for statement in (
            f"GRANT USAGE ON SCHEMA {schema} TO {user}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user}",
        )
    ]
