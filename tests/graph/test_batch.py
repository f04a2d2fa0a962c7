from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db.models import F

from connections.models import SyncError
from connections.records import AudienceDraft, EdgeDraft, NodeDraft, Record
from graph.integrity import find_gaps
from graph.models import Edge, Evidence, Node, PendingEdge, Tombstone
from graph.models import Record as StoredRecord
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_project,
    make_source,
    take_in,
)
from tests.graph.snapshots import differences, snapshot

pytestmark = pytest.mark.django_db
PRIVATE = AudienceDraft("members", "slack:C1", ("member@acme.test",), "#C1")


def relations(project, moment=None):
    return {
        (e.source.key, e.relation, e.target.key)
        for e in Edge.objects.of(project)
        .live(moment)
        .select_related("source", "target")
    }


@pytest.fixture(autouse=True)
def _everything_has_evidence(project):
    """After each of these tests no current node or edge is without evidence."""
    yield
    gaps = find_gaps(project)
    assert (gaps.nodes, gaps.edges) == ((), ())


def test_a_message_is_drawn_to_its_author_and_its_channel(project):
    counts = take_in(project, draft_account(), draft_channel(), draft_message())
    assert (counts.seen, counts.created) == (1, 1)
    assert relations(project) == {
        ("slack:C1:1.000001", "sent_by", "identity:slack-user:U1"),
        ("slack:C1:1.000001", "posted_in", "slack:C1"),
    }
    assert Node.objects.of(project).get(key="slack:C1:1.000001").content == "Hello"


def test_the_same_message_again_is_unchanged(project):
    take_in(project, draft_message())
    counts = take_in(project, draft_message())
    assert (counts.seen, counts.created, counts.unchanged) == (1, 0, 1)
    assert StoredRecord.objects.filter(project=project).count() == 1


def test_a_message_twice_in_one_batch_is_stored_once_and_counted_twice(project):
    counts = take_in(project, draft_message(), draft_message())
    assert (counts.seen, counts.created, counts.unchanged) == (2, 1, 1)


def test_an_edited_message_replaces_words_and_the_place_of_its_quote(project):
    take_in(project, draft_message(text="Hello"))
    counts = take_in(project, draft_message(text="Good morning", version=1))
    assert counts.updated == 1
    node = Node.objects.of(project).get(node_type="message")
    said = node.evidence.get()
    assert (node.content, said.start, said.end) == ("Good morning", 0, 12)
    assert node.record.body == "Good morning"


def test_an_older_version_that_comes_late_changes_nothing(project):
    take_in(project, draft_message(text="second", version=2))
    before = snapshot(project)
    counts = take_in(project, draft_message(text="first", version=1))
    assert counts.unchanged == 1
    assert differences(before, snapshot(project)) == []


def test_an_edge_whose_end_has_not_arrived_waits_and_is_made_when_it_does(project):
    take_in(project, draft_message("2.000001", thread_ts="1.000001"))
    reply, parent = "slack:C1:2.000001", "slack:C1:1.000001"
    assert (reply, "replied_to", parent) not in relations(project)
    waiting = PendingEdge.objects.filter(project=project, relation="replied_to")
    assert waiting.get().target_key == parent
    take_in(project, draft_message("1.000001", thread_ts="1.000001"))
    assert (reply, "replied_to", parent) in relations(project)
    assert not waiting.exists()


def test_an_edge_no_longer_waited_for_is_not_made(project):
    take_in(project, draft_message("2.000001", thread_ts="1.000001"))
    take_in(project, draft_message("2.000001", version=1))
    take_in(project, draft_message("1.000001", thread_ts="1.000001"))
    assert not [r for r in relations(project) if r[1] == "replied_to"]


def test_what_is_no_longer_said_ends_and_comes_back_when_said_again(project):
    parent = draft_message("1.000001", thread_ts="1.000001")
    answer = draft_message("2.000001", thread_ts="1.000001")
    take_in(project, draft_account(), draft_channel(), parent, answer)
    before = snapshot(project)
    edge = ("slack:C1:2.000001", "replied_to", "slack:C1:1.000001")
    take_in(project, draft_message("2.000001", version=1))
    assert edge not in relations(project)
    ended = Edge.objects.of(project).get(relation="replied_to")
    assert ended.valid_to is not None
    assert not ended.evidence.exists()
    take_in(project, replace(answer, version=2))
    assert Edge.objects.of(project).get(relation="replied_to").pk == ended.pk
    assert differences(before, snapshot(project)) == []


