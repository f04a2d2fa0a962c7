"""What a login may do beyond reading is told, on both engines, and who is refused."""

from __future__ import annotations

import json

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from connections.databases import rights
from connections.databases.rights_mysql import read_grants
from connections.models import Audit, Database
from connections.secrets import Secret
from tests.targets import make_database

db = pytest.mark.django_db
READER = "reader@'127.0.0.1'"


@pytest.fixture
def login(postgres_target):
    """The login of the PostgreSQL with some tables, and nothing to do with them."""
    name = postgres_target.user
    postgres_target.run(
        "CREATE SCHEMA sales",
        "CREATE TABLE sales.orders (id int PRIMARY KEY, total numeric, note text)",
        'CREATE TABLE sales."Odd Name" (id int)',
        "CREATE SEQUENCE sales.numbers",
        "CREATE VIEW sales.totals AS SELECT sum(o.total) AS total FROM sales.orders o",
        f"GRANT USAGE ON SCHEMA sales TO {name}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA sales TO {name}",
        f"REVOKE TEMPORARY ON DATABASE {postgres_target.database} FROM PUBLIC",
        "CREATE ROLE test_writers",
    )
    yield name
    postgres_target.run(
        f"DROP OWNED BY {name}",
        "DROP OWNED BY test_writers",
        "DROP ROLE test_writers",
        "DROP SCHEMA IF EXISTS sales CASCADE",
        f"ALTER ROLE {name} NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS",
        f"GRANT TEMPORARY ON DATABASE {postgres_target.database} TO PUBLIC",
    )


@pytest.fixture
def reader(mariadb_target):
    """The login of the MariaDB with a table, free to read it."""
    mariadb_target.run(
        "CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, `odd name` int)",
        f"GRANT SELECT, SHOW VIEW ON shop.* TO {READER}",
    )
    yield READER
    mariadb_target.run(
        f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {READER}",
        "DROP ROLE IF EXISTS writers",
        "DROP ROLE IF EXISTS editors",
        "DROP TABLE orders",
    )


def try_out(project, target, **fields):
    database = make_database(project, target, **fields)
    return database, rights.test_database(database, by=None)


def found(report):
    return {(each.level, each.right, each.where) for each in report.rights.findings}


@db
class TestPostgres:
    def test_a_login_that_only_reads_has_nothing_to_tell(
        self, project, postgres_target, login
    ):
        _, report = try_out(project, postgres_target)
        assert report.rights.findings == ()
        assert report.rights.advice == ()
        assert report.is_fine
        assert report.sentence == "It was reached, and its login only reads."
        assert (report.flavour, report.is_encrypted) == ("postgres", False)
        assert report.took_ms > 0

    @pytest.mark.parametrize(
        ("statement", "expected"),
        [
            (
                "GRANT INSERT ON sales.orders TO {}",
                ("beyond", "INSERT", "sales.orders"),
            ),
            (
                "GRANT UPDATE (note) ON sales.orders TO {}",
                ("beyond", "UPDATE", "sales.orders"),
            ),
            (
                'GRANT TRUNCATE ON sales."Odd Name" TO {}',
                ("beyond", "TRUNCATE", "sales.Odd Name"),
            ),
            (
                "GRANT DELETE ON sales.orders TO PUBLIC",
                ("beyond", "DELETE", "sales.orders"),
            ),
            (
                "GRANT USAGE ON SEQUENCE sales.numbers TO {}",
                ("beyond", "USAGE", "sales.numbers"),
            ),
            (
                "GRANT CREATE ON SCHEMA sales TO {}",
                ("beyond", "CREATE", "schema sales"),
            ),
            (
                "GRANT CREATE ON DATABASE {database} TO {}",
                ("beyond", "CREATE", "database {database}"),
            ),
            (
                "GRANT TEMPORARY ON DATABASE {database} TO {}",
                ("note", "TEMPORARY", "database {database}"),
            ),
            (
                "ALTER TABLE sales.orders OWNER TO {}",
                ("beyond", "owner of table", "sales.orders"),
            ),
            ("ALTER SCHEMA sales OWNER TO {}", ("beyond", "owner of schema", "sales")),
            ("ALTER ROLE {} CREATEDB", ("beyond", "rolcreatedb", "{}")),
            ("ALTER ROLE {} CREATEROLE", ("beyond", "rolcreaterole", "{}")),
            ("ALTER ROLE {} REPLICATION", ("beyond", "rolreplication", "{}")),
            ("ALTER ROLE {} BYPASSRLS", ("beyond", "rolbypassrls", "{}")),
            ("ALTER ROLE {} SUPERUSER", ("superuser", "rolsuper", "{}")),
            (
                "GRANT pg_read_server_files TO {}",
                ("superuser", "pg_read_server_files", "pg_read_server_files"),
            ),
            (
                "GRANT pg_execute_server_program TO {}",
                ("superuser", "pg_execute_server_program", "pg_execute_server_program"),
            ),
            (
                "GRANT pg_write_all_data TO {}",
                ("beyond", "pg_write_all_data", "pg_write_all_data"),
            ),
            ("GRANT pg_monitor TO {}", ("note", "pg_monitor", "pg_monitor")),
            (
                "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO {}",
                ("beyond", "EXECUTE", "pg_read_file"),
            ),
            (
                "CREATE FUNCTION sales.wipe() RETURNS void SECURITY DEFINER"
                " LANGUAGE sql AS 'DELETE FROM sales.orders'",
                ("beyond", "EXECUTE", "sales.wipe"),
            ),
        ],
    )
    def test_a_right_beyond_reading_is_told(
        self, project, postgres_target, login, statement, expected
    ):
        names = {"database": postgres_target.database}
        postgres_target.run(statement.format(login, **names))
        try:
            database, report = try_out(project, postgres_target)
            level, right, where = (each.format(login, **names) for each in expected)
            assert (level, right, where) in found(report)
            assert report.is_superuser == (level == "superuser")
            assert report.is_fine == (level != "superuser")
            assert any(
                "CREATE ROLE fabric_reader" in line for line in report.rights.advice
            )
            assert database.enabled == report.is_fine
        finally:
            postgres_target.run(
                f"REVOKE pg_read_server_files, pg_execute_server_program,"
                f" pg_write_all_data, pg_monitor FROM {login}",
                f"REVOKE ALL ON FUNCTION pg_read_file(text) FROM {login}",
                "ALTER SCHEMA sales OWNER TO CURRENT_USER",
                "ALTER TABLE sales.orders OWNER TO CURRENT_USER",
            )

    def test_what_it_may_become_counts_though_it_is_not_inherited(
        self, project, postgres_target, login
    ):
        postgres_target.run(
            "GRANT DELETE ON sales.orders TO test_writers",
            f"GRANT test_writers TO {login} WITH INHERIT FALSE, SET TRUE",
        )
        _, report = try_out(project, postgres_target)
        assert ("beyond", "DELETE", "sales.orders") in found(report)
        postgres_target.run("ALTER ROLE test_writers SUPERUSER")
        _, report = try_out(project, postgres_target, name="two")
        assert report.is_superuser
        assert not report.is_fine

    def test_a_superuser_is_told_in_few_words(self, project, postgres_target):
        owner = postgres_target.owner
        _, report = try_out(
            project,
            postgres_target,
            user=owner["user"],
            password=Secret(owner["password"]),
        )
        assert {each[1] for each in found(report)} == {
            "rolsuper", "rolcreatedb", "rolcreaterole", "rolreplication", "rolbypassrls"
        }  # fmt: skip


