"""The guard lets plain analytics through, written anew, and refuses with a reason."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import subprocess
import sys
import time
from pathlib import Path

import pytest

from connections.databases import guard as guard_module
from connections.databases.base import GuardRefused, Schema
from connections.databases.guard import guard
from connections.databases.guard_rules import RULES, refuse
from tests.connections.databases.shop import shop_schema

POSTGRES, MARIADB = shop_schema("postgres"), shop_schema("mariadb")


def sent(sql: str, schema: Schema = POSTGRES, **more: int) -> str:
    return guard(sql, schema, **{"limit": 100, **more}).sql


def rule(sql: str, schema: Schema = POSTGRES, **more: int) -> str:
    with pytest.raises(GuardRefused) as caught:
        guard(sql, schema, **{"limit": 100, **more})
    assert caught.value.rule in RULES
    assert str(caught.value)
    return caught.value.rule


LEGITIMATE = """
SELECT 1
SELECT id, name FROM customers WHERE city = 'Köln' ORDER BY name LIMIT 5
SELECT * FROM orders
SELECT c.*, o.total FROM customers c JOIN orders o ON o.customer_id = c.id
SELECT city, count(*) AS n FROM customers GROUP BY city HAVING count(*) > 1 ORDER BY n DESC
SELECT count(DISTINCT customer_id) FROM orders
SELECT c.name, sum(o.total) AS s FROM customers c JOIN orders o ON c.id = o.customer_id
SELECT id FROM customers WHERE id IN (SELECT customer_id FROM orders WHERE total > 10)
SELECT id FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
SELECT coalesce(city, 'none'), upper(name) FROM customers
SELECT CASE WHEN total > 10 THEN 'much' ELSE 'little' END AS k, count(*) FROM orders GROUP BY 1
WITH t AS (SELECT customer_id, sum(total) AS s FROM orders GROUP BY 1) SELECT max(s) FROM t
SELECT id, row_number() OVER (PARTITION BY customer_id ORDER BY total DESC) AS r FROM orders
SELECT id FROM customers UNION ALL SELECT id FROM orders ORDER BY id
SELECT (SELECT max(total) FROM orders) AS m
SELECT id FROM orders WHERE extract(year FROM placed) = 2026
SELECT count(email) FROM customers
SELECT avg(salary) FROM customers
SELECT id FROM customers WHERE name LIKE '%100%%'
SELECT q.n FROM (SELECT count(*) AS n FROM orders) q
SELECT round(avg(total), 2) FROM orders WHERE total BETWEEN 1 AND 10
""".strip().splitlines()
ONLY_POSTGRES = """
SELECT date_trunc('month', placed) AS month, sum(total) FROM orders GROUP BY month
SELECT name FROM customers WHERE name ILIKE 'a%' OR name ~ '^b'
SELECT count(*) FILTER (WHERE total > 5) FROM orders
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY total) FROM orders
SELECT string_agg(DISTINCT name, ', ' ORDER BY name) FROM customers
SELECT g.d FROM generate_series(DATE '2026-01-01', DATE '2026-02-01', INTERVAL '1 day') AS g(d)
SELECT g FROM generate_series(1, 10) AS g
SELECT l.m FROM customers c, LATERAL (SELECT max(total) AS m FROM orders o WHERE o.id = c.id) l
SELECT "Länge", "order", "ID" FROM "Größe (m)"
SELECT DISTINCT ON (city) city, name FROM customers ORDER BY city, name
SELECT total::numeric(10, 2), placed::date FROM orders
SELECT now() - INTERVAL '30 days', CURRENT_DATE
SELECT v.x FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y)
TABLE orders
SELECT id FROM customers FETCH FIRST 3 ROWS ONLY
""".strip().splitlines()
ONLY_MARIADB = """
SELECT DATE_FORMAT(placed, '%Y-%m') AS m, COUNT(*) AS n FROM orders GROUP BY m HAVING n > 1
SELECT name FROM customers WHERE name REGEXP '^a'
SELECT GROUP_CONCAT(DISTINCT name ORDER BY name SEPARATOR ';') FROM customers
SELECT TIMESTAMPDIFF(MONTH, placed, NOW()) FROM orders
SELECT placed - INTERVAL WEEKDAY(placed) DAY FROM orders
SELECT IF(total > 1, 'a', 'b'), IFNULL(total, 0) FROM orders LIMIT 5, 10
SELECT `Länge`, `order`, `id` FROM `größe (m)`
SELECT NAME FROM Customers WHERE City = "Köln"
SELECT city FROM customers GROUP BY city WITH ROLLUP
SELECT CAST(total AS SIGNED), CAST(placed AS DATE) FROM orders
""".strip().splitlines()


@pytest.mark.parametrize(
    ("sql", "schema"),
    [
        *((sql, schema) for sql in LEGITIMATE for schema in (POSTGRES, MARIADB)),
        *((sql, POSTGRES) for sql in ONLY_POSTGRES),
        *((sql, MARIADB) for sql in ONLY_MARIADB),
    ],
)
def test_analytics_pass_and_pass_again_as_they_are(sql: str, schema: Schema) -> None:
    first = sent(sql, schema)
    assert sent(first, schema) == first


def test_every_name_is_written_in_full() -> None:
    assert sent("SELECT Name FROM customers WHERE city = 'x' -- y", limit=5) == (
        'SELECT "customers"."name" FROM "public"."customers" '
        'WHERE "customers"."city" = \'x\' LIMIT 6'
    )


def test_a_star_stands_for_what_may_be_shown() -> None:
    guarded = guard("SELECT * FROM customers", POSTGRES, limit=5)
    assert guarded.columns == tuple(
        f"public.customers.{name}" for name in ("city", "email", "id", "name")
    )
    assert guarded.masked == {3}
    assert guarded.tables == ("public.customers",)


def test_a_masked_column_is_followed_through_queries() -> None:
    sql = (
        "WITH a AS (SELECT id, email AS e FROM customers), b (x, y) AS (SELECT e, id"
        " FROM a) SELECT q.y, q.x, count(*) OVER () FROM (SELECT * FROM b) q"
    )
    assert guard(sql, POSTGRES, limit=5).masked == {1}


def test_a_figure_is_of_enough_rows() -> None:
    text = sent("SELECT city, avg(salary) FROM customers GROUP BY city")
    assert 'HAVING COUNT("customers"."salary") >= 5' in text
    again = sent(
        "SELECT city, sum(salary) FROM customers GROUP BY city HAVING count(*) > 1"
    )
    assert again.endswith(
        'HAVING (COUNT(*) > 1) AND COUNT("customers"."salary") >= 5 LIMIT 101'
    )
    assert sent(again) == again


def test_a_natural_join_is_over_visible_columns_only() -> None:
    text = sent("SELECT * FROM customers NATURAL JOIN orders")
    assert 'ON "customers"."id" = "orders"."id"' in text
    assert "NATURAL" not in text
    assert text.count('"id"') == 4  # merged into one column, and its alias


def test_an_output_name_never_means_a_hidden_column() -> None:
    text = sent("SELECT name AS password, count(*) FROM customers GROUP BY password")
    assert "GROUP BY 1" in text


def test_a_limit_is_added_or_lowered_and_order_kept() -> None:
    assert sent("SELECT id FROM orders ORDER BY id DESC").endswith("DESC LIMIT 101")
    assert sent("SELECT id FROM orders LIMIT 1000000").endswith("LIMIT 101")
    assert sent("SELECT id FROM orders LIMIT 7").endswith("LIMIT 7")
    assert sent("SELECT id FROM orders LIMIT 7 OFFSET 3").endswith("LIMIT 7 OFFSET 3")
    assert sent("SELECT 1 UNION SELECT 2").endswith("LIMIT 101")
    assert sent("(SELECT id FROM orders)").endswith("LIMIT 101")


def test_small_tables_may_be_joined_without_a_condition() -> None:
    sql = "SELECT count(*) FROM customers, orders"
    assert rule(sql) == "join"
    assert sent(sql, shop_schema("postgres", rows=20))
    assert rule(sql, shop_schema("postgres", rows=2_000_000)) == "join"


def test_values_are_bound_in_their_places() -> None:
    sql = "SELECT id, '5%' FROM customers WHERE name = ? AND city IN (?, ?)"
    for schema in (POSTGRES, MARIADB):
        text = sent(sql, schema, values=3)
        assert text.count("?") == (0 if schema is POSTGRES else 3)
        assert ("$1" in text, "$3" in text) == (schema is POSTGRES,) * 2
        assert "'5%'" in text
        assert rule(sql, schema, values=2) == "values"
        assert rule(sql, schema) == "variable"
    assert "'5%'" in sent("SELECT '5%'")
    assert "'?'" in sent("SELECT '?' FROM orders WHERE id = ?", values=1)
    assert rule("SELECT id FROM orders LIMIT ?", values=1) == "limit"
    assert rule("SELECT %s", values=1) in ("syntax", "values", "construct", "variable")


def test_mariadb_gets_words_that_it_knows() -> None:
    text = sent("SELECT id FROM customers WHERE name REGEXP '^a'", MARIADB)
    assert "REGEXP '^a'" in text
    assert "REGEXP_LIKE" not in text


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT passwort FROM customers", "id, name, city"),
        ("SELECT id FROM customer", "public.customers"),
        ('SELECT "Name" FROM customers', 'Write "name" in double quotes'),
        ("SELECT länge FROM \"Größe (m)\"", '"Länge"'),
        ("SELECT c FROM customers c", "name the columns"),
        ("SELECT id FROM customers c, orders o WHERE c.id = o.id", "table.column"),
        ("SELECT pg_sleep(1)", "pg_sleep() is not allowed"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_change(sql: str, said: str) -> None:
    with pytest.raises(GuardRefused, match=r".") as caught:
        guard(sql, POSTGRES, limit=1)
    assert said in str(caught.value)


def test_names_fold_as_the_engine_folds_them() -> None:
    assert rule('SELECT LÄNGE FROM "Größe (m)"') == "column"
    assert sent("SELECT NAME FROM CUSTOMERS")
    assert rule('SELECT id FROM "CUSTOMERS"') == "table"
    assert sent("SELECT ID FROM CUSTOMERS", MARIADB).startswith(
        "SELECT `customers`.`id`"
    )


def test_rules_are_named_once_and_all_of_them_are_known() -> None:
    used = set()
    for path in Path(guard_module.__file__).parent.glob("guard*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "refuse",
                "GuardRefused",
            ):
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    used.add(first.value)
    assert used == set(RULES)
    with pytest.raises(LookupError, match="no guard rule"):
        refuse("nonsense", "")


def test_the_guard_needs_no_django_and_no_driver() -> None:
    code = (
        "import sys, connections.databases.guard as g; "
        "bad = [m for m in sys.modules if m.split('.')[0] in ('django', 'psycopg')]; "
        "sys.exit(len(bad))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == 0


def test_nests_within_bounds_are_read_in_time() -> None:
    nests = [
        "SELECT " + "(" * 39 + "1" + ")" * 39,
        "SELECT " + "abs(" * 39 + "1" + ")" * 39,
        "SELECT " + "CASE WHEN true THEN " * 100 + "1" + " END" * 100,
        "SELECT " + "coalesce((1 + (" * 19 + "1" + ")))" * 12,
        "SELECT id FROM orders WHERE id = 1" + " OR id = 1" * 600,
        "SELECT id FROM orders WHERE id IN (1" + ", 1" * 1900 + ")",
    ]
    for sql in nests:
        started = time.thread_time()
        with contextlib.suppress(GuardRefused):
            guard(sql, POSTGRES, limit=1)
        assert time.thread_time() - started < 2


def test_thousands_of_tables_cost_nothing() -> None:
    many = tuple(
        dataclasses.replace(POSTGRES.tables[0], name=f"t{n}") for n in range(3000)
    )
    schema = dataclasses.replace(POSTGRES, tables=(*many, *POSTGRES.tables))
    guard("SELECT id FROM customers", schema, limit=1)
    started = time.thread_time()
    for _ in range(50):
        guard("SELECT id FROM customers", schema, limit=1)
    assert time.thread_time() - started < 1
