"""The demo company's database: loaded, connected, read and nothing else."""

from __future__ import annotations

import psycopg
import pytest
from django.conf import settings

from connections import embedded
from connections.databases import rights
from connections.databases.connecting import open_connection
from connections.demo.generate import script_text
from connections.demo.loading import load_script
from connections.models import Audit, Database
from connections.secrets import Secret
from fabric_site import options
from fabric_site.demo_shop import connect_demo
from tests.factories import make_project

pytestmark = pytest.mark.django_db
TABLES = {"customers": 25, "orders": 600, "products": 5, "support_tickets": 400}


@pytest.fixture
def shop():
    return connect_demo(make_project("demo/main"))


def count(opened, table):
    return opened.read(f"SELECT count(*) FROM public.{table}")[0][0]  # noqa: S608


def test_it_is_connected_once_and_read(shop):
    opened = open_connection(shop)
    try:
        found = {table: count(opened, table) for table in TABLES}
        assert all(found[table] >= least for table, least in TABLES.items())
        recent = "created_at > now() - interval '7 days'"
        asked = f"SELECT count(*) FROM public.support_tickets WHERE {recent}"  # noqa: S608
        assert opened.read(asked)[0][0] > 0
    finally:
        opened.close()
    before = Database.objects.get()
    assert connect_demo(shop.project) == shop
    assert vars_of(Database.objects.get()) == vars_of(before)
    assert Audit.objects.filter(verb__startswith="database.").count() == 1


def vars_of(database):
    kept = ("host", "port", "database", "user", "updated_at", "enabled", "version")
    return [getattr(database, name) for name in kept] + [database.password.ciphertext]


def test_its_login_only_reads(shop):
    report = rights.test_database(shop, by=None)
    assert report.rights.findings == ()
    assert report.sentence == "It was reached, and its login only reads."
    opened = open_connection(shop)
    try:
        opened.raw.execute("SET default_transaction_read_only = off")
        for statement in (
            "DELETE FROM public.orders RETURNING 1",
            "CREATE TABLE public.mine AS SELECT 1",
            "CREATE TEMPORARY TABLE mine AS SELECT 1",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT 1 FROM pg_authid",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                opened.read(statement)
    finally:
        opened.close()


def test_exactly_that_database_is_open(shop):
    demo = settings.FABRIC["DEMO_DATABASE"]
    entry = f"{demo['HOST']}:{demo['PORT']}/fabric_demo"
    assert options.databases(demo)["DATABASE_TARGETS"] == (entry,)
    assert options.databases(None)["DATABASE_TARGETS"] == ()


def test_what_has_moved_is_put_right(shop):
    shop.port, shop.password = 1, Secret("another")
    shop.save()
    again = connect_demo(shop.project)
    assert again.pk == shop.pk
    assert again.port == int(settings.FABRIC["DEMO_DATABASE"]["PORT"])
    assert again.password.reveal() == settings.FABRIC["DEMO_DATABASE"]["PASSWORD"]


def test_a_server_of_ones_own_has_no_demo_database(monkeypatch):
    monkeypatch.setitem(settings.FABRIC, "DEMO_DATABASE", None)
    assert connect_demo(make_project("demo/main")) is None
    assert not Database.objects.exists()


def test_it_is_loaded_anew_once_its_dates_are_old(shop):
    owner = {**settings.DATABASES["owner"], "NAME": embedded.DEMO_DATABASE}
    reader = settings.FABRIC["DEMO_DATABASE"]["USER"]
    assert not load_script(owner, script_text(), reader=reader)
    with psycopg.connect(
        host=owner["HOST"],
        port=owner["PORT"],
        user=owner["USER"],
        password=owner["PASSWORD"],
        dbname=owner["NAME"],
        autocommit=True,
    ) as connection:
        connection.execute("COMMENT ON DATABASE fabric_demo IS NULL")
    assert load_script(owner, script_text(), reader=reader)
    opened = open_connection(shop)
    assert count(opened, "orders") == 600
    opened.close()
