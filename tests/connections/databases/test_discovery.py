"""What a catalogue says: every table, column, key and comment, as far as one may."""

from __future__ import annotations

from contextlib import closing

import pytest

from connections.databases.base import DatabaseError
from connections.databases.catalogue_mysql import listed_values
from connections.databases.connecting import open_connection
from connections.databases.discovery import discover, read_catalogue
from connections.databases.snapshot import schema_of
from connections.models import Database, DatabaseColumn, DatabaseTable
from connections.secrets import Secret
from tests.targets import make_database

pytestmark = pytest.mark.django_db


def catalogue(project, target):
    with closing(open_connection(make_database(project, target))) as opened:
        return {table.path: table for table in read_catalogue(opened).tables}


def main_schema(target):
    return "sales" if target.engine == "postgres" else target.database


OTHER = ("Größe & Co", "Order Line")


def test_every_table_and_view_is_found_once_and_no_system_schema(project, any_shop):
    found = catalogue(project, any_shop)
    main = main_schema(any_shop)
    names = {"customers", "orders", "open_orders"}
    if any_shop.engine == "postgres":
        names |= {"visits", "countries"}
    assert set(found) == {(main, name) for name in names} | {OTHER}
    assert found[main, "open_orders"].kind == "view"


def test_columns_come_with_types_families_comments_and_primary_keys(project, any_shop):
    found = catalogue(project, any_shop)
    orders = found[main_schema(any_shop), "orders"]
    assert orders.comment == "What was bought"
    columns = {column.name: column for column in orders.columns}
    assert [name for name, column in columns.items() if column.is_key] == ["id", "year"]
    assert columns["total"].comment == "With tax, in €"
    assert not columns["total"].nullable
    assert columns["paid"].nullable
    families = {name: column.family for name, column in columns.items()}
    details = "json" if any_shop.engine == "postgres" else "text"
    assert {
        "id": "number",
        "state": "text",
        "total": "number",
        "at": "timestamp",
        "paid": "boolean",
        "details": details,
        "scan": "binary",
    }.items() <= families.items()


def test_names_with_blanks_umlauts_quotes_and_reserved_words_are_kept(
    project, any_shop
):
    table = catalogue(project, any_shop)[OTHER]
    names = [column.name for column in table.columns]
    quoted = 'say "hi"' if any_shop.engine == "postgres" else "say `hi`"
    assert names == ["order", "Jahr", "select", quoted]


def test_foreign_keys_are_found_composite_and_across_schemas(project, any_shop):
    found, main = catalogue(project, any_shop), main_schema(any_shop)
    (key,) = found[OTHER].keys
    assert key.name == "its order"
    assert key.columns == ("order", "Jahr")
    assert (key.target_schema, key.target_table) == (main, "orders")
    assert key.target_columns == ("id", "year")
    (key,) = found[main, "orders"].keys
    assert (key.columns, key.target_table) == (("customer_id",), "customers")


def test_enumerations_come_whole_and_in_their_order(project, any_shop):
    orders = catalogue(project, any_shop)[main_schema(any_shop), "orders"]
    columns = {column.name: column for column in orders.columns}
    assert columns["state"].values == ("open", "it's paid", "Überfällig")
    if any_shop.engine == "mysql":
        assert columns["flags"].values == ("a", "b\\c", "d e")
        assert columns["state"].data_type == "enum"


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("enum('a','b')", ("a", "b")),
        ("enum('it''s','x,y','(z)')", ("it's", "x,y", "(z)")),
        ("set('back\\\\slash','new\\nline','')", ("back\\slash", "new\nline", "")),
    ],
)
def test_listed_values_are_read_as_they_were_written(written, values):
    assert listed_values(written) == values


def test_rows_are_estimates_of_the_server(project, any_shop):
    found, main = catalogue(project, any_shop), main_schema(any_shop)
    assert 200 <= found[main, "customers"].rows <= 400
    if any_shop.engine == "postgres":
        assert found[main, "visits"].rows == 60, "of all its partitions"