def test_a_node_nobody_speaks_of_any_more_ends_and_another_record_revives_it(project):
    take_in(project, draft_message("2.000001", thread_ts="1.000001"))
    thread = Node.objects.of(project).get(node_type="thread")
    take_in(project, draft_message("2.000001", version=1))
    thread.refresh_from_db()
    assert thread.valid_to is not None
    take_in(project, draft_message("3.000001", "Now", thread_ts="1.000001"))
    thread.refresh_from_db()
    assert thread.valid_to is None
    assert thread.title == "Now"


def test_an_edge_weighs_what_its_evidence_weighs_together(project):
    first, second = (draft_message(f"{n}.000001", thread_ts="1.000001") for n in (1, 2))
    take_in(project, draft_account(), draft_channel(), first, second)
    edge = Edge.objects.of(project).get(relation="participant")
    assert (edge.weight, edge.evidence.count()) == (2.0, 2)
    take_in(project, draft_message("2.000001", version=1))
    edge.refresh_from_db()
    assert (edge.weight, edge.evidence.count()) == (1.0, 1)


def test_a_node_of_several_records_is_described_by_the_highest_then_the_next(project):
    replies = [
        draft_message(f"{n}.000001", f"Message {n}", thread_ts="1.000001")
        for n in (3, 1, 2)
    ]
    for reply in replies:
        take_in(project, reply)
    thread = Node.objects.of(project).get(node_type="thread")
    assert thread.title == "Message 1"
    assert thread.record.key == "slack:C1:1.000001"
    take_in(project, draft_message("1.000001", "Out of it", version=1))
    thread.refresh_from_db()
    assert (thread.title, thread.record.key) == ("Message 2", "slack:C1:2.000001")


def test_two_sources_that_give_one_message_share_its_node(project):
    other = make_source(project, "other-export")
    take_in(project, draft_message())
    take_in(project, draft_message(), source=other)
    node = Node.objects.of(project).get(node_type="message")
    assert node.evidence.count() == 2
    assert StoredRecord.objects.filter(project=project).count() == 2


def test_an_item_that_breaks_a_batch_is_isolated_and_recorded(project):
    fine = [
        replace(draft_message(f"{n}.000001"), audience=PRIVATE) for n in range(1, 8)
    ]
    bad = replace(draft_message("4.500000"), kind="x" * 50, audience=PRIVATE)
    source = make_source(project)
    counts = take_in(project, *fine[:4], bad, *fine[4:])
    assert (counts.seen, counts.created, counts.failed) == (8, 7, 1)
    error = SyncError.objects.get(run__source=source)
    assert error.item == "slack:C1:4.500000"
    assert "too long" in error.error
    assert Node.objects.of(project).filter(node_type="message").count() == 7


def test_a_failed_batch_leaves_no_trace_of_an_audience_it_would_have_made(project):
    bad = replace(draft_message(), kind="x" * 50, audience=PRIVATE)
    take_in(project, bad, replace(draft_message("2.000001"), audience=PRIVATE))
    node = Node.objects.of(project).get(node_type="message")
    assert (node.audience.kind, node.audience.key) == ("members", "slack:C1")
    assert [m.member for m in node.audience.members.all()] == ["member@acme.test"]


@pytest.mark.parametrize(
    "broken",
    [
        replace(draft_message(), raw_sha256="f" * 65),
        replace(draft_message(), version=2**64),
        replace(
            draft_message(),
            edges=(
                EdgeDraft(
                    source="slack:C1:1.000001",
                    relation="sent_by",
                    target="slack:C1:1.000001",
                    weight=-1,
                ),
            ),
        ),
        replace(
            draft_message(),
            edges=(
                EdgeDraft(
                    source="slack:C1:1.000001",
                    relation="posted_in",
                    target="slack:C1:1.000001",
                    position=Decimal("1e30"),
                ),
            ),
        ),
        replace(draft_message(), nodes=(NodeDraft(key="", node_type="message"),)),
    ],
    ids=["hash", "version", "weight", "position", "key"],
)
def test_no_kind_of_broken_item_stops_a_run(project, broken):
    counts = take_in(project, broken, draft_message("2.000001"))
    assert (counts.created, counts.failed) == (1, 1)


