"""Sampled values: few, short, read within bounds, and nobody's secrets."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connections.databases import sampling
from connections.databases.base import DatabaseError
from connections.databases.connecting import open_connection
from connections.databases.discovery import discover, read_catalogue
from connections.databases.personal import looks_by_name, looks_by_values, words_of
from connections.databases.sampling import Wanted, judged, sample, statement_of
from connections.databases.snapshot import schema_of
from connections.models import DatabaseColumn, DatabaseTable
from tests.targets import make_database

pytestmark = pytest.mark.django_db


def columns_of(database, table="customers"):
    rows = DatabaseColumn.objects.filter(table__database=database, table__name=table)
    return {column.name: column for column in rows}


def test_few_values_are_kept_many_and_long_ones_are_not(project, any_shop):
    database = make_database(project, any_shop)
    discover(database)
    found = columns_of(database)
    assert sorted(found["country"].values) == ["Chad", "Peru", "Österreich"]
    assert found["country"].values_complete
    assert found["name"].values == [], "300 names are many"
    assert found["notes"].values == [], "a long text is no value"
    assert found["id"].values == []


def test_personal_and_secret_columns_begin_closed_and_without_values(project, any_shop):
    database = make_database(project, any_shop)
    discover(database)
    found = columns_of(database)
    assert found["email"].exposure == "masked"
    assert found["password_hash"].exposure == "hidden"
    assert found["email"].values == found["password_hash"].values == []
    (customers,) = [t for t in schema_of(database).tables if t.name == "customers"]
    assert "password_hash" not in customers.by_name
    assert customers.by_name["email"].exposure == "masked"


def test_what_the_values_tell_closes_a_column_of_any_name(project, any_shop):
    add = "ALTER TABLE {} ADD c1 varchar(90), ADD c2 varchar(90)"
    name = "sales.customers" if any_shop.engine == "postgres" else "customers"
    any_shop.run(
        add.format(name),
        f"UPDATE {name} SET c1 = concat('+49 30 ', 1000000 + id), c2 = 'ok'",  # noqa: S608
        f"UPDATE {name} SET c2 = 'ghp_abcdefghijklmnopqrstuvwxyz0123' WHERE id = 7",  # noqa: S608
    )
    database = make_database(project, any_shop)
    discover(database)
    found = columns_of(database)
    assert (found["c1"].exposure, found["c1"].values) == ("masked", [])
    assert (found["c2"].exposure, found["c2"].values) == ("hidden", [])


def test_no_statement_reads_a_closed_column(project, any_shop, monkeypatch):
    database = make_database(project, any_shop)
    discover(database)
    of_customers = DatabaseColumn.objects.filter(
        table__database=database, table__name="customers"
    )
    of_customers.filter(name="country").update(
        exposure="aggregate", values=[], values_complete=False
    )
    asked = []

    def noted(flavour, table, columns):
        asked.extend((table.name, column) for column in columns)
        return statement_of(flavour, table, columns)

    monkeypatch.setattr(sampling, "statement_of", noted)
    discover(database)
    assert ("customers", "name") in asked, "some are read"
    closed = {"country", "email", "password_hash"}
    assert not closed & {column for table, column in asked if table == "customers"}


def test_sampling_cannot_write_and_a_slow_table_holds_nothing_up(
    project, postgres_shop, monkeypatch
):
    postgres_shop.run(
        "CREATE VIEW sales.a_slow_one AS"
        " SELECT 'x'::text AS x FROM pg_catalog.pg_sleep(30)",
        "CREATE FUNCTION sales.write() RETURNS text LANGUAGE sql AS"
        " $$ INSERT INTO sales.customers (id, name) VALUES (-1, 'x') RETURNING name $$",
        "CREATE VIEW sales.b_writer AS SELECT sales.write() AS x",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA sales TO {postgres_shop.user}",
        f"GRANT INSERT ON ALL TABLES IN SCHEMA sales TO {postgres_shop.user}",
    )
    monkeypatch.setattr(sampling, "STATEMENT_SECONDS", 0.3)
    database = make_database(project, postgres_shop)
    started = time.monotonic()
    found = discover(database)
    assert time.monotonic() - started < 8
    assert found.waiting == 0
    assert columns_of(database, "a_slow_one")["x"].values == []
    assert columns_of(database)["country"].values
    with postgres_shop.admin() as owner:
        rows = owner.execute("SELECT count(*) FROM sales.customers WHERE id < 0")
        assert rows.fetchone() == (0,)


def test_a_slow_view_is_left_alone_on_mariadb(project, mariadb_shop, monkeypatch):
    mariadb_shop.run("CREATE VIEW a_slow_one AS SELECT repeat('x', 1 + sleep(20)) AS x")
    monkeypatch.setattr(sampling, "STATEMENT_SECONDS", 0.3)
    database = make_database(project, mariadb_shop)
    started = time.monotonic()
    discover(database)
    assert time.monotonic() - started < 8
    assert columns_of(database)["country"].values


def test_a_locked_table_holds_nothing_up(project, postgres_shop):
    database = make_database(project, postgres_shop)
    with postgres_shop.admin() as owner, owner.transaction():
        owner.execute("LOCK TABLE sales.orders IN ACCESS EXCLUSIVE MODE")
        started = time.monotonic()
        discover(database)
    assert time.monotonic() - started < 8
    assert columns_of(database)["country"].values


def test_without_time_the_catalogue_is_stored_and_the_next_run_goes_on(
    project, any_shop
):
    database = make_database(project, any_shop)
    first = discover(database, seconds=0)
    assert first.tables >= 4
    assert first.waiting >= 2
    assert columns_of(database)["country"].values == []
    tables = DatabaseTable.objects.filter(database=database)
    assert not tables.exclude(sampled_at=None).exists()
    second = discover(database)
    assert second.waiting == 0
    assert second.changed == 0
    assert len(columns_of(database)["country"].values) == 3


def test_what_was_sampled_before_waits_for_nothing(project, any_shop):
    database = make_database(project, any_shop)
    assert discover(database).waiting == 0
    assert discover(database, seconds=0).waiting == 0


def test_what_was_never_sampled_comes_first(project, any_shop, monkeypatch):
    database = make_database(project, any_shop)
    discover(database)
    DatabaseTable.objects.filter(database=database, name="orders").update(
        sampled_at=None
    )
    order = []
    real = sampling._sample_table

    def noted(opened, wanted, left):
        order.append(wanted.table.name)
        return real(opened, wanted, left)

    monkeypatch.setattr(sampling, "_sample_table", noted)
    if any_shop.engine == "mysql":
        discover(database)
        assert order[0] == "orders"
    else:
        DatabaseTable.objects.filter(database=database, name="visits").update(
            sampled_at=None
        )
        discover(database)
        assert order[0] == "visits"


def test_a_broken_connection_keeps_the_catalogue(project, any_shop, monkeypatch):
    def broken(*_):
        raise DatabaseError("gone")

    monkeypatch.setattr(sampling, "_sample_table", broken)
    database = make_database(project, any_shop)
    found = discover(database)
    assert found.tables >= 4
    assert found.waiting >= 2
    database.refresh_from_db()
    assert database.discovered_at


def test_of_a_large_table_a_part_is_read_and_is_not_taken_for_all(
    project, any_shop, monkeypatch
):
    monkeypatch.setattr(sampling, "SAMPLE_ROWS", 50)
    with closing(open_connection(make_database(project, any_shop))) as opened:
        tables = read_catalogue(opened).tables
        (customers,) = [table for table in tables if table.name == "customers"]
        sampled = sample(opened, [Wanted(customers, ("country",))], seconds=5)
    country = sampled.tables[customers.path]["country"]
    assert set(country.values) <= {"Chad", "Peru", "Österreich"}
    assert not country.complete
    drawn = "TABLESAMPLE" in statement_of(opened.flavour, customers, ("country",))
    assert drawn == (any_shop.engine == "postgres")


@pytest.mark.parametrize(
    ("name", "family", "looks"),
    [
        ("password", "text", "secret"),
        ("userPassword", "text", "secret"),
        ("API_KEY", "text", "secret"),
        ("access_token", "text", "secret"),
        ("Kennwort", "text", "secret"),
        ("pin", "number", "secret"),
        ("token_count", "number", ""),
        ("tokens", "number", ""),
        ("password_changed_at", "timestamp", ""),
        ("has_password", "boolean", ""),
        ("email", "text", "personal"),
        ("EMailAddress", "text", "personal"),
        ("e_mail", "text", "personal"),
        ("email_verified", "boolean", ""),
        ("phone_type", "text", ""),
        ("cell_number", "text", "personal"),
        ("iban", "text", "personal"),
        ("SSN", "text", "personal"),
        ("date_of_birth", "date", "personal"),
        ("name", "text", ""),
        ("country", "text", ""),
        ("spinning", "text", ""),
        ("secretary", "text", ""),
        ("key", "text", ""),
        ("", "text", ""),
    ],
)
def test_a_name_tells_secret_and_personal_columns(name, family, looks):
    assert looks_by_name(name, family) == looks


@pytest.mark.parametrize(
    ("values", "looks"),
    [
        (["ann@acme.test", "bob@acme.test"], "personal"),
        (["Write to ann@acme.test"], "personal"),
        (["+49 30 1234567", "030 1234567"], "personal"),
        (["555-123-4567"], "personal"),
        (["123-45-6789"], "personal"),
        (["4111 1111 1111 1111"], "personal"),
        (["DE89 3704 0044 0532 0130 00"], "personal"),
        (["$2b$12$abcdefghijklmnopqrstuv"], "secret"),
        (["a", "b", "postgres://me:hunter2@db/x"], "secret"),
        (["open", "paid"], ""),
        (["2026-01-02", "2026-01-03"], ""),
        (["12:30", "1.5", "10-20"], ""),
        (["4111 1111 1111 1112"], ""),
        ([], ""),
    ],
)
def test_values_tell_secret_and_personal_columns(values, looks):
    assert looks_by_values(values) == looks


def test_one_address_among_many_values_is_not_kept_and_closes_nothing():
    kept = judged([*"abcdefghij", "ann@acme.test"], is_whole=True)
    assert kept.looks == ""
    assert kept.values == tuple("abcdefghij")
    assert not kept.complete


@given(st.lists(st.text(min_size=1, max_size=120), unique=True, max_size=230))
def test_kept_values_are_few_short_and_of_the_column(values):
    kept = judged(values, is_whole=True)
    assert len(kept.values) <= sampling.MOST_VALUES
    assert all(len(value) <= sampling.MOST_CHARACTERS for value in kept.values)
    assert set(kept.values) <= set(values)
    if kept.complete:
        assert set(kept.values) == set(values)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("orderItems", ["order", "items"]),
        ("order_items", ["order", "items"]),
        ("HTTPStatus2", ["http", "status", "2"]),
        ("Größe", ["groesse"]),
        ("", []),
    ],
)
def test_names_are_split_into_words(name, words):
    assert words_of(name) == words