def test_only_what_the_login_may_select_is_found(project, any_shop):
    main = main_schema(any_shop)
    who = any_shop.user
    if any_shop.engine == "postgres":
        any_shop.run(
            f"REVOKE SELECT ON sales.customers, sales.orders FROM {who}",  # noqa: S608
            f"GRANT SELECT (id, name) ON sales.customers TO {who}",
            f'REVOKE USAGE ON SCHEMA "Größe & Co" FROM {who}',
        )
    else:
        any_shop.run(
            f"REVOKE SELECT ON {main}.* FROM {who}@'127.0.0.1'",  # noqa: S608
            f"GRANT SELECT (id, name) ON {main}.customers TO {who}@'127.0.0.1'",
            f"GRANT INSERT ON {main}.orders TO {who}@'127.0.0.1'",
        )
    try:
        found = catalogue(project, any_shop)
    finally:
        if any_shop.engine == "mysql":
            any_shop.run(
                f"GRANT SELECT ON {main}.* TO {who}@'127.0.0.1'",
                f"REVOKE SELECT (id, name) ON {main}.customers FROM {who}@'127.0.0.1'",  # noqa: S608
                f"REVOKE INSERT ON {main}.orders FROM {who}@'127.0.0.1'",
            )
    assert [column.name for column in found[main, "customers"].columns] == [
        "id",
        "name",
    ]
    assert (main, "orders") not in found
    if any_shop.engine == "postgres":
        assert OTHER not in found
    else:
        assert found[OTHER].keys == (), "a key to what may not be read is no key"


def test_discovery_stores_the_schema_that_is_asked_about(project, any_shop):
    database = make_database(project, any_shop)
    found = discover(database)
    assert found.tables == DatabaseTable.objects.filter(database=database).count() >= 4
    assert found.columns >= 20
    assert found.waiting == 0
    schema = schema_of(database)
    assert schema.flavour == (
        "postgres" if any_shop.engine == "postgres" else "mariadb"
    )
    orders = schema.by_path[main_schema(any_shop), "orders"]
    assert orders.by_name["state"].values == ("open", "it's paid", "Überfällig")
    assert orders.foreign_keys[0].target_table == "customers"
    database.refresh_from_db()
    assert database.discovered_at
    assert database.discovery_error == ""
    assert database.default_schema in ("public", any_shop.database)


def test_a_mysql_login_that_reads_other_databases_shows_only_its_own(
    project, mariadb_shop
):
    database = make_database(project, mariadb_shop)
    discover(database)
    hidden = DatabaseTable.objects.get(database=database, schema=OTHER[0])
    assert hidden.exposure == "hidden"
    assert OTHER not in schema_of(database).by_path


def test_an_empty_database_has_no_tables(project, postgres_target):
    database = make_database(project, postgres_target)
    found = discover(database)
    assert (found.tables, found.columns, found.added) == (0, 0, 0)
    assert schema_of(database).tables == ()


def test_two_tenants_have_two_snapshots(project, other_project, any_shop):
    ours = make_database(project, any_shop)
    theirs = make_database(other_project, any_shop)
    discover(ours)
    assert schema_of(ours).tables
    assert schema_of(theirs).tables == ()
    discover(theirs)
    mine = set(DatabaseColumn.objects.filter(table__database=ours).values_list("pk"))
    other = DatabaseColumn.objects.filter(table__database=theirs).values_list("pk")
    assert mine
    assert len(mine) == len(other)
    assert not mine & set(other)


def test_an_error_is_kept_with_the_database_and_goes_with_the_next_success(
    project, any_shop
):
    database = make_database(project, any_shop)
    password = database.password
    Database.objects.filter(pk=database.pk).update(discovery_error="")
    database.password = Secret("wrong")
    with pytest.raises(DatabaseError):
        discover(database)
    database.refresh_from_db()
    assert database.discovery_error
    assert "wrong" not in database.discovery_error
    assert database.discovered_at is None
    database.password = password
    discover(database)
    database.refresh_from_db()
    assert database.discovery_error == ""


def test_a_thousand_tables_are_read_in_few_statements(project, any_shop, monkeypatch):
    asked = []
    with closing(open_connection(make_database(project, any_shop))) as opened:
        read = type(opened).read

        def counted(self, statement, values=()):
            asked.append(statement)
            return read(self, statement, values)

        monkeypatch.setattr(type(opened), "read", counted)
        assert len(read_catalogue(opened).tables) >= 4
    assert 0 < len(asked) <= 5, "none of them is a table's own"
