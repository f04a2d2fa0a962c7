"""Verifying the audit: whatever is done to a sealed chain is found, and named."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.audit import seal_all, seal_of
from connections.audit_checking import verify
from connections.audit_export import Wanted, exported
from connections.audit_heads import sign
from connections.audit_retention import erase_due
from connections.models import Audit, AuditDetail, AuditHead, record_audit
from connections.models.audit import hash_of
from tests.factories import make_project

pytestmark = pytest.mark.django_db
ROWS = 8


def sealed(project, rows=ROWS):
    made = [record_audit(f"x.{n}", project=project, n=n) for n in range(rows)]
    seal_all()
    return made


def kinds(tenant):
    return {fault.kind for fault in verify(tenant).faults}


def test_a_chain_is_whole_and_what_waits_is_told_apart(project, other_project):
    sealed(project)
    sealed(other_project, 3)
    record_audit("x.waits", project=project)
    found = verify(project.tenant)
    assert (found.sealed, found.waiting, found.erased, found.faults) == (ROWS, 1, 0, ())
    assert verify().sealed == ROWS + 3
    assert verify(make_project("empty/main").tenant).sealed == 0


class Tampering:
    """What only an owner of the database could do, past its triggers."""

    def __enter__(self):
        self.cursor = connection.cursor().__enter__()
        # The tests' login owns nothing: rows are rewritten in a copy of the tables.
        self.cursor.execute(
            "CREATE TEMP TABLE audit AS TABLE public.audit;"
            "CREATE TEMP TABLE audit_details AS TABLE public.audit_details;"
            "CREATE TEMP TABLE audit_heads AS TABLE public.audit_heads"
        )
        return self.cursor

    def __exit__(self, *wrong):
        self.cursor.execute(
            "DROP TABLE pg_temp.audit, pg_temp.audit_details, pg_temp.audit_heads"
        )


FIELDS = {
    "verb": "'forged'",
    "target": "'forged'",
    "at": "at - interval '1 day'",
    "actor_id": "4711",
    "project_id": "project_id + 1",
    "token_id": "gen_random_uuid()",
    "detail_sha256": "repeat('0', 64)",
    "seal": "repeat('a', 64)",
    "position": f"position + {ROWS}",
}
MUTATIONS = st.one_of(
    st.tuples(st.just("change"), st.integers(1, ROWS), st.sampled_from(sorted(FIELDS))),
    st.tuples(st.just("delete"), st.integers(1, ROWS), st.just("")),
    st.tuples(st.just("truncate"), st.integers(0, ROWS - 1), st.just("")),
    st.tuples(st.just("swap"), st.integers(1, ROWS - 1), st.just("")),
    st.tuples(st.just("insert"), st.integers(1, ROWS + 1), st.just("")),
    st.tuples(st.just("detail"), st.integers(1, ROWS), st.just("")),
    st.tuples(st.just("rewrite"), st.integers(1, ROWS), st.just("")),
)


def mutate(cursor, mutation):
    what, place, name = mutation
    if what == "change":
        statement = "UPDATE audit SET {} = {} WHERE position = %s"
        statement = statement.format(name, FIELDS[name])
    elif what == "delete":
        statement = "DELETE FROM audit WHERE position = %s"
    elif what == "truncate":
        statement = "DELETE FROM audit WHERE position > %s"
    elif what == "swap":
        statement = (
            "UPDATE audit SET position = CASE position WHEN %s THEN position + 1 "
            "ELSE position - 1 END WHERE position IN (%s, %s + 1)"
        )
        cursor.execute(statement, [place] * 3)
        return
    elif what == "insert":
        cursor.execute(
            "UPDATE audit SET position = position + 1 WHERE position >= %s", [place]
        )
        statement = (
            "INSERT INTO audit (id, at, token_id, verb, target, detail_sha256, position,"
            " seal, actor_id, project_id, tenant_id) SELECT id + 1000, at, token_id,"
            " verb, target, detail_sha256, %s, seal, actor_id, project_id, tenant_id"
            " FROM audit LIMIT 1"
        )
    elif what == "detail":
        statement = (
            "UPDATE audit_details SET detail = '{\"n\": 99}' WHERE audit_id = "
            "(SELECT id FROM audit WHERE position = %s)"
        )
    else:
        rewrite(cursor, place)
        return
    cursor.execute(statement, [place])


def rewrite(cursor, place):
    """Change a row, and every seal from it to the end: all of it fits but the end."""
    cursor.execute("UPDATE audit SET verb = 'forged' WHERE position = %s", [place])
    previous = "0" * 64
    for row in Audit.objects.exclude(position=None).order_by("position"):
        previous = seal_of(previous, row)
        cursor.execute("UPDATE audit SET seal = %s WHERE id = %s", [previous, row.pk])


@given(mutation=MUTATIONS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_whatever_is_done_to_a_sealed_chain_is_found(project, mutation):
    if not Audit.objects.filter(tenant=project.tenant).exists():
        sealed(project)
    assert verify(project.tenant).is_whole
    with transaction.atomic():
        with Tampering() as cursor:
            mutate(cursor, mutation)
            found = verify(project.tenant)
        transaction.set_rollback(True)
    assert not found.is_whole, mutation


@pytest.mark.parametrize(
    ("mutation", "kind", "position"),
    [
        (("change", 3, "verb"), "changed", 3),
        (("delete", 4, ""), "removed", 4),
        (("truncate", 6, ""), "removed", 7),
        (("detail", 5, ""), "changed", 5),
        (("insert", ROWS + 1, ""), "inserted", ROWS + 1),
        (("rewrite", 2, ""), "changed", ROWS),
    ],
)
def test_what_was_done_and_where_is_named(project, mutation, kind, position):
    sealed(project)
    with Tampering() as cursor:
        mutate(cursor, mutation)
        first = verify(project.tenant).faults[0]
    assert (first.kind, first.position) == (kind, position)


def test_an_erased_detail_leaves_the_chain_whole_and_is_counted(project):
    rows = sealed(project)
    AuditDetail.objects.filter(audit=rows[2]).delete()
    AuditDetail.objects.filter(audit=rows[3]).update(salt="", detail={})
    found = verify(project.tenant)
    assert (found.erased, found.faults) == (2, ())


def test_who_may_only_insert_puts_nothing_among_the_sealed_nor_back_in_time(project):
    rows = sealed(project)
    values = {"tenant": project.tenant, "verb": "forged", "detail_sha256": "0" * 64}
    with pytest.raises(DatabaseError, match="come unsealed"), transaction.atomic():
        Audit.objects.create(**values, position=ROWS + 1, seal="0" * 64)
    forged = Audit.objects.create(**values)
    Audit.objects.filter(pk=rows[0].pk).first()
    forged.refresh_from_db()
    assert timezone.now() - forged.at < timedelta(minutes=1)


def test_an_end_is_neither_removed_nor_moved_back_nor_forged(project):
    sealed(project)
    head = AuditHead.objects.get(chain=project.tenant_id)
    for change in ("DELETE FROM audit_heads", "UPDATE audit_heads SET position = 1"):
        with (
            pytest.raises(DatabaseError, match="only moves on"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(change)
    with transaction.atomic():
        AuditHead.objects.filter(chain=head.chain).update(position=99, seal="f" * 64)
        record_audit("x.more", project=project)
        assert seal_all() == 0
        assert "changed" in kinds(project.tenant)
        transaction.set_rollback(True)
    assert sign(head.chain, head.position, head.seal) == head.signature


def test_an_end_noted_elsewhere_must_lie_on_the_way(project):
    sealed(project, 4)
    end = verify(project.tenant).ends["acme"]
    sealed(project, 4)
    assert verify(project.tenant, end=end).is_whole
    other = f"4:{'0' * 64}"
    assert not verify(project.tenant, end=other).is_whole


def test_the_command_says_so_and_ends_with_an_error(project, capsys):
    sealed(project)
    call_command("verify_audit", "--tenant", "acme", "--json")
    assert json.loads(capsys.readouterr().out)["sealed"] == ROWS
    with Tampering() as cursor:
        mutate(cursor, ("change", 2, "target"))
        with pytest.raises(CommandError, match="1 faults"):
            call_command("verify_audit", "--tenant", "acme")
    assert "changed at position 2" in capsys.readouterr().out


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(),
    lambda each: (
        st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3)
    ),
    max_leaves=6,
)


@given(value=JSONS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_every_detail_is_stored_as_it_is_hashed(project, value):
    row = record_audit("x", project=project, value=value)
    stored = AuditDetail.objects.get(audit=row)
    assert hash_of(stored.salt, stored.detail) == row.detail_sha256


def test_details_are_erased_after_their_time_and_that_is_audited(project):
    sealed(project)
    record_audit("x.waits", project=project)
    later = timezone.now() + timedelta(days=31)
    assert erase_due(later, 0) == 0
    assert erase_due(later - timedelta(days=2), 30) == 0
    assert erase_due(later, 30) == ROWS
    assert AuditDetail.objects.filter(audit__verb="x.waits").exists()
    assert Audit.objects.get(verb="audit.erased").tenant_id == project.tenant_id
    seal_all()
    assert verify(project.tenant).erased == ROWS
    assert verify(project.tenant).is_whole


def test_an_export_has_the_tenants_rows_only_and_is_audited(project, other_project):
    sealed(project)
    sealed(other_project, 2)
    lines = [
        json.loads(line)
        for line in exported(Wanted(tenants=[project.tenant_id]), by=None)
    ]
    assert [line["verb"] for line in lines] == [
        *(f"x.{n}" for n in range(ROWS)),
        "audit.exported",
    ]
    assert lines[0]["detail"] == {"n": 0}
    assert lines[0]["position"] == 1
    assert list(exported(Wanted(), by=None)) == []


def test_the_file_of_an_export_is_there_whole(project, tmp_path):
    sealed(project)
    target = tmp_path / "audit.jsonl"
    call_command("export_audit", "--tenant", "acme", "--output", str(target))
    assert len(target.read_text().splitlines()) == ROWS + 1
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(CommandError, match="no tenant"):
        call_command("export_audit", "--tenant", "nowhere")
