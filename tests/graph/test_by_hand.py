"""What people, agents and the API write: it is there, once, proven and audited."""

from __future__ import annotations

import uuid

import pytest
from django.core.exceptions import PermissionDenied

from connections.models import Audit, Role, Source
from connections.records import AudienceDraft
from connections.registry import UnknownName
from graph import by_hand, written
from graph.by_hand import NodeByHand, write_node_by_hand
from graph.edges_by_hand import EdgeByHand, write_edge_by_hand
from graph.hand import Author, NotWritten, WriteRefused
from graph.integrity import Gaps, check_evidence, find_gaps
from graph.merging import resolved
from graph.models import Edge, Evidence, Node, Record, Tombstone
from tests.connections.api.callers import session_client, token_client
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_member,
    make_node,
    take_in,
)

pytestmark = pytest.mark.django_db
NODES, EDGES = "/api/v1/graph/nodes/", "/api/v1/graph/edges/"
CLOSED = AudienceDraft("members", "slack:C2", ("member@acme.test",))


def technology(title="Acme Loader", **fields):
    return NodeByHand(node_type="technology", title=title, **fields)


def test_a_node_is_there_with_what_was_written_who_wrote_it_and_its_evidence(
    project, by
):
    done = write_node_by_hand(
        project, technology(content="Loads.", tags=["data"], metadata={"team": "A"}), by
    )
    node = Node.objects.get(pk=done.id)
    assert (done.is_new, node.key, node.title) == (True, "Acme Loader", "Acme Loader")
    assert (node.content, node.tags, node.metadata) == (
        "Loads.",
        ["data"],
        {"team": "A"},
    )
    assert (node.origin, node.search_vector != "") == ("hand", True)
    proof = Evidence.objects.get(node=node)
    assert (proof.kind, proof.record.source.kind) == ("said", "hand")
    assert proof.record.body == "Acme Loader\n\nLoads."
    row = Audit.objects.get(project=project, verb="node.written")
    assert (row.actor, row.target) == (by.user, f"node:{node.pk}")
    assert find_gaps(project) == Gaps((), ())


@pytest.mark.parametrize(
    "spelt", ["acme loader", "Acme-Loader", "ACME_LOADER", "acme\u2010loader "]
)
def test_a_name_that_says_the_same_is_met_with_the_evidence_of_both(project, by, spelt):
    other = Author(make_member(project, "second@acme.test", Role.EDITOR))
    first = write_node_by_hand(project, technology(tags=["one"]), by)
    second = write_node_by_hand(project, technology(spelt, tags=["two"]), other)
    assert (second.id, second.is_new) == (first.id, False)
    assert Evidence.objects.filter(node=first.id).count() == 2
    node = Node.objects.get(pk=first.id)
    assert sorted(node.tags) == ["one", "two"]
    assert resolved(project, [spelt.strip()]) == {spelt.strip(): "Acme Loader"}
    again = write_node_by_hand(project, technology(spelt, tags=["three"]), other)
    assert again.id == first.id
    assert Evidence.objects.filter(node=first.id).count() == 2
    assert Record.objects.filter(project=project).count() == 2


def test_another_type_or_digits_are_another_thing(project, other_project, by):
    first = write_node_by_hand(project, technology("Loader 1"), by)
    second = write_node_by_hand(project, technology("Loader 2"), by)
    pattern = NodeByHand(node_type="pattern", title="Loader 1")
    third = write_node_by_hand(project, pattern, by)
    assert len({first.id, second.id, third.id}) == 3
    assert Node.objects.get(pk=third.id).key == "pattern:Loader 1"
    theirs = Author(make_member(other_project, "t@strangers.test", Role.EDITOR))
    fourth = write_node_by_hand(other_project, technology("Loader 1"), theirs)
    assert fourth.is_new


def test_what_is_not_there_after_writing_is_tried_again_and_then_an_error(
    project, by, monkeypatch
):
    tries = []

    def forgetful(project, draft, *, now):
        tries.append(draft.key)
        node = written.write_node(project, draft, now=now)
        if len(tries) < lose:
            Node.objects.filter(pk=node).delete()
        return node

    monkeypatch.setattr(by_hand, "write_node", forgetful)
    lose = 2
    assert write_node_by_hand(project, technology(), by).is_new
    tries.clear()
    lose = 9
    with pytest.raises(NotWritten, match="not there as it was written"):
        write_node_by_hand(project, technology("Other"), by)
    assert len(tries) == 2
    assert not Node.objects.filter(key="Other").exists()


