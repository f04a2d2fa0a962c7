"""Nodes made one and taken apart again: nothing is lost, in any order."""

from __future__ import annotations

import json

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from connections.models import Audit, SyncRun
from connections.records import EdgeDraft, NodeDraft, Record
from graph.copying import fetch
from graph.extraction import extract_texts
from graph.ingest import read_records
from graph.integrity import find_gaps
from graph.merging import (
    MergeRefused,
    Repointer,
    merge_nodes,
    repointers,
    resolved,
    unmerge,
)
from graph.models import Edge, Evidence, Merge, Node, PendingEdge
from graph.same_names import merge_same_names
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_audience,
    make_edge,
    make_member,
    make_node,
    make_project,
    make_source,
    take_in,
)
from tests.graph.snapshots import differences, snapshot

pytestmark = pytest.mark.django_db


class Undone(Exception):
    """Takes back what an example wrote."""


def note(number: int, *topics: str, joined: bool = False, **metadata: object) -> Record:
    """Draft a note about topics, the first of which is about the second."""
    key = f"note:{number}"
    nodes = [NodeDraft(key=key, node_type="message", content=f"Note {number}.")]
    edges = []
    for topic in topics:
        nodes.append(
            NodeDraft(
                key=f"topic:{topic}",
                node_type="topic",
                title=topic,
                tags=(f"t{number}",),
                metadata={"by": number, **metadata},
            )
        )
        edges.append(
            EdgeDraft(source=key, relation="mentions", target=f"topic:{topic}")
        )
    if joined:
        edges.append(
            EdgeDraft(
                source=f"topic:{topics[0]}",
                relation="used_for",
                target=f"topic:{topics[1]}",
            )
        )
    return Record(
        key=key,
        kind="message",
        body=f"Note {number}.",
        nodes=tuple(nodes),
        edges=tuple(edges),
    )


NOTES = (
    note(1, "roll out"),
    note(2, "launch"),
    note(3, "roll out", "launch", joined=True),
    note(4, "launch", "costs", joined=True),
    note(5, "roll out", "costs", joined=True, owner="Ann"),
    note(6, "launch", "roll out", joined=True),
)
KEEP, GONE = "topic:launch", "topic:roll out"


def read(project, *records):
    source = make_source(project, "notes", "folder")
    counts = read_records(source, SyncRun.objects.create(source=source), records)
    assert counts.failed == 0, list(source.runs.first().errors.all())


def node(project, key):
    return Node.objects.get(project=project, key=key)


def merge(project, keep=KEEP, gone=GONE, by=None):
    ids = node(project, keep).pk, node(project, gone).pk
    return merge_nodes(project, ids[0], ids[1:], by=by, reason="One thing.")


def whole(project):
    taken = snapshot(project)
    assert find_gaps(project).nodes == find_gaps(project).edges == ()
    return taken


def build(first, rest, *, changed=()):
    """Read `first`, merge, read `rest`; return the graph, and leave nothing."""
    taken = {}
    with pytest.raises(Undone), transaction.atomic():  # noqa: PT012 - all undone
        project = make_project("merged/main")
        read(project, *first)
        merge(project)
        for record in (*rest, *changed):
            read(project, record)
        taken = whole(project)
        raise Undone
    return taken


