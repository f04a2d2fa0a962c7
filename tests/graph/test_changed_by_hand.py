"""What was written by hand is said otherwise or deleted; what others say is not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from connections.models import Audit, Role
from graph import changed_by_hand
from graph.by_hand import NodeByHand, write_node_by_hand
from graph.changed_by_hand import (
    NodeChange,
    change_node_by_hand,
    delete_node_by_hand,
)
from graph.edges_by_hand import EdgeByHand, write_edge_by_hand
from graph.edges_changed_by_hand import (
    EdgeChange,
    change_edge_by_hand,
    end_edge_by_hand,
)
from graph.hand import Author, NotByHand, NotThere, NotWritten, Outdated, WriteRefused
from graph.integrity import Gaps, find_gaps
from graph.models import (
    Edge,
    Evidence,
    Node,
    Record,
    ReviewItem,
    Tombstone,
    Trashed,
)
from graph.review.pruning import purge_due, restore
from graph.versions import ANY, version_of_edge, version_of_node
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
from tests.memory.making import make_observation

pytestmark = pytest.mark.django_db
NODES, EDGES = "/api/v1/graph/nodes/", "/api/v1/graph/edges/"


@pytest.fixture
def second(project):
    return Author(make_member(project, "second@acme.test", Role.EDITOR))


def write(project, by, title="Acme Loader", **fields):
    draft = NodeByHand(node_type="technology", title=title, **fields)
    return Node.objects.get(pk=write_node_by_hand(project, draft, by).id)


def draw(project, by, source="A", target="B", **fields):
    draft = EdgeByHand(source=source, relation="uses", target=target, **fields)
    return Edge.objects.get(pk=write_edge_by_hand(project, draft, by).id)


def change(project, node, by, version="", **fields):
    version = version or version_of_node(Node.objects.get(pk=node.pk))
    change_node_by_hand(project, node.pk, NodeChange(**fields), by, version=version)
    return Node.objects.get(pk=node.pk)


def test_a_change_is_there_proven_audited_and_found_by_its_words(project, by):
    node = write(project, by, content="Loads.", tags=["data"])
    now = change(project, node, by, content="It unloads.", metadata={"team": "A"})
    assert (now.key, now.title, now.content) == (
        "Acme Loader",
        "Acme Loader",
        "It unloads.",
    )
    assert (now.tags, now.metadata) == (["data"], {"team": "A"})
    assert "unload" in now.search_vector
    assert Evidence.objects.get(node=node).record.body == "Acme Loader\n\nIt unloads."
    row = Audit.objects.get(project=project, verb="node.changed")
    assert (row.actor, row.target) == (by.user, f"node:{node.pk}")
    assert row.detail.detail["fields"] == ["content", "metadata"]
    assert find_gaps(project) == Gaps((), ())


def test_words_in_another_language_are_found_by_its_stems(project, by):
    node = write(project, by, content="It loads.")
    german = (
        "Die Pumpen werden jeden Montag gewartet, weil sie sonst verstopfen und das "
        "Wasser in den Kellern stehen bleibt, bis jemand kommt und sie reinigt."
    )
    now = change(project, node, by, content=german)
    assert (node.language, now.language) == ("english", "german")
    assert "'pump'" in now.search_vector


def test_what_another_wrote_is_changed_and_stands_behind(project, by, second):
    node = write(project, by, content="Loads.", tags=["one"])
    now = change(project, node, second, title="Acme Unloader", tags=["two"])
    assert (now.title, now.content, now.tags) == ("Acme Unloader", "Loads.", ["two"])
    assert Evidence.objects.filter(node=node).count() == 2
    bodies = Record.objects.filter(project=project).values_list("body", flat=True)
    assert set(bodies) == {"Acme Loader\n\nLoads.", "Acme Unloader\n\nLoads."}


def test_of_two_changes_of_one_state_the_second_is_refused(project, by, second):
    node = write(project, by)
    seen = version_of_node(node)
    change(project, node, by, seen, content="First.")
    with pytest.raises(Outdated, match="changed since you read it"):
        change(project, node, second, seen, content="Second.")
    with pytest.raises(Outdated):
        delete_node_by_hand(project, node.pk, second, version=seen)
    assert change(project, node, second, ANY, content="Second.").content == "Second."


def test_a_name_that_another_has_and_an_empty_node_are_refused(project, by):
    node = write(project, by)
    write(project, by, "Other Thing")
    for fields, reason in (
        ({"title": "other-thing"}, "a technology of that name already"),
        ({"title": " "}, "a title or a content"),
        ({}, "Give what it is to say"),
    ):
        with pytest.raises(WriteRefused, match=reason):
            change(project, node, by, **fields)
    assert change(project, node, by, title="ACME loader").title == "ACME loader"


def test_a_change_that_is_not_there_afterwards_is_tried_again_and_then_an_error(
    project, by, monkeypatch
):
    node = write(project, by)
    tries = []
    monkeypatch.setattr(changed_by_hand, "describe", lambda *_: tries.append(1))
    with pytest.raises(NotWritten, match="does not say so"):
        change(project, node, by, content="New.")
    assert len(tries) == 2


def test_what_others_say_is_refused_with_where_it_is_changed(project, by, member):
    take_in(
        project,
        draft_account(),
        draft_channel(),
        draft_message("1.000001", "database-engineer uses pgvector."),
    )
    make_node(project, "memory:1", "Remembered.", node_type="fact", origin="memory")
    for key, reason in (
        ("slack:C1:1.000001", "comes of a source: change it there"),
        ("pgvector", "was read out of texts"),
        ("memory:1", "under memory/observations/"),
        ("identity:slack-user:U1", "accounts and addresses add up to"),
    ):
        node = Node.objects.get(project=project, key=key)
        with pytest.raises(NotByHand, match=reason):
            change(project, node, by, content="Mine.")
        with pytest.raises(NotByHand, match=reason):
            delete_node_by_hand(project, node.pk, by, version=ANY)
    edges = Edge.objects.filter(project=project, valid_to=None)
    assert edges.count() >= 3
    for edge in edges:
        with pytest.raises(NotByHand):
            end_edge_by_hand(project, edge.pk, by, version=ANY)
        with pytest.raises(NotByHand):
            change_edge_by_hand(
                project, edge.pk, EdgeChange(quote="x"), by, version=ANY
            )
    assert not edges.model.objects.filter(valid_to__isnull=False).exists()


def test_what_texts_name_too_is_changed_and_not_deleted(project, by):
    node = write(project, by, "pgvector")
    said = draft_message("1.000001", "database-engineer uses pgvector.")
    take_in(project, draft_account(), draft_channel(), said)
    assert change(project, node, by, content="Vectors.").content == "Vectors."
    with pytest.raises(NotByHand, match="spoken of by the source"):
        delete_node_by_hand(project, node.pk, by, version=ANY)
    assert Node.objects.get(pk=node.pk).trashed_at is None


def test_a_deleted_node_lies_in_the_trash_and_is_what_it_was_when_put_back(
    project, by, second
):
    node, other = write(project, by), write(project, second, "Other")
    edge = draw(project, by, node.key, other.key)
    Evidence.objects.filter(node=other).delete()
    before = Node.objects.values().get(pk=node.pk)
    delete_node_by_hand(project, node.pk, second, version=version_of_node(node))
    row = Trashed.objects.get(node=node)
    assert row.trashed_by == second.user
    assert row.purge_at - timezone.now() > timedelta(days=29)
    assert Tombstone.objects.filter(project=project, key=node.key).exists()
    assert not Edge.objects.visible_to(by.user).filter(pk=edge.pk).exists()
    # Nothing else was tied to the other one.
    queued = ReviewItem.objects.get(project=project, kind="orphan", state="open")
    assert queued.node_id == other.pk
    audit = Audit.objects.get(project=project, verb="node.pruned")
    assert (audit.actor, audit.detail.detail["key"]) == (second.user, node.key)
    with pytest.raises(NotThere):
        change(project, node, by, ANY, content="x")
    reviewer = make_member(project, "r@acme.test", Role.REVIEWER)
    assert restore(project, [node.pk], by=reviewer) == [node.pk]
    assert Node.objects.values().get(pk=node.pk) == before
    queued.refresh_from_db()
    assert queued.state == "withdrawn"


def test_when_the_trash_is_emptied_what_was_written_goes_too(project, by, second):
    node = write(project, by, content="Qoppaflare.")
    write(project, second, "Other")
    draw(project, by, node.key, "Other", quote="A zyxquorling.")
    delete_node_by_hand(project, node.pk, by, version=ANY)
    assert Record.objects.filter(project=project).count() == 3
    assert purge_due(timezone.now() + timedelta(days=31)) == 1
    bodies = Record.objects.filter(project=project).values_list("body", flat=True)
    assert list(bodies) == ["Other"]


def test_what_was_remembered_of_a_node_alone_keeps_it(project, by, member):
    node = write(project, by)
    told = make_observation(project, member, "It loads.", origin="turn").node
    Edge.objects.create(
        tenant_id=project.tenant_id, project=project, audience=told.audience,
        source=told, target=node, relation="supported_by", origin="memory",
    )  # fmt: skip
    with pytest.raises(WriteRefused, match="Something rests on 'Acme Loader' alone"):
        delete_node_by_hand(project, node.pk, by, version=ANY)


def test_an_edge_says_other_words_and_weighs_what_it_did(project, by, second):
    write(project, by, "A"), write(project, by, "B")
    edge = draw(project, by, quote="Because.")
    draw(project, second)
    edge.refresh_from_db()
    assert edge.weight == 2.0
    seen = version_of_edge(edge)
    told = EdgeChange(quote="For good reasons.")
    assert change_edge_by_hand(project, edge.pk, told, by, version=seen) == edge.pk
    edge.refresh_from_db()
    assert (edge.weight, edge.valid_to) == (1.0, None)
    assert edge.evidence.get().quote == "For good reasons."
    with pytest.raises(Outdated):
        end_edge_by_hand(project, edge.pk, second, version=seen)


def test_an_edge_with_another_end_is_another_and_the_former_ends(project, by):
    for name in "ABC":
        write(project, by, name)
    edge = draw(project, by, quote="Because.")
    moved = change_edge_by_hand(
        project, edge.pk, EdgeChange(target="C"), by, version=version_of_edge(edge)
    )
    now = Edge.objects.get(pk=moved)
    assert (now.source.key, now.target.key, now.valid_to) == ("A", "C", None)
    assert now.evidence.get().quote == "Because."
    edge.refresh_from_db()
    assert edge.valid_to is not None
    assert not edge.evidence.exists()
    row = Audit.objects.get(project=project, verb="edge.changed")
    assert row.detail.detail == {
        "fields": ["target"],
        "origin": "hand",
        "was": edge.pk,
    }
    with pytest.raises(WriteRefused, match="no node 'Nowhere'"):
        change_edge_by_hand(
            project, moved, EdgeChange(target="Nowhere"), by, version=ANY
        )
    now.refresh_from_db()
    assert (now.valid_to, now.evidence.count()) == (None, 1)


def test_an_ended_edge_can_be_written_again(project, by):
    for name in "AB":
        write(project, by, name)
    edge = draw(project, by)
    end_edge_by_hand(project, edge.pk, by, version=version_of_edge(edge))
    edge.refresh_from_db()
    assert edge.valid_to is not None
    assert Audit.objects.filter(project=project, verb="edge.ended").exists()
    with pytest.raises(NotThere):
        end_edge_by_hand(project, edge.pk, by, version=ANY)
    again = draw(project, by)
    assert (again.pk, again.valid_to, again.weight) == (edge.pk, None, 1.0)
    assert again.evidence.get().record.gone_at is None


def test_an_edge_that_a_source_says_too_is_not_changed(project, by):
    take_in(project, draft_account(), draft_channel(), draft_message("1.000001", "Hi"))
    edge = Edge.objects.get(project=project, relation="posted_in")
    hand = EdgeByHand(
        source=edge.source.key, relation="posted_in", target=edge.target.key
    )
    assert write_edge_by_hand(project, hand, by).id == edge.pk
    with pytest.raises(NotByHand, match="is what the source 'slack-export' says"):
        end_edge_by_hand(project, edge.pk, by, version=ANY)
    edge.refresh_from_db()
    assert edge.valid_to is None


def test_only_who_may_write_and_see_changes(
    project, other_project, by, member, stranger
):
    node = write(project, by)
    for user in (member, stranger):
        with pytest.raises(PermissionDenied, match="editor"):
            change(project, node, Author(user), ANY, content="x")
        with pytest.raises(PermissionDenied, match="editor"):
            delete_node_by_hand(project, node.pk, Author(user), version=ANY)
    closed = make_audience(project, "slack:P1", [member])
    Node.objects.filter(pk=node.pk).update(audience=closed)
    with pytest.raises(NotThere):
        change(project, node, by, ANY, content="x")
    theirs = Author(make_member(other_project, "t@strangers.test", Role.EDITOR))
    with pytest.raises(NotThere):
        change(other_project, node, theirs, ANY, content="x")
    assert Node.objects.get(pk=node.pk).content == ""


def test_the_api_changes_and_deletes_by_the_etag_that_was_read(
    project, by, editor, member, stranger
):
    node = write(project, by, content="Loads.")
    other = write(project, by, "Other")
    edge = draw(project, by, node.key, other.key)
    client = token_client(editor, project, ("read", "write"))
    for path, sent, name in (
        (f"{NODES}{node.pk}/", {"content": "Unloads."}, "content"),
        (f"{EDGES}{edge.pk}/", {"quote": "So it is."}, "id"),
    ):
        assert client.patch(path, sent, format="json").status_code == 428
        tag = client.get(path)["ETag"]
        weak = {"HTTP_IF_MATCH": f"W/{tag}"}
        answer = client.patch(path, sent, format="json", **weak)
        assert answer.status_code == 200, answer.json()
        assert answer.json()[name] in ("Unloads.", edge.pk)
        assert answer["ETag"] not in ("", tag)
        late = client.patch(path, sent, format="json", **weak)
        assert (late.status_code, late.json()["code"]) == (412, "outdated")
        bad = client.patch(path, {"key": "x"}, format="json", **weak)
        assert (bad.status_code, bad.json()["code"]) == (400, "invalid")
        reader = token_client(editor, project, ("read",))
        for method in ("patch", "delete"):
            asked = getattr(reader, method)(path, sent, format="json", **weak)
            assert asked.json()["code"] == "missing_scope"
            for user, status in ((member, 403), (stranger, 404)):
                asked = getattr(session_client(user), method)
                assert asked(path, sent, format="json", **weak).status_code == status
        current = {"HTTP_IF_MATCH": answer["ETag"]}
        if name == "id":
            assert client.delete(path, **current).status_code == 204
            assert client.delete(path, **current).status_code == 404
    assert Edge.objects.get(pk=edge.pk).valid_to is not None
    path = f"{NODES}{node.pk}/"
    current = {"HTTP_IF_MATCH": client.get(path)["ETag"]}
    assert client.delete(path, **current).status_code == 204
    assert client.get(path).status_code == 404
    assert Audit.objects.get(verb="node.pruned").token_id
    message = make_node(project, "slack:C1:1.0", "Hi")
    said = client.patch(
        f"{NODES}{message.pk}/", {"content": "x"}, format="json", HTTP_IF_MATCH="*"
    )
    assert (said.status_code, said.json()["code"]) == (409, "not_by_hand")