def test_names_read_out_of_texts_and_written_by_hand_are_one(project, by):
    said = draft_message("1.000001", "database-engineer uses pgvector.")
    take_in(project, draft_account(), draft_channel(), said)
    done = write_node_by_hand(project, technology("PgVector", content="Vectors."), by)
    assert not done.is_new
    take_in(project, draft_message("2.000001", "We use pgvector a lot."))
    node = Node.objects.get(pk=done.id)
    assert (node.key, node.content) == ("pgvector", "Vectors.")
    kinds = Evidence.objects.filter(node=node).values_list("kind", flat=True)
    assert sorted(kinds) == ["derived", "derived", "said"]
    check_evidence(project)


def test_an_edge_makes_its_missing_ends_first_and_they_are_flagged(project, by):
    draft = EdgeByHand(
        source="Loader",
        relation="requires",
        target="Redis",
        source_type="technology",
        target_type="technology",
        quote="It will not start without.",
    )
    done = write_edge_by_hand(project, draft, by)
    edge = Edge.objects.get(pk=done.id)
    assert (done.is_new, done.implied) == (True, ("Loader", "Redis"))
    assert (edge.source.key, edge.target.key, edge.origin) == (
        "Loader",
        "Redis",
        "hand",
    )
    assert {n.is_implied for n in (edge.source, edge.target)} == {True}
    assert Evidence.objects.get(node=edge.source).kind == "implied"
    again = write_edge_by_hand(project, draft, by)
    assert (again.id, again.is_new, again.implied) == (edge.pk, False, ())
    edge.refresh_from_db()
    assert (edge.weight, edge.evidence.count()) == (1.0, 1)
    write_node_by_hand(project, technology("redis", content="A store."), by)
    met = Node.objects.get(pk=edge.target_id)
    assert (met.is_implied, met.content) == (False, "A store.")
    assert list(met.evidence.values_list("kind", flat=True)) == ["said"]


def test_a_second_hand_makes_an_edge_weigh_more(project, by):
    for name in ("A", "B"):
        write_node_by_hand(project, technology(name), by)
    draft = EdgeByHand(source="A", relation="uses", target="B")
    first = write_edge_by_hand(project, draft, by)
    other = Author(make_member(project, "second@acme.test", Role.EDITOR))
    assert write_edge_by_hand(project, draft, other).id == first.id
    edge = Edge.objects.get(pk=first.id)
    assert (edge.weight, edge.evidence.count()) == (2.0, 2)


def test_an_implied_end_is_its_sources_once_that_comes_and_no_wider(project, by):
    make_member(project, "member@acme.test")
    write_node_by_hand(project, NodeByHand(node_type="topic", title="Launch"), by)
    write_edge_by_hand(
        project,
        EdgeByHand(
            source="slack:C2:5.000001",
            relation="mentions",
            target="topic:Launch",
            source_type="message",
        ),
        by,
    )
    key = {"project": project, "key": "slack:C2:5.000001"}
    assert Node.objects.get(**key).is_implied
    secret = draft_message("5.000001", "Secret words.", channel="C2", audience=CLOSED)
    take_in(project, draft_account(), draft_channel("C2", CLOSED), secret)
    node = Node.objects.get(**key)
    assert (node.is_implied, node.origin, node.content) == (
        False,
        "source",
        "Secret words.",
    )
    assert node.audience.key == "slack:C2"
    assert not Node.objects.visible_to(by.user).filter(pk=node.pk).exists()
    assert not node.evidence.filter(kind="implied").exists()
    check_evidence(project)