@db
class TestMariaDB:
    def test_a_login_that_only_reads_has_nothing_to_tell(
        self, project, mariadb_target, reader
    ):
        _, report = try_out(project, mariadb_target)
        assert report.rights.findings == ()
        assert report.is_fine
        assert report.flavour == "mariadb"

    @pytest.mark.parametrize(
        ("grant", "expected"),
        [
            ("INSERT ON shop.orders", ("beyond", "INSERT", "shop.orders")),
            ("UPDATE (`odd name`) ON shop.orders", ("beyond", "UPDATE", "shop.orders")),
            ("DELETE, DROP ON shop.*", ("beyond", "DROP", "shop.*")),
            ("ALL PRIVILEGES ON shop.*", ("beyond", "ALL PRIVILEGES", "shop.*")),
            ("FILE ON *.*", ("superuser", "FILE", "*.*")),
            ("SUPER ON *.*", ("superuser", "SUPER", "*.*")),
            ("PROCESS ON *.*", ("beyond", "PROCESS", "*.*")),
            ("SHOW DATABASES ON *.*", ("note", "SHOW DATABASES", "*.*")),
            ("INSERT ON *.*", ("superuser", "INSERT", "*.*")),
            ("UPDATE ON mysql.*", ("superuser", "UPDATE", "mysql.*")),
            ("ALL PRIVILEGES ON *.*", ("superuser", "ALL PRIVILEGES", "*.*")),
            (
                "SELECT ON shop.* {} WITH GRANT OPTION",
                ("beyond", "GRANT OPTION", "shop.*"),
            ),
            ("CREATE USER ON *.*", ("superuser", "CREATE USER", "*.*")),
        ],
    )
    def test_a_right_beyond_reading_is_told(
        self, project, mariadb_target, reader, grant, expected
    ):
        to = f"TO {reader}"
        text = grant.format(to) if "{}" in grant else f"{grant} {to}"
        mariadb_target.run(f"GRANT {text}")
        _, report = try_out(project, mariadb_target)
        assert expected in found(report)
        assert report.is_superuser == (expected[0] == "superuser")
        assert any("GRANT SELECT" in line for line in report.rights.advice)

    def test_the_rights_of_roles_count_through_other_roles(
        self, project, mariadb_target, reader
    ):
        mariadb_target.run(
            "CREATE ROLE writers",
            "CREATE ROLE editors",
            "GRANT DELETE ON shop.* TO writers",
            "GRANT writers TO editors",
            f"GRANT editors TO {reader}",
        )
        _, report = try_out(project, mariadb_target)
        assert ("beyond", "DELETE", "shop.*") in found(report)


