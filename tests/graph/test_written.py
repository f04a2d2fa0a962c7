"""Nodes and edges that somebody writes, rather than a source."""

from __future__ import annotations

import pytest
from django.utils import timezone

from connections.registry import UnknownName
from graph.audiences import Audiences
from graph.embed import active_embedder
from graph.integrity import Gaps, find_gaps
from graph.models import Edge, Evidence, Node
from graph.written import (
    WrittenEdge,
    WrittenNode,
    give_vectors,
    implied_node,
    rewrite_node,
    supporting_nodes,
    write_edge,
    write_node,
    write_proof,
)
from tests.factories import NOON, make_node

pytestmark = pytest.mark.django_db


def draft(project, key="memory:{id}", **fields):
    fields = {
        "node_type": "decision",
        "origin": "memory",
        "content": "We use PostgreSQL.",
        **fields,
    }
    return WrittenNode(key=key, audience_id=Audiences(project).public, **fields)


def test_a_node_has_its_id_in_its_key_its_words_and_its_vector(project):
    node = Node.objects.get(pk=write_node(project, draft(project), now=NOON))
    assert node.key == f"memory:{node.pk}"
    assert node.search_vector
    assert node.embedding is not None
    assert node.embedding_model == active_embedder()[1]


def test_a_key_that_is_there_is_met_not_made_again(project, other_project):
    first = write_node(project, draft(project, "agent:tester"), now=NOON)
    second = write_node(
        project, draft(project, "agent:tester", content="Other."), now=NOON
    )
    theirs = write_node(other_project, draft(other_project, "agent:tester"), now=NOON)
    assert first == second != theirs
    assert Node.objects.get(pk=first).content == "We use PostgreSQL."


def test_an_embedder_over_the_network_is_not_asked_in_a_transaction(
    project, monkeypatch
):
    embedder, _ = active_embedder()
    monkeypatch.setattr(type(embedder), "is_local", False)
    node = write_node(project, draft(project), now=NOON)
    assert Node.objects.get(pk=node).embedding_model_id is None
    monkeypatch.undo()
    give_vectors([node])
    assert Node.objects.get(pk=node).embedding is not None


def test_a_type_or_relation_that_nobody_registered_is_refused(project):
    with pytest.raises(UnknownName, match="no node type 'wish'"):
        write_node(project, draft(project, node_type="wish"), now=NOON)
    one, other = make_node(project, "a"), make_node(project, "b")
    with pytest.raises(UnknownName, match="no relation 'likes'"):
        write_edge(project, edge(one, other, relation="likes"), now=NOON)


def edge(one, other, **fields):
    fields = {"relation": "mentions", "origin": "hand", **fields}
    return WrittenEdge(
        source_id=one.pk, target_id=other.pk, audience_id=one.audience_id, **fields
    )


def test_an_edge_is_made_once_and_lives_again(project):
    one, other = make_node(project, "a"), make_node(project, "b")
    first = write_edge(project, edge(one, other), now=NOON)
    Edge.objects.filter(pk=first).update(valid_to=timezone.now())
    second = write_edge(project, edge(one, other, weight=0.4), now=NOON)
    kept = Edge.objects.get(pk=second)
    assert (first, kept.weight, kept.valid_to) == (second, 0.4, None)


def test_a_proof_is_written_once_with_its_place_in_the_record(project):
    message = make_node(project, "slack:C1:1.0", "Ann: We use PostgreSQL.")
    node = write_node(project, draft(project), now=NOON)
    support = supporting_nodes(project, [message.pk])[message.pk]
    for _ in range(2):
        write_proof(project, support, "We use PostgreSQL.", part="p", node_id=node)
    proof = Evidence.objects.get(node_id=node)
    assert (proof.start, proof.end, proof.record_id) == (5, 23, message.record_id)


def test_what_can_be_cited_is_of_the_project(project, other_project):
    mine, theirs = make_node(project, "a", "Words."), make_node(other_project, "a")
    assert supporting_nodes(project, []) == {}
    found = supporting_nodes(project, [mine.pk, theirs.pk, 10**12])
    assert {key: (s.key, s.says("Words.")) for key, s in found.items()} == {
        mine.pk: ("a", True)
    }


def test_a_missing_end_is_implied_until_a_source_names_it(project):
    node = implied_node(
        project, draft(project, "FastAPI", origin="hand", content=""), now=NOON
    )
    assert Evidence.objects.get(node_id=node).kind == Evidence.Kind.IMPLIED
    assert find_gaps(project) == Gaps((), ())
    named = make_node(project, "named")
    assert implied_node(project, draft(project, "named"), now=NOON) == named.pk
    assert Evidence.objects.filter(node=named).count() == 1


def test_other_words_have_another_vector_and_language(project):
    node = Node.objects.get(pk=write_node(project, draft(project), now=NOON))
    before = list(node.embedding)
    german = "Wir haben uns gestern nach langer Diskussion entschieden, dass die "
    german += "Datenbank im kommenden Jahr auf einem neuen Server laufen soll."
    rewrite_node(node, content=german, context="")
    node.refresh_from_db()
    assert (node.language, list(node.embedding) != before) == ("german", True)