def test_the_ends_must_be_what_the_relation_takes(project, by):
    write_node_by_hand(project, technology("A"), by)
    draft = {"source": "A", "relation": "uses"}
    for fields, reason in (
        ({"target": "B"}, "There is no node 'B': write it first, or give its type"),
        ({"target": "B", "target_type": "topic"}, "is a topic; the relation takes"),
        ({"target": "A"}, "Both ends are one node"),
    ):
        with pytest.raises(WriteRefused, match=reason):
            write_edge_by_hand(project, EdgeByHand(**draft, **fields), by)
    with pytest.raises(UnknownName, match="no relation 'likes'"):
        write_edge_by_hand(
            project, EdgeByHand(source="A", relation="likes", target="A"), by
        )
    person = {"source": "m", "relation": "sent_by", "source_type": "message"}
    with pytest.raises(WriteRefused, match="comes of a source"):
        write_edge_by_hand(
            project, EdgeByHand(**person, target="p", target_type="person"), by
        )
    assert not Edge.objects.exists()
    assert Node.objects.count() == 1


def test_what_a_source_says_or_may_not_be_seen_is_not_written_over(project, by, member):
    closed = make_audience(project, "slack:P1", [member])
    make_node(project, "hidden", node_type="topic", title="Hidden", audience=closed)
    make_node(
        project, "gone", node_type="topic", title="Gone", trashed_at=by.user.date_joined
    )
    for draft, reason in (
        (NodeByHand(node_type="file", title="a.md"), "what its source says"),
        (NodeByHand(node_type="topic", title=" "), "a title or a content"),
        (technology(key="file:secret.md#0"), "Keys that begin with 'file'"),
        (NodeByHand(node_type="topic", title="X", key="hidden"), "is taken"),
        (NodeByHand(node_type="topic", title="X", key="gone"), "was pruned"),
        (technology("X", key="gone"), "was pruned"),
    ):
        with pytest.raises(WriteRefused, match=reason):
            write_node_by_hand(project, draft, by)


def test_writing_what_was_pruned_for_good_is_a_newer_word(project, by):
    Tombstone.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        key="Acme Loader",
        content_hash="0" * 64,
    )
    write_node_by_hand(project, technology(), by)
    assert not Tombstone.objects.exists()


def test_only_an_editor_of_the_project_writes(project, other_project, member, stranger):
    edge = EdgeByHand(source="A", relation="uses", target="B")
    for user in (member, stranger):
        with pytest.raises(PermissionDenied, match="editor"):
            write_node_by_hand(project, technology(), Author(user))
        with pytest.raises(PermissionDenied, match="editor"):
            write_edge_by_hand(project, edge, Author(user))
    assert not Source.objects.exists()


def test_the_api_writes_for_an_editor_with_the_scope(project, editor, member, stranger):
    body = {"project": "acme/main", "type": "technology", "title": "Acme Loader"}
    client = token_client(editor, project, ("read", "write"))
    answer = client.post(NODES, body, format="json")
    assert (answer.status_code, answer.json()["outcome"]) == (201, "created")
    node = answer.json()["node"]
    assert (node["key"], node["origin"], node["is_implied"]) == (
        "Acme Loader",
        "api",
        False,
    )
    assert Audit.objects.get(verb="node.written").token_id
    same = client.post(NODES, {**body, "title": "acme_loader"}, format="json")
    assert (same.status_code, same.json()["node"]["id"]) == (200, node["id"])
    found = client.get(f"{EDGES}?project=acme/main&source=acme_loader")
    assert found.status_code == 200
    edge = {
        "project": "acme/main",
        "source": "acme_loader",
        "relation": "uses",
        "target": "Redis",
        "target_type": "technology",
    }
    answer = client.post(EDGES, edge, format="json")
    assert (answer.status_code, answer.json()["implied"]) == (201, ["Redis"])
    assert answer.json()["edge"]["source"]["key"] == "Acme Loader"
    assert client.get(f"{NODES}?key=Redis").json()["results"][0]["is_implied"] is True
    reader = token_client(editor, project, ("read",))
    assert reader.post(NODES, body, format="json").json()["code"] == "missing_scope"
    for path, sent in ((NODES, body), (EDGES, edge)):
        assert session_client(member).post(path, sent, format="json").status_code == 403
        assert (
            session_client(stranger).post(path, sent, format="json").status_code == 404
        )
    bad = client.post(NODES, {**body, "typ": "x"}, format="json")
    assert (bad.status_code, bad.json()["code"]) == (400, "invalid")


def test_an_agent_is_named_as_one(editor):
    assert Author(editor, uuid.uuid4(), agent=True).origin == "agent"
