"""Discovered schemas in the graph: found by search, and gone when they are hidden."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from connections.databases.base import ForeignKey
from connections.databases.exposure import expose_columns, expose_tables
from connections.databases.found import Found, FoundColumn, FoundTable
from connections.databases.snapshot import store
from connections.models import Database, DatabaseColumn, DatabaseTable, Source
from connections.sources.database import column_key, table_key
from graph.databases import sync_database
from graph.models import Edge, Node, Record
from tests.factories import make_audience, make_member
from tests.targets import Target, make_database

pytestmark = pytest.mark.django_db

NOWHERE = Target("postgres", "127.0.0.1", 1, "shop", "reader", "none", {})
AT = datetime(2026, 3, 2, tzinfo=UTC)


def column(name, kind="integer", family="number", **more):
    fields = {"position": 1, "nullable": True, "comment": "", "is_key": False, **more}
    return FoundColumn(name=name, data_type=kind, family=family, **fields)


def table(name, *columns, keys=(), comment="", schema="public"):
    return FoundTable(
        schema=schema, name=name, kind="table", comment=comment, rows=3,
        columns=columns, keys=keys,
    )  # fmt: skip


CUSTOMERS = table(
    "customers", column("id", is_key=True), column("region", "text", "text"),
    comment="People who bought something",
)  # fmt: skip
ORDERS = table(
    "order_items", column("id"), column("customer_id"),
    column("state", "state", "text", values=("open", "paid"), comment="Where it is"),
    keys=(ForeignKey(
        name="fk", columns=("customer_id",), target_schema="public",
        target_table="customers", target_columns=("id",)),),
)  # fmt: skip


def stored(database, *tables):
    found = Found(
        flavour="postgres", version="18.1", default_schema="public", tables=tables
    )
    store(database, found, {}, AT)


@pytest.fixture
def database(project) -> Database:
    made = make_database(project, NOWHERE)
    stored(made, CUSTOMERS, ORDERS)
    sync_database(made)
    return made


def keys(project, **fields):
    return set(Node.objects.of(project).filter(**fields).values_list("key", flat=True))


def node(project, name):
    return Node.objects.of(project).get(key=f"db_table:shop:public.{name}")


def test_tables_and_columns_are_nodes_by_the_keys_of_the_contract(project, database):
    assert keys(project, node_type="db_table") == {
        "db_table:shop:public.customers",
        "db_table:shop:public.order_items",
    }
    assert keys(project, node_type="db_column") == {
        "db_column:shop:public.customers.id",
        "db_column:shop:public.customers.region",
        "db_column:shop:public.order_items.id",
        "db_column:shop:public.order_items.customer_id",
        "db_column:shop:public.order_items.state",
    }
    assert set(Node.objects.of(project).values_list("source_kind", flat=True)) == {
        "database"
    }


def test_a_table_says_what_it_holds_in_words(project, database):
    found = node(project, "order_items")
    assert found.content.startswith("order items: table public.order_items")
    assert "state (state); Where it is; values: open, paid" in found.content
    assert "customer_id (integer); references public.customers.id" in found.content
    assert "People who bought something" in node(project, "customers").content


def test_edges_tie_columns_to_tables_and_along_foreign_keys(project, database):
    edges = set(
        Edge.objects.of(project).values_list("source__key", "relation", "target__key")
    )
    items, customers = "shop:public.order_items", "shop:public.customers"
    assert {
        (f"db_table:{items}", "references", f"db_table:{customers}"),
        (f"db_column:{items}.customer_id", "references", f"db_column:{customers}.id"),
        (f"db_column:{items}.state", "column_of", f"db_table:{items}"),
    } <= edges
    assert len(edges) == 2 + 5


def test_names_with_dots_have_keys_of_their_own():
    assert table_key("c", "a.b", "c") != table_key("c", "a", "b.c")
    assert column_key("c", "a", "b", "c.d") != column_key("c", "a", "b.c", "d")
    assert table_key("c", "Größe & Co", "t") == "db_table:c:Größe & Co.t"


def test_a_second_sync_writes_nothing(project, database):
    counts = sync_database(database)
    assert (counts.seen, counts.unchanged) == (2, 2)
    assert (counts.created, counts.updated, counts.deleted) == (0, 0, 0)


def test_a_hidden_table_has_no_node_no_record_and_no_mention(project, database):
    hidden = DatabaseTable.objects.get(database=database, name="customers")
    with_hooks(expose_tables, database, "hidden", tables=[hidden.pk])
    assert "db_table:shop:public.customers" not in keys(project)
    assert not any("customers" in key for key in keys(project))
    assert not Record.objects.filter(
        project=project, key__contains="customers"
    ).exists()
    assert "public.customers" not in node(project, "order_items").content
    assert not Edge.objects.live().filter(relation="references").exists()


def test_a_hidden_table_that_is_opened_is_found_again(project, database):
    hidden = DatabaseTable.objects.get(database=database, name="customers")
    with_hooks(expose_tables, database, "hidden", tables=[hidden.pk])
    with_hooks(expose_tables, database, "visible", tables=[hidden.pk])
    assert node(project, "customers").gone_at is None
    assert Edge.objects.live().filter(relation="references").count() == 2


def test_a_hidden_column_has_no_node_and_is_in_no_text(project, database):
    hidden = DatabaseColumn.objects.get(table__database=database, name="state")
    with_hooks(expose_columns, database, "hidden", columns=[hidden.pk])
    assert "db_column:shop:public.order_items.state" not in keys(project)
    for content in Node.objects.of(project).values_list("content", flat=True):
        assert "state" not in content
        assert "paid" not in content


def test_a_masked_column_is_named_without_its_values(project, database):
    masked = DatabaseColumn.objects.get(table__database=database, name="state")
    with_hooks(expose_columns, database, "masked", columns=[masked.pk])
    masked.refresh_from_db()
    assert masked.values == []
    contents = list(Node.objects.of(project).values_list("content", flat=True))
    assert any("state (state); masked" in content for content in contents)
    assert not any("paid" in content for content in contents)
    bodies = Record.objects.filter(project=project).values_list("body", flat=True)
    assert bodies
    assert not any("paid" in body for body in bodies)


def test_a_table_that_is_dropped_is_gone_and_comes_back(project, database):
    stored(database, replace(ORDERS, keys=()))
    sync_database(database)
    gone = node(project, "customers")
    assert gone.gone_at is not None
    stored(database, CUSTOMERS, ORDERS)
    sync_database(database)
    assert node(project, "customers").gone_at is None


def test_a_whole_schema_may_be_dropped_at_once(project, database):
    stored(database)
    counts = sync_database(database)
    assert counts.deleted == 2
    assert node(project, "order_items").gone_at is not None


def test_only_the_audience_sees_the_nodes(project, other_project, member, stranger):
    closed = make_audience(project, "finance", [member])
    outsider = make_member(project, "no-finance@acme.test")
    database = make_database(project, NOWHERE, audience=closed)
    stored(database, CUSTOMERS)
    sync_database(database)
    seen = {
        user.email: Node.objects.visible_to(user).filter(node_type="db_table").count()
        for user in (member, outsider, stranger)
    }
    assert seen == {member.email: 1, outsider.email: 0, stranger.email: 0}


def test_a_changed_audience_closes_the_nodes(project, database, member, outsider):
    database.audience = make_audience(project, "finance", [member])
    database.save()
    sync_database(database)
    assert Node.objects.visible_to(member).filter(node_type="db_table").count() == 2
    assert not Node.objects.visible_to(outsider).filter(node_type="db_table").exists()


def test_two_tenants_with_one_name_stay_apart(project, other_project, database):
    theirs = make_database(other_project, NOWHERE)
    stored(theirs, CUSTOMERS)
    sync_database(theirs)
    assert len(keys(other_project, node_type="db_table")) == 1
    hidden = DatabaseTable.objects.get(database=theirs)
    with_hooks(expose_tables, theirs, "hidden", tables=[hidden.pk])
    assert keys(other_project) == set()
    assert len(keys(project, node_type="db_table")) == 2


def test_a_deleted_database_takes_its_nodes_with_it(project, database):
    database.delete()
    assert keys(project) == set()
    assert not Source.objects.filter(kind="database").exists()


def test_an_empty_schema_has_no_nodes(project):
    database = make_database(project, NOWHERE)
    counts = sync_database(database)
    assert counts.seen == 0
    assert keys(project) == set()


def with_hooks(choose, *args, **kwargs):
    """Choose, and run what follows the commit, which a test never comes to."""
    from django.test import TestCase

    with TestCase.captureOnCommitCallbacks(execute=True):
        return choose(*args, **kwargs)
