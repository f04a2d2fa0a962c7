"""What the tables themselves keep, whoever writes to them."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from graph.copying import execute, fetch
from graph.embed import embed_backlog, nearness
from graph.models import Evidence, Identity, Node, Tombstone
from graph.models import Record as StoredRecord
from tests.factories import make_audience, make_node, make_record

pytestmark = pytest.mark.django_db


def vector_of(node):
    return fetch(
        "SELECT search_vector::text FROM graph_nodes WHERE id = %s", [node.pk]
    )[0][0]


class TestSearchVector:
    def test_a_title_weighs_a_words_b_and_context_c(self, project):
        node = make_node(project, "a", "pump", title="valve", context="crane")
        assert vector_of(node) == "'crane':3C 'pump':2B 'valv':1A"

    def test_each_row_is_read_in_its_own_language(self, project):
        german = make_node(project, "de", "Rechnungen und Pumpen", language="german")
        plain = make_node(project, "x", "The Rechnungen", language="simple")
        assert "'rechnung':1B" in vector_of(german)
        assert vector_of(plain) == "'rechnungen':2B 'the':1B"

    def test_it_follows_the_words_however_they_are_written(self, project):
        node = make_node(project, "a", "pump")
        execute("UPDATE graph_nodes SET content = 'valves' WHERE id = %s", [node.pk])
        assert vector_of(node) == "'valv':1B"
        execute("UPDATE graph_nodes SET search_vector = NULL WHERE id = %s", [node.pk])
        assert vector_of(node) == "'valv':1B"

    def test_the_vector_of_other_words_is_taken_back(self, project):
        node = make_node(project, "a", "pump")
        embed_backlog(project.pk)
        execute("UPDATE graph_nodes SET metadata = '{}' WHERE id = %s", [node.pk])
        node.refresh_from_db()
        assert node.embedding is not None
        execute("UPDATE graph_nodes SET content = 'x' WHERE id = %s", [node.pk])
        node.refresh_from_db()
        assert (node.embedding, node.embedding_model_id) == (None, None)

    def test_words_and_their_new_vector_may_come_together(self, project):
        node = make_node(project, "a", "pump")
        embed_backlog(project.pk)
        node.refresh_from_db()
        vector = str([1.0] + [0.0] * 255)
        execute(
            "UPDATE graph_nodes SET content = 'x', embedding = %s WHERE id = %s",
            [vector, node.pk],
        )
        node.refresh_from_db()
        assert node.embedding is not None
        assert node.embedding_model_id is not None

    def test_a_configuration_that_is_none_is_refused(self, project):
        with pytest.raises(DatabaseError, match="klingon"), transaction.atomic():
            make_node(project, "a", "x", language="klingon")


INSERTS = {
    "graph_nodes": "INSERT INTO graph_nodes (tenant_id, project_id, audience_id, key,"
    " node_type, record_id) VALUES (%(tenant)s, %(project)s, %(audience)s, 'k', 'message',"
    " %(record)s)",
    "graph_evidence": "INSERT INTO graph_evidence (tenant_id, project_id, record_id,"
    " node_id) VALUES (%(tenant)s, %(project)s, %(record)s, %(node)s)",
    "graph_aliases": "INSERT INTO graph_aliases (tenant_id, project_id, record_id, key,"
    " target, own) VALUES (%(tenant)s, %(project)s, %(record)s, 'a', 'b', true)",
    "graph_pending_edges": "INSERT INTO graph_pending_edges (tenant_id, project_id,"
    " record_id, source_key, relation, target_key, draft) VALUES (%(tenant)s,"
    " %(project)s, %(record)s, 'a', 'r', 'b', '{}')",
    "graph_identities": "INSERT INTO graph_identities (tenant_id, project_id, node_id,"
    " person_id, key, side, address, names, reasons, names_stale) VALUES (%(tenant)s,"
    " %(project)s, %(node)s, %(node)s, 'k', 'mail', '', '{}', '[]', true)",
}
REFERS_TO = {
    "graph_nodes": ("record", "audience"),
    "graph_evidence": ("record", "node"),
    "graph_aliases": ("record",),
    "graph_pending_edges": ("record",),
    "graph_identities": ("node",),
}


@pytest.mark.parametrize(
    ("table", "reference"), [(t, r) for t, refs in REFERS_TO.items() for r in refs]
)
@pytest.mark.parametrize(
    "is_foreign", [True, False], ids=["of another project", "missing"]
)
def test_no_row_refers_out_of_its_project(
    project, other_project, table, reference, is_foreign
):
    def scope(of):
        node = make_node(of, "n")
        return {
            "tenant": of.tenant_id,
            "project": of.pk,
            "record": make_record(of, "r").pk,
            "node": node.pk,
            "audience": make_audience(of).pk,
        }

    mine, theirs = scope(project), scope(other_project)
    execute(INSERTS[table], mine)
    strange = theirs[reference] if is_foreign else 2**40
    if table == "graph_identities":
        execute("DELETE FROM graph_identities", [])
    if table == "graph_nodes":
        execute("DELETE FROM graph_nodes WHERE key = 'k'", [])
    with (
        pytest.raises(IntegrityError, match="in_project"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(INSERTS[table], mine | {reference: strange})


def test_evidence_is_of_a_node_or_an_edge_and_of_a_record(project):
    node = make_node(project, "a")
    scope = {"tenant_id": project.tenant_id, "project": project}
    for fields in (
        {"record": node.record},
        {"node": node, "record": None},
        {"node": node, "record": node.record},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Evidence.objects.create(**scope, **fields)
    Evidence.objects.create(**scope, node=node, kind="implied")


def test_a_record_takes_its_evidence_with_it_and_leaves_nodes_to_their_other(project):
    node = make_node(project, "a", "words")
    execute("DELETE FROM graph_records WHERE id = %s", [node.record_id])
    node.refresh_from_db()
    assert node.record_id is None
    assert not Evidence.objects.exists()


def test_a_key_is_there_once_in_a_project_and_is_not_empty(project, other_project):
    make_node(project, "a")
    make_node(other_project, "a")
    for key in ("a", ""):
        with pytest.raises(IntegrityError), transaction.atomic():
            Node.objects.create(
                tenant_id=project.tenant_id,
                project=project,
                key=key,
                node_type="message",
                audience=make_audience(project),
            )
    assert Node.objects.filter(key="a").count() == 2


def test_a_row_without_an_audience_is_refused(project):
    for model in (Node, StoredRecord):
        column = model._meta.get_field("audience")
        assert not column.null
    with pytest.raises(IntegrityError, match="audience_id"), transaction.atomic():
        execute(
            "INSERT INTO graph_nodes (tenant_id, project_id, key, node_type)"
            " VALUES (%s, %s, 'k', 'message')",
            [project.tenant_id, project.pk],
        )


def test_a_vector_of_another_size_is_refused(project):
    node = make_node(project, "a", "x")
    with pytest.raises(DatabaseError, match="256 dimensions"), transaction.atomic():
        execute("UPDATE graph_nodes SET embedding = '[1,2]' WHERE id = %s", [node.pk])


def test_a_pruned_key_has_one_tombstone_of_a_project_that_exists(
    project, other_project
):
    fields = {"key": "a", "content_hash": "0" * 64}
    Tombstone.objects.create(tenant_id=project.tenant_id, project=project, **fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        Tombstone.objects.create(tenant_id=project.tenant_id, project=project, **fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        Tombstone.objects.create(
            tenant_id=other_project.tenant_id,
            project=project,
            key="b",
            content_hash="0",
        )


def test_the_two_kinds_of_search_have_an_index(project):
    make_node(project, "a", "pump")
    by_meaning = f"SELECT id FROM graph_nodes ORDER BY {nearness('%s')} LIMIT 5"  # noqa: S608
    by_words = (
        "SELECT id FROM graph_nodes"
        " WHERE search_vector @@ to_tsquery('english', 'pump')"
    )
    vector = str([1.0] * 256)
    assert "graph_nodes_embedding" in plan(by_meaning, [vector])
    assert "idx_nodes_search" in plan(by_words, [])


def plan(query, values):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN {query}", values)
        return "\n".join(row[0] for row in cursor.fetchall())


def test_identities_go_with_their_node(project):
    node, person = make_node(project, "a"), make_node(project, "identity:a")
    Identity.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        node=node,
        person=person,
        key="a",
        side="chat",
    )
    execute("DELETE FROM graph_nodes WHERE id = %s", [person.pk])
    assert not Identity.objects.exists()
    assert Node.objects.of(project).filter(key="a").exists()
