"""Connections: nothing smuggled, no secret told, no login that may do everything."""

from __future__ import annotations

import base64
import secrets
import traceback

import MySQLdb
import pytest
from django.conf import settings
from django.core.management import call_command

from connections.databases.base import DatabaseError
from connections.databases.connecting import open_connection
from connections.databases.failures import Unfit
from connections.models import Database
from connections.secrets import Secret
from tests.connections.databases.connecting.leading import opened
from tests.targets import make_database

pytestmark = pytest.mark.django_db


class TestUnfit:
    def test_settings_that_change_how_sql_reads_are_refused(self, project, target):
        user = target.user
        if target.engine == "postgres":
            change = f"ALTER ROLE {user} SET standard_conforming_strings = off"
            back = f"ALTER ROLE {user} RESET standard_conforming_strings"
            named = "standard_conforming_strings"
        else:
            change = "SET GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'"
            back, named = "SET GLOBAL sql_mode = DEFAULT", "NO_BACKSLASH_ESCAPES"
        target.run(change)
        try:
            with pytest.raises(Unfit, match=named):
                open_connection(make_database(project, target))
        finally:
            target.run(back)

    @pytest.fixture
    def mighty(self, project, target, monkeypatch):
        owner = target.owner
        database = make_database(
            project, target, user=owner["user"], password=Secret(owner["password"])
        )
        monkeypatch.setitem(settings.FABRIC, "DATABASE_SUPERUSERS", False)
        return database

    def test_superusers_are_refused(self, mighty):
        with pytest.raises(Unfit, match="may do everything"):
            open_connection(mighty)

    @pytest.mark.parametrize(("row", "operator"), [(True, False), (False, True)])
    def test_one_permission_is_not_enough(self, mighty, row, operator):
        mighty.superuser_allowed = row
        settings.FABRIC["DATABASE_SUPERUSERS"] = operator
        with pytest.raises(Unfit):
            open_connection(mighty)

    def test_both_permissions_let_it_in(self, mighty):
        mighty.superuser_allowed = True
        settings.FABRIC["DATABASE_SUPERUSERS"] = True
        assert opened(mighty)


class TestKeys:
    def test_a_key_that_is_gone_is_a_clear_error(self, project, target, settings):
        database = make_database(project, target)
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        settings.FIELD_ENCRYPTION_KEYS = (f"other:{key}",)
        with pytest.raises(
            DatabaseError, match="FIELD_ENCRYPTION_KEYS no longer holds"
        ):
            open_connection(Database.objects.get(pk=database.pk))

    def test_a_password_copied_from_another_row_does_not_open(
        self, project, other_project, target
    ):
        mine = make_database(project, target)
        theirs = make_database(other_project, target, password=Secret("theirs"))
        Database.objects.filter(pk=mine.pk).update(password=theirs.password)
        with pytest.raises(DatabaseError, match="copied from elsewhere"):
            open_connection(Database.objects.get(pk=mine.pk))

    def test_rotation_covers_it(self, project, target, settings, capsys):
        database = make_database(project, target)
        before = Database.objects.get().password.key_id
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        old = settings.FIELD_ENCRYPTION_KEYS
        settings.FIELD_ENCRYPTION_KEYS = (f"newer:{key}", *old)
        call_command("rotate_keys")
        settings.FIELD_ENCRYPTION_KEYS = (f"newer:{key}",)
        stored = Database.objects.get(pk=database.pk)
        assert before != stored.password.key_id == "newer"
        assert opened(stored)


def test_the_environment_and_home_folder_add_nothing(
    project, postgres_target, monkeypatch
):
    """libpq takes what it is not told from PG... variables."""
    for name, value in {
        "PGOPTIONS": "-c statement_timeout=1",
        "PGHOSTADDR": "10.0.0.1",
        "PGPASSFILE": "/etc/passwd",
        "PGSSLMODE": "require",
        "PGUSER": "somebody",
        "PGREQUIREAUTH": "none",
        "PGTARGETSESSIONATTRS": "standby",
    }.items():
        monkeypatch.setenv(name, value)
    connection = open_connection(make_database(project, postgres_target))
    assert connection.read("SHOW statement_timeout") == [("0",)]
    connection.close()


def test_mysql_offers_no_files_and_takes_one_statement(project, mariadb_target):
    connection = open_connection(make_database(project, mariadb_target))
    with pytest.raises(MySQLdb.Error):
        connection.read("SELECT 1; SELECT 2")
    connection.close()
    connection = open_connection(make_database(project, mariadb_target, name="two"))
    with pytest.raises(MySQLdb.Error, match=r"command is not allowed|local"):
        connection.read("LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE shop.x")
    connection.close()


def test_the_password_is_in_no_frame_of_an_error(project, target):
    """Error reporters keep the values of every frame on the way."""
    password = secrets.token_urlsafe(12)
    database = make_database(project, target, password=Secret(password))
    with pytest.raises(DatabaseError) as refused:
        open_connection(database)
    frames, seen = 0, refused.value
    while seen is not None:
        # The first frame is this test's own.
        shown = traceback.TracebackException(
            type(seen), seen, seen.__traceback__.tb_next, capture_locals=True
        )
        assert password not in "".join(shown.format())
        frames += len(shown.stack)
        seen = seen.__cause__ or seen.__context__
    assert frames >= 4
