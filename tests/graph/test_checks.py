"""Each check sees its own fault and no other, and what mends it does."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.db import connections
from django.utils import timezone

from connections.models import Audit, Role
from connections.records import AudienceDraft
from graph import tasks
from graph.by_hand import NodeByHand, write_node_by_hand
from graph.checking import check_graph
from graph.checks import checks
from graph.copying import execute, fetch
from graph.edges_by_hand import EdgeByHand, write_edge_by_hand
from graph.embed import embed_backlog
from graph.hand import Author
from graph.merging import merge_nodes
from graph.models import (
    Alias,
    Edge,
    EmbeddingModel,
    Evidence,
    GraphCheck,
    Identity,
    Node,
    Record,
    ReviewItem,
    Tombstone,
)
from graph.review import orphans_sql
from graph.review.scanning import scan
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_member,
    make_node,
    make_project,
    take_in,
)

pytestmark = pytest.mark.django_db
CLOSED = AudienceDraft("members", "slack:C2", ("member@acme.test",))
PEOPLES = {"orphans", "implied_ends"}
# Nothing mends these: a person has to look.
SHOWN = {"forbidden_ends", "lost_names", "implied_ends"}
THOROUGH = {"dangling_ends", "evidence_without_record", "search_vectors"}


@pytest.fixture
def company(project):
    """A project that has something of every sort that is checked."""
    return fill(project)


def fill(project):
    take_in(
        project,
        draft_account(),
        draft_account("U2", "Bob", "bob@acme.test"),
        draft_channel(),
        draft_channel("C2", CLOSED),
        draft_message("1.000001", "database-engineer uses pgvector for RAG."),
        draft_message("2.000001", "We decided to use PostgreSQL for RAG.", user="U2"),
        draft_message(
            "3.000001", "Redis is blocked by Docker.", channel="C2", audience=CLOSED
        ),
        draft_message("4.000001", "What of it?", thread_ts="1.000001"),
    )
    by = Author(make_member(project, "editor@acme.test", Role.EDITOR))
    for name in ("Acme Loader", "Acme Store"):
        write_node_by_hand(project, NodeByHand(node_type="technology", title=name), by)
    write_edge_by_hand(
        project,
        EdgeByHand(source="Acme Loader", relation="uses", target="Acme Store"),
        by,
    )
    embed_backlog(project.pk)
    return project


def found(project, **options):
    kept = check_graph(project, **options)
    return {
        name: each["count"] for name, each in kept.findings.items() if each["count"]
    }


def test_a_graph_as_it_is_written_has_no_faults(company, other_project):
    kept = check_graph(company)
    assert list(kept.findings) == list(checks)
    assert (kept.faults, found(company)) == (0, {})
    of = {name: each["of"] for name, each in kept.findings.items()}
    assert of["nodes_without_evidence"] >= 15
    assert of["weights"] >= 20
    assert of["evidence_without_record"] >= 40
    assert (of["persons"], of["records_without_nodes"]) == (3, 11)
    assert found(other_project) == {}


def edge(project, relation="mentions"):
    return Edge.objects.filter(
        project=project, relation=relation, valid_to=None
    ).first()


def name(project, key="pgvector"):
    return Node.objects.get(project=project, key=key)


def unproven_node(project):
    Node.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        key="stray",
        node_type="section",
        audience=make_audience(project),
        embedding_model=EmbeddingModel.objects.get(is_active=True),
    )


def unproven_edge(project):
    Evidence.objects.filter(edge=edge(project)).delete()


def too_heavy(project):
    Edge.objects.filter(pk=edge(project, "in_thread").pk).update(weight=7)


def too_wide(project):
    Edge.objects.filter(source__key="slack:C2:3.000001", relation="sent_by").update(
        audience=make_audience(project)
    )


def wrong_ends(project):
    Edge.objects.filter(pk=edge(project, "in_thread").pk).update(relation="attended")


def wrong_person(project):
    one, other = Identity.objects.filter(project=project).order_by("key")[:2]
    Identity.objects.filter(pk=one.pk).update(person_id=other.person_id)


def merged_alive(project):
    ids = name(project, "Acme Loader").pk, name(project, "pgvector").pk
    merge_nodes(project, ids[0], ids[1:], by=None)
    Node.objects.filter(pk=ids[1]).update(valid_to=None)
    Evidence.objects.filter(node=ids[0], kind="derived").update(node=ids[1])


def same_name(project):
    Node.objects.filter(project=project, key="Acme Store").update(title="pg-vector")
    Node.objects.filter(project=project, key="pgvector").update(title="PG Vector")


def pruned_alive(project):
    Tombstone.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        key="pgvector",
        content_hash="0" * 64,
    )


def lost_name(project):
    record = Record.objects.filter(project=project).first()
    Alias.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        record=record,
        key="thread:a",
        target="thread:nowhere",
    )


def broken_sequence(project):
    Edge.objects.filter(project=project, relation="follows").first().delete()


def without_nodes(project):
    record = Record.objects.filter(project=project, kind="message").first()
    Record.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        source=record.source,
        audience=record.audience,
        key="slack:C1:99.0",
        kind="message",
        content_hash="1" * 64,
    )


def old_vector(project):
    other = EmbeddingModel.objects.create(name="other", dimensions=256)
    Node.objects.filter(pk=name(project, "slack:C1:1.000001").pk).update(
        embedding_model=other
    )


def orphan(project):
    by = Author(make_member(project, "second@acme.test", Role.EDITOR))
    made = write_node_by_hand(project, NodeByHand(node_type="topic", title="Alone"), by)
    Record.objects.filter(evidence__node=made.id).update(gone_at=timezone.now())
    embed_backlog(project.pk)


def implied(project):
    by = Author(make_member(project, "second@acme.test", Role.EDITOR))
    draft = EdgeByHand(
        source="Acme Loader",
        relation="uses",
        target="Ghost",
        target_type="technology",
    )
    write_edge_by_hand(project, draft, by)
    embed_backlog(project.pk)


SEEDS = {
    "nodes_without_evidence": unproven_node,
    "edges_without_evidence": unproven_edge,
    "weights": too_heavy,
    "wide_edges": too_wide,
    "forbidden_ends": wrong_ends,
    "persons": wrong_person,
    "merged_alive": merged_alive,
    "duplicate_names": same_name,
    "pruned_alive": pruned_alive,
    "lost_names": lost_name,
    "broken_sequences": broken_sequence,
    "records_without_nodes": without_nodes,
    "embeddings": old_vector,
    "orphans": orphan,
    "implied_ends": implied,
}


@pytest.mark.parametrize("check", SEEDS)
def test_a_check_sees_exactly_its_own_fault_and_mends_it(company, check):
    SEEDS[check](company)
    assert found(company) == {check: 1}
    mended = check_graph(company, repair=True)
    finding = mended.findings[check]
    assert finding["found"] == 1
    if check in SHOWN or check in PEOPLES:
        assert finding["count"] == 1
    elif check == "records_without_nodes":
        assert Record.objects.get(key="slack:C1:99.0").content_hash == ""
    else:
        assert (finding["count"], finding["repaired"]) == (0, 1)
        assert Audit.objects.get(verb="graph.repaired", target=check)
        assert found(company) == {}
    assert mended.faults == (0 if finding["for_people"] else finding["count"])


def test_every_check_has_its_seeded_fault():
    assert set(SEEDS) | THOROUGH == set(checks)
    assert {name for name, check in checks.items() if check.for_people} == PEOPLES


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_what_the_database_forbids_is_still_counted_and_mended():
    project = fill(make_project())
    dangling, message = edge(project), name(project, "slack:C1:1.000001")
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT conname, conrelid::regclass::text,"
            " pg_get_constraintdef(oid) FROM pg_constraint WHERE conname IN"
            " ('graph_edges_target_id_in_project',"
            "  'graph_evidence_record_id_in_project')"
        )
        keys = cursor.fetchall()
        assert len(keys) == 2
        try:
            for key, table, _ in keys:
                cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {key}")
            cursor.execute("ALTER TABLE graph_nodes DISABLE TRIGGER USER")
            execute(
                "UPDATE graph_edges SET target_id = 10000000 WHERE id = %s",
                [dangling.pk],
            )
            lost = Evidence.objects.filter(node=message, kind="said").first()
            copy = (
                "INSERT INTO graph_evidence (tenant_id, project_id, record_id, node_id,"
                " part) VALUES (%s, %s, 10000000, %s, 'x')"
            )
            execute(copy, [project.tenant_id, project.pk, lost.node_id])
            execute(
                "UPDATE graph_nodes SET search_vector = NULL WHERE id = %s",
                [message.pk],
            )
            cursor.execute("ALTER TABLE graph_nodes ENABLE TRIGGER USER")
            assert found(project) == dict.fromkeys(THOROUGH, 1)
            assert check_graph(project, repair=True).faults == 0
            assert name(project, "slack:C1:1.000001").search_vector
        finally:
            execute("DELETE FROM graph_edges WHERE target_id = 10000000", [])
            execute("DELETE FROM graph_evidence WHERE record_id = 10000000", [])
            cursor.execute("ALTER TABLE graph_nodes ENABLE TRIGGER USER")
            for key, table, definition in keys:
                cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {key} {definition}")
    assert found(project) == {}


def test_an_orphan_is_queued_and_withdrawn_once_something_leads_to_it(company):
    orphan(company)
    check_graph(company, repair=True)
    item = ReviewItem.objects.get(project=company, kind="orphan")
    assert (item.state, item.node.key) == ("open", "topic:Alone")
    assert "Nothing leads to the topic “Alone” any more" in item.why
    take_in(company, draft_message("9.000001", "Nothing new."))
    assert ReviewItem.objects.get(kind="orphan").state == "open"
    Record.objects.filter(gone_at__isnull=False).update(gone_at=None)
    take_in(company, draft_message("10.000001", "Nothing either."))
    item.refresh_from_db()
    assert item.state == "withdrawn"


def test_the_command_reports_each_check_and_fails_while_faults_stay(company):
    out = StringIO()
    call_command("check_graph", project="acme/main", stdout=out)
    assert "faults 0" in out.getvalue()
    assert len(out.getvalue().splitlines()) == len(checks) + 1
    lost_name(company)
    out = StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("check_graph", project="acme/main", json=True, stdout=out)
    assert stopped.value.code == 1
    answer = json.loads(out.getvalue())
    assert (answer["faults"], answer["findings"]["lost_names"]["examples"]) == (
        1,
        ["thread:a is thread:nowhere"],
    )


def test_a_project_that_is_gone_is_no_error_and_the_last_checks_are_kept(
    company, monkeypatch
):
    tasks.check_one_graph(10**9)
    monkeypatch.setattr("graph.checking.KEPT", 2)
    for days in range(4):
        check_graph(
            company, now=timezone.now() + timedelta(days=days), only=["persons"]
        )
    assert GraphCheck.objects.filter(project=company).count() == 2
    tasks.check_one_graph(company.pk)
    assert GraphCheck.objects.latest().faults == 0


def test_a_small_run_looks_at_what_it_touched_and_not_at_every_claim(company):
    orphan(company)
    left = Node.objects.get(key="topic:Alone")
    others = [make_node(company, f"claim-{n}", node_type="decision") for n in range(40)]
    text = "We decided to use Elasticsearch for the archive."
    take_in(company, draft_message("20.000001", text))
    known = Node.objects.get(content__contains="Elasticsearch", origin="extraction")
    looked_at = []

    def fetching(statement, values):
        if statement == orphans_sql.ORPHANS:
            looked_at.append(values["nodes"])
        return fetch(statement, values)

    with patch("graph.review.find_orphans.fetch", fetching):
        take_in(company, draft_message("20.000001", "Nothing of the sort."))
    ((*nodes,),) = looked_at
    assert known.pk in nodes
    assert not {left.pk, *(each.pk for each in others)} & set(nodes)
    assert len(nodes) < len(others)
    # What no run touched is for the scan of the whole project.
    assert not ReviewItem.objects.filter(kind="orphan").exists()
    scan(company, now=timezone.now(), kinds=["orphan"])
    assert ReviewItem.objects.get(kind="orphan").node_id == left.pk