@pytest.mark.parametrize(
    ("line", "rights_", "where", "roles"),
    [
        ("GRANT USAGE ON *.* TO `r`@`%` IDENTIFIED BY PASSWORD '*ABCDEF'",
         ("USAGE",), "*.*", ()),
        ("GRANT SELECT, INSERT (`a`, `b TO c`) ON `s ON x`.`t` TO `r`@`%`",
         ("SELECT", "INSERT"), "s ON x.t", ()),
        ("GRANT `editors`@`%`,`ops`@`10.%` TO `r`@`%`", (), "", ("editors@%", "ops@10.%")),
        ("GRANT editors TO `r`@`%`", (), "", ("editors@",)),
        ("GRANT PROXY ON ''@'%' TO 'root'@'localhost'", ("PROXY",), "%", ()),
        ("GRANT EXECUTE ON PROCEDURE `shop`.`p` TO `r`@`%`", ("EXECUTE",), "shop.p", ()),
        ("GRANT BACKUP_ADMIN,ROLE_ADMIN ON *.* TO `r`@`%`",
         ("BACKUP_ADMIN", "ROLE_ADMIN"), "*.*", ()),
        ("GRANT CREATE TEMPORARY TABLES, LOCK TABLES ON `a\\_b`.* TO `r`@`%`",
         ("CREATE TEMPORARY TABLES", "LOCK TABLES"), "a\\_b.*", ()),
        ('GRANT SELECT ON "shop"."orders" TO "r"@"%"', ("SELECT",), "shop.orders", ()),
    ],
)  # fmt: skip
def test_a_grant_is_read_by_its_words(line, rights_, where, roles):
    grant = read_grants(line)
    assert (grant.rights, grant.where, grant.roles) == (rights_, where, roles)
    assert "ABCDEF" not in repr(grant)


@pytest.mark.parametrize(
    "line",
    ["SET DEFAULT ROLE `x` FOR `r`@`%`", "REVOKE INSERT ON `m`.* FROM `r`@`%`", ""],
)
def test_a_line_that_gives_nothing_is_none(line):
    assert read_grants(line) is None


def test_a_grant_that_cannot_be_read_is_no_right_to_read():
    assert read_grants("GRANT SELECT ON `shop.* TO x").rights == (
        "an unreadable grant",
    )


@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20
    )
)
def test_names_are_never_taken_for_words(name):
    quoted = "`" + name.replace("`", "``") + "`"
    grant = read_grants(f"GRANT SELECT ON {quoted}.* TO {quoted}@`%`")
    assert grant.rights in (("SELECT",), ("an unreadable grant",))
    assert not grant.may_grant
    assert not grant.roles


@db
class TestReports:
    def test_it_is_stored_and_audited_without_secrets(
        self, project, member, postgres_target, login
    ):
        database = make_database(project, postgres_target)
        report = rights.test_database(database, by=member)
        stored = Database.objects.get()
        assert stored.test_report == json.loads(json.dumps(report.as_json()))
        assert stored.tested_at is not None
        audit = Audit.objects.get(verb="database.tested")
        assert (audit.actor, audit.project, audit.target) == (member, project, "shop")
        assert postgres_target.password not in json.dumps(audit.detail.detail)

    def test_why_it_was_not_reached_is_for_staff(self, project, postgres_target):
        database = make_database(project, postgres_target, host="169.254.169.254")
        report = rights.test_database(database, by=None)
        assert not report.is_reached
        assert not report.is_fine
        assert "169.254" not in report.error + report.sentence
        assert "169.254.169.254 is denied" in report.why
        audit = Audit.objects.get(verb="database.tested")
        assert audit.detail.detail["why"] == report.why

    def test_unusual_settings_are_told_and_refused(
        self, project, postgres_target, login
    ):
        postgres_target.run(f"ALTER ROLE {login} SET standard_conforming_strings = off")
        try:
            _, report = try_out(project, postgres_target)
        finally:
            postgres_target.run(f"ALTER ROLE {login} RESET ALL")
        assert report.is_reached
        assert not report.is_fine
        assert "standard_conforming_strings is off" in report.unusual[0]

    def test_a_superuser_that_both_allow_is_fine(
        self, project, postgres_target, monkeypatch
    ):
        owner = postgres_target.owner
        monkeypatch.setitem(settings.FABRIC, "DATABASE_SUPERUSERS", True)
        fields = {"user": owner["user"], "password": Secret(owner["password"])}
        database, report = try_out(
            project, postgres_target, superuser_allowed=True, **fields
        )
        assert report.is_superuser
        assert report.is_fine
        assert database.enabled
        database, report = try_out(project, postgres_target, name="two", **fields)
        assert not report.is_fine
        assert not Database.objects.get(name="two").enabled