@settings(
    phases=(Phase.generate,),
    max_examples=10,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(order=st.permutations(NOTES), cut=st.integers(2, len(NOTES)))
def test_any_order_of_merging_and_reading_gives_the_same_graph(db, order, cut):
    topics = {n.key for r in order[:cut] for n in r.nodes}
    first = [*order[:cut], *([] if {KEEP, GONE} <= topics else order[cut:])]
    rest = [record for record in order if record not in first]
    expected = build(NOTES, ())
    assert len(expected["edges"]) >= 8
    assert differences(expected, build(first, rest)) == []


def test_a_record_read_again_after_the_merge_says_it_of_the_kept_node(db):
    other = note(1, "launch")
    expected = build([other, *NOTES[1:]], ())
    assert differences(expected, build(NOTES, (), changed=[other])) == []


def test_edges_evidence_tags_and_metadata_are_united(project):
    read(project, *NOTES)
    kept = node(project, KEEP)
    merge(project)
    found = node(project, KEEP)
    assert found.tags == ["t1", "t2", "t3", "t4", "t5", "t6"]
    assert found.metadata == {"by": 2, "owner": "Ann"}
    live = Edge.objects.filter(project=project, valid_to=None)
    assert {(e.source.key, e.relation, e.weight) for e in live.filter(target=kept)} == {
        (f"note:{n}", "mentions", 2.0 if n in (3, 6) else 1.0) for n in (1, 2, 3, 6)
    } | {
        ("note:4", "mentions", 1.0),
        ("note:5", "mentions", 1.0),
    }
    costs = live.get(source=kept, relation="used_for")
    assert (costs.weight, costs.evidence.count()) == (2.0, 2)
    waiting = PendingEdge.objects.filter(project=project)
    assert {(p.source_key, p.target_key) for p in waiting} == {
        (GONE, KEEP),
        (KEEP, GONE),
    }
    assert node(project, GONE).valid_to is not None
    assert resolved(project, [GONE, KEEP]) == {GONE: KEEP}


def test_taken_back_all_is_as_it_was(project, user):
    read(project, *NOTES)
    before = whole(project)
    merged = merge(project)
    assert differences(before, snapshot(project)) != []
    unmerge(project, _through_json(merged.before), user)
    assert differences(before, whole(project)) == []
    assert resolved(project, [GONE]) == {}
    with pytest.raises(MergeRefused, match="taken back already"):
        unmerge(project, merged.before, user)
    verbs = Audit.objects.filter(project=project, verb__startswith="nodes.")
    assert list(verbs.order_by("pk").values_list("verb", "target")) == [
        ("nodes.merged", f"node:{merged.keep}"),
        ("nodes.unmerged", f"node:{merged.keep}"),
    ]


def test_what_came_after_the_merge_goes_to_whom_it_named(project, user):
    read(project, *NOTES)
    expected = whole(project)
    read(make_project("other/main"), *NOTES)
    again = make_project("again/main")
    read(again, *NOTES[:3])
    merged = merge(again)
    read(again, *NOTES[3:])
    unmerge(again, _through_json(merged.before), user)
    assert differences(expected, whole(again)) == []


def _through_json(before):
    """Return it as a decision keeps it."""
    return json.loads(fetch("SELECT %s::jsonb::text", [Jsonb(dict(before))])[0][0])


SAID = "database-engineer uses pgvector for RAG applications."
OTHER = "security-auditor recommends Redis for RAG applications."


def chat(project, *messages):
    return take_in(project, draft_account(), draft_channel(), *messages)


def test_names_read_out_of_texts_stay_merged_whenever_they_are_read(db):
    texts = [draft_message("1.000001", SAID), draft_message("2.000001", OTHER)]
    more = draft_message("3.000001", "Redis and pgvector. pgvector requires Redis.")
    graphs = []
    for first, rest in (([*texts, more], []), (texts, [more])):
        with pytest.raises(Undone), transaction.atomic():  # noqa: PT012 - all undone
            project = make_project("merged/main")
            chat(project, *first)
            merge(project, "pgvector", "Redis")
            if rest:
                chat(project, *rest)
            extract_texts(project)
            graphs.append(whole(project))
            raise Undone
    assert differences(*graphs) == []
    assert "Redis" not in graphs[0]["nodes"]
    used = {edge[:3] for edge in graphs[0]["edges"]}
    assert ("security-auditor", "recommends", "pgvector") in used
    assert ("pgvector", "requires", "pgvector") not in used


def test_names_taken_apart_are_read_out_of_their_texts_again(project, user):
    chat(project, draft_message("1.000001", SAID), draft_message("2.000001", OTHER))
    merged = merge(project, "pgvector", "Redis")
    late = draft_message("3.000001", "Redis was slow, and pgvector was not.")
    chat(project, late)
    unmerge(project, _through_json(merged.before), user)
    extract_texts(project)
    other = make_project("apart/main")
    chat(other, draft_message("1.000001", SAID), draft_message("2.000001", OTHER), late)
    assert differences(whole(other), whole(project)) == []


def test_names_spelt_alike_are_one_unless_people_took_them_apart(project, user):
    names = ("Acme-Loader", "acme loader", "acme_loader", "Acme Loader 2")
    nodes = [
        make_node(
            project, name, node_type="technology", title=name, origin="extraction"
        )
        for name in names
    ]
    wide = make_node(
        project, "wide", node_type="technology", title="\uff21\uff23\uff2d\uff25 loader"
    )
    make_node(project, "other", node_type="pattern", title="acme loader")
    assert merge_same_names(project) == 3
    assert set(resolved(project, names).values()) == {wide.key}
    assert merge_same_names(project) == 0
    last = Merge.objects.get(project=project, key="acme loader")
    assert (last.merged_by, last.reason) == (None, "Their names are equal.")
    Merge.objects.filter(pk=last.pk).update(undone_at=last.merged_at)
    Node.objects.filter(pk=nodes[1].pk).update(valid_to=None)
    assert merge_same_names(project) == 0


def test_two_projects_never_meet(project, other_project):
    for one in (project, other_project):
        for name in ("a-b", "a b"):
            make_node(one, name, node_type="topic", title=name)
    ours, theirs = node(project, "a b"), node(other_project, "a-b")
    with pytest.raises(MergeRefused, match="no node"):
        merge_nodes(project, ours.pk, [theirs.pk], by=None)
    assert merge_same_names(project) == 1
    assert Node.objects.filter(project=other_project, valid_to=None).count() == 2


def test_what_cannot_be_one_thing_is_refused_with_the_reason(project):
    topic = make_node(project, "topic:a", node_type="topic", title="A")
    for fields, reason in (
        ({"node_type": "message"}, "what its source said"),
        ({"node_type": "person"}, "merge persons"),
        ({"node_type": "fact", "origin": "memory"}, "correct it in memory"),
        ({"node_type": "technology"}, "only nodes of one type"),
    ):
        other = make_node(project, str(fields), **fields)
        with pytest.raises(MergeRefused, match=reason):
            merge_nodes(project, topic.pk, [other.pk], by=None)
    with pytest.raises(MergeRefused, match="one or more others"):
        merge_nodes(project, topic.pk, [topic.pk], by=None)
    assert not Merge.objects.exists()


def test_who_sees_either_sees_the_kept_node_and_no_more_of_the_edges(project):
    member = make_member(project)
    stranger = make_member(project, "eve@acme.test")
    closed = make_audience(project, "slack:P1", [member])
    kept = make_node(project, "topic:a", node_type="topic", title="A")
    gone = make_node(project, "topic:b", node_type="topic", title="B", audience=closed)
    secret = make_node(project, "slack:P1:1.0", "Closed.", audience=closed)
    make_edge(secret, gone)
    merge_nodes(project, kept.pk, [gone.pk], by=member)
    for who, edges in ((member, 1), (stranger, 0)):
        assert Node.objects.visible_to(who).filter(pk=kept.pk).exists()
        assert Edge.objects.visible_to(who).filter(target=kept).count() == edges
        assert Node.objects.visible_to(who).filter(pk=secret.pk).exists() == bool(edges)


def test_others_that_hold_nodes_by_id_move_with_them(project, user, monkeypatch):
    moved, back = [], []
    monkeypatch.setitem(
        repointers,
        "test",
        Repointer(
            lambda p, into: moved.append(dict(into)) or {"was": 1},
            lambda p, held: back.append(held),
        ),
    )
    one = make_node(project, "topic:a", node_type="topic")
    two = make_node(project, "topic:b", node_type="topic")
    merged = merge_nodes(project, one.pk, [two.pk], by=user)
    unmerge(project, merged.before, user)
    assert (moved, back) == ([{two.pk: one.pk}], [{"was": 1}])
    assert Evidence.objects.filter(node=two).exists()
