"""What the audit lets whom do: written with the act, sealed, never changed."""

from __future__ import annotations

import hashlib
import json

import pytest
from django.db import DatabaseError, connection, connections, transaction

from connections.audit import GENESIS, seal_all, seal_of
from connections.models import Audit, AuditDetail, record_audit
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(project):
    actor = make_user()
    return record_audit("x.done", target="x", project=project, actor=actor, secret="s")


def test_a_row_says_who_did_what_and_holds_its_detail_by_hash_only(row, project):
    row.refresh_from_db()
    assert (row.tenant_id, row.project_id, row.verb, row.target) == (
        project.tenant_id,
        project.pk,
        "x.done",
        "x",
    )
    detail = AuditDetail.objects.get(audit=row)
    text = detail.salt + json.dumps({"secret": "s"}, sort_keys=True)
    assert row.detail_sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_a_row_goes_with_the_act_that_is_taken_back(project):
    with transaction.atomic():
        record_audit("x.done", project=project)
        transaction.set_rollback(True)
    assert not Audit.objects.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET verb = 'nothing'",
        "UPDATE audit SET at = now()",
        "UPDATE audit SET seal = 'x'",
        "UPDATE audit SET position = 1, seal = 'x', target = 'y'",
        "UPDATE audit SET position = NULL",
        "DELETE FROM audit",
    ],
)
@pytest.mark.parametrize("is_sealed", [False, True])
def test_the_database_refuses_every_change_but_the_seal(row, statement, is_sealed):
    if is_sealed:
        seal_all()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


def test_a_seal_is_written_once(row):
    seal_all()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE audit SET position = position + 1, seal = 'other'")


def test_seals_chain_the_rows_of_each_tenant_in_order(project, other_project):
    mine = [record_audit(f"x.{n}", project=project) for n in range(3)]
    theirs = record_audit("y", project=other_project)
    nobody = record_audit("z")
    assert seal_all() == 5
    last = record_audit("x.3", project=project)
    assert seal_all() == 1
    previous = GENESIS
    for position, row in enumerate([*mine, last], start=1):
        row.refresh_from_db()
        assert (row.position, row.seal) == (position, seal_of(previous, row))
        previous = row.seal
    for alone in (theirs, nobody):
        alone.refresh_from_db()
        assert (alone.position, alone.seal) == (1, seal_of(GENESIS, alone))
    assert seal_all() == 0


def test_the_detail_may_be_erased_and_the_chain_stays_whole(row):
    seal_all()
    row.refresh_from_db()
    AuditDetail.objects.filter(audit=row).delete()
    row.refresh_from_db()
    assert row.seal == seal_of(GENESIS, row)


@pytest.mark.django_db(databases=["default", "owner"])
class TestLogins:
    """`fabric_owner` migrates; `fabric_app` serves."""

    def user_of(self, alias):
        with connections[alias].cursor() as cursor:
            cursor.execute(
                "SELECT current_user, (SELECT rolsuper OR rolbypassrls OR rolcreaterole"
                " FROM pg_roles WHERE rolname = current_user)"
            )
            return cursor.fetchone()

    def test_the_two_logins_lead_to_one_database_and_neither_is_a_superuser(self):
        (app, app_rules), (owner, owner_rules) = map(self.user_of, ("default", "owner"))
        assert app != owner
        assert not app_rules
        assert not owner_rules
        names = {connections[a].settings_dict["NAME"] for a in ("default", "owner")}
        assert len(names) == 1

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TABLE mine (id int)",
            "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            "CREATE SCHEMA mine",
            "CREATE EXTENSION hstore",
            "ALTER TABLE graph_nodes ADD COLUMN mine int",
            "DROP TABLE audit",
            "DROP TRIGGER trg_audit_append_only ON audit",
            "ALTER TABLE audit DISABLE TRIGGER ALL",
            "SET session_replication_role = replica",
            "CREATE INDEX mine ON graph_nodes (key)",
            "CREATE ROLE mine",
        ],
    )
    def test_the_serving_login_changes_no_structure(self, statement):
        with (
            pytest.raises(DatabaseError, match=r"permission denied|must be"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