def test_text_that_postgresql_refuses_is_stored_all_the_same(project):
    odd = "a\x00b\ud800c"
    record = Record(
        key=f"odd:{odd}",
        kind="message",
        body=odd,
        permalink=odd,
        nodes=(
            NodeDraft(
                key=f"odd:{odd}",
                node_type="message",
                title=odd,
                content=odd,
                context=odd,
                tags=(odd,),
                metadata={odd: [odd, float("inf")]},
            ),
        ),
    )
    assert take_in(project, record).failed == 0
    assert Node.objects.of(project).get().content == "a\ufffdb\ufffdc"


def test_an_account_whose_name_postgresql_refuses_is_taken_in(project):
    assert take_in(project, draft_account(name="A\x00n\nLee")).failed == 0
    assert Node.objects.of(project).filter(key="slack-user:U1").exists()


def test_a_long_text_is_cut_into_parts_and_the_record_keeps_the_whole(project):
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 200 for n in range(12))
    take_in(project, draft_message(text=text))
    key = "slack:C1:1.000001"
    pieces = Node.objects.of(project).filter(node_type="message").order_by("key")
    assert [p.key for p in pieces] == [key, f"{key}#1", f"{key}#2"]
    assert "".join(p.content for p in pieces) == text
    assert (f"{key}#1", "part_of", key) in relations(project)
    assert StoredRecord.objects.get(project=project).body == text


def test_a_pruned_thing_does_not_come_back_unless_its_content_changed(project):
    record = draft_message()
    Tombstone.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        key=record.key,
        content_hash=record.content_hash,
    )
    assert take_in(project, record).unchanged == 1
    assert not Node.objects.of(project).filter(key=record.key).exists()
    assert take_in(project, draft_message(text="Changed", version=1)).created == 1
    assert Node.objects.of(project).get(key=record.key).content == "Changed"


# --- follows -------------------------------------------------------------------------


def follows(project):
    return {
        (e.source.key.rpartition(":")[2], e.target.key.rpartition(":")[2])
        for e in Edge.objects.of(project)
        .filter(relation="follows")
        .select_related("source", "target")
    }


def test_follows_is_drawn_anew_when_an_item_arrives_late(project):
    take_in(project, draft_channel())
    for ts in ("1.000001", "3.000001"):
        take_in(project, draft_message(ts))
    assert follows(project) == {("3.000001", "1.000001")}
    take_in(project, draft_message("2.000001"))
    assert follows(project) == {("2.000001", "1.000001"), ("3.000001", "2.000001")}


def test_items_at_one_place_follow_each_other_by_key(project):
    def at_one(name):
        return Record(
            key=f"email:{name}",
            kind="email",
            body="",
            nodes=(
                NodeDraft(key=f"email:{name}", node_type="email", content=name),
                NodeDraft(key="email-thread:t", node_type="thread"),
            ),
            edges=(
                EdgeDraft(
                    source=f"email:{name}",
                    relation="in_thread",
                    target="email-thread:t",
                    position=Decimal(5),
                ),
            ),
        )

    for name in ("c", "a", "b"):
        take_in(project, at_one(name))
    assert follows(project) == {("b", "a"), ("c", "b")}


def test_what_leaves_a_sequence_closes_the_gap(project):
    messages = [draft_message(f"{n}.000001", thread_ts="1.000001") for n in (1, 2, 3)]
    take_in(project, draft_channel(), *messages)
    in_thread = {("2.000001", "1.000001"), ("3.000001", "2.000001")}
    assert in_thread <= follows(project)
    take_in(project, draft_message("2.000001", channel="C1", version=1))
    threads = Edge.objects.of(project).filter(
        relation="follows", scope__node_type="thread"
    )
    assert [(e.source.key, e.target.key) for e in threads] == [
        ("slack:C1:3.000001", "slack:C1:1.000001")
    ]


def test_two_projects_take_in_the_same_thing_apart(project):
    other = make_project("acme/other")
    take_in(project, draft_channel(), draft_message())
    take_in(other, draft_channel(), draft_message())
    for one in (project, other):
        assert Node.objects.of(one).filter(key="slack:C1:1.000001").count() == 1
    assert not Evidence.objects.exclude(record__project_id=F("project_id")).exists()
