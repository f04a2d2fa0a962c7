"""What texts say, in the graph: once, with evidence, for those who may see it."""

from __future__ import annotations

import pytest

from connections.models import Audience
from connections.records import AudienceDraft
from graph.extraction import extract_texts
from graph.integrity import find_gaps
from graph.models import Edge, Evidence, ExtractedText, Node
from graph.models import Record as StoredRecord
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_node,
    make_source,
    take_in,
)
from tests.graph.snapshots import GRAPH_TABLES, differences, snapshot, writes

SAID = "database-engineer uses pgvector for RAG applications."
DECIDED = "We decided to use PostgreSQL for event sourcing."
CLOSED = AudienceDraft("members", "slack:C2", ("member@acme.test",))

pytestmark = pytest.mark.django_db


def read(project, *messages):
    return take_in(project, draft_account(), draft_channel(), *messages)


def named(project):
    nodes = Node.objects.of(project).filter(origin="extraction", valid_to=None)
    return {(n.key, n.node_type) for n in nodes}


def said(project):
    edges = Edge.objects.of(project).filter(origin="extraction", valid_to=None)
    return {
        (e.source.key, e.relation, e.target.key)
        for e in edges.select_related("source", "target")
    }


def claim(project):
    return Node.objects.of(project).get(node_type="decision", valid_to=None)


def test_a_message_gives_names_relations_and_the_sentence_that_says_so(project):
    read(project, draft_message("1.000001", f"Hello.\n{SAID}\nBye."))
    assert named(project) == {
        ("database-engineer", "agent"),
        ("pgvector", "technology"),
        ("RAG", "pattern"),
    }
    message = "slack:C1:1.000001"
    assert said(project) == {
        (message, "mentions", "database-engineer"),
        (message, "mentions", "pgvector"),
        (message, "mentions", "RAG"),
        ("database-engineer", "uses", "pgvector"),
        ("pgvector", "used_for", "RAG"),
    }
    proof = Evidence.objects.get(edge__relation="used_for")
    assert (proof.kind, proof.quote, proof.record.key) == ("derived", SAID, message)
    assert proof.record.body[proof.start : proof.end] == SAID
    assert find_gaps(project).nodes == find_gaps(project).edges == ()


def test_a_decision_is_a_node_that_concerns_what_it_names(project):
    first = draft_message("100.000001", DECIDED)
    read(project, first, draft_message("50.000001", f"{DECIDED}"))
    node = claim(project)
    assert node.key.startswith("decision:")
    assert len(node.key) == len("decision:") + 32
    assert node.content == DECIDED
    assert node.occurred_at.timestamp() == pytest.approx(50.000001)
    assert node.last_evidence_at.timestamp() == pytest.approx(100.000001)
    assert {t[1:] for t in said(project) if t[0] == node.key} == {
        ("concerns", "PostgreSQL"),
        ("concerns", "event-sourcing"),
    }
    assert Edge.objects.filter(target=node, relation="mentions").count() == 2


def test_spellings_of_one_claim_are_one_node_whoever_says_them(
    project, member, outsider
):
    """Quoted, in capitals, in a closed channel: met together and one after another."""
    louder = f"{DECIDED.upper()}"
    quoted = f"«{DECIDED[:-1]}!»"
    read(
        project,
        draft_message("1.000001", DECIDED),
        draft_message("2.000001", louder, channel="C2", audience=CLOSED),
        draft_message("3.000001", quoted),
    )
    node = claim(project)
    proofs = Evidence.objects.filter(node=node)
    assert {proof.record.key for proof in proofs} == {
        "slack:C1:1.000001",
        "slack:C2:2.000001",
        "slack:C1:3.000001",
    }
    assert Node.objects.visible_to(outsider).filter(pk=node.pk).exists()
    read(
        project,
        draft_message("4.000001", f"- {DECIDED}"),
        draft_message("5.000001", f"* {louder}"),
    )
    assert claim(project).pk == node.pk
    assert Evidence.objects.filter(node=node).count() == 5
    assert claim(project).last_evidence_at.timestamp() == pytest.approx(5.000001)


def test_reading_again_writes_nothing(project):
    read(project, draft_message("1.000001", SAID), draft_message("2.000001", DECIDED))
    tables = (Node, Edge, Evidence, ExtractedText)
    before = [list(t.objects.order_by("pk").values()) for t in tables]
    assert extract_texts(project) == 0
    read(project, draft_message("1.000001", SAID), draft_message("2.000001", DECIDED))
    assert [list(t.objects.order_by("pk").values()) for t in tables] == before


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_a_second_step_touches_no_row_of_the_graph(project):
    read(project, draft_message("1.000001", SAID), draft_message("2.000001", DECIDED))
    assert "graph_extracted_texts" in GRAPH_TABLES
    before = writes()
    assert extract_texts(project) == 0
    assert writes() == before


def test_any_order_and_any_split_give_the_same_graph(project, other_project):
    closed = draft_message("3.000001", SAID, channel="C2", audience=CLOSED)
    messages = [
        draft_message("1.000001", SAID),
        draft_message("2.000001", f"{DECIDED} {SAID}"),
        closed,
        draft_message("4.000001", "Redis is blocked by PostgreSQL."),
    ]
    channels = (draft_channel(), draft_channel("C2", CLOSED), draft_account())
    take_in(project, *channels, *messages)
    for message in reversed(messages):
        take_in(other_project, message)
    take_in(other_project, *channels)
    assert differences(snapshot(project), snapshot(other_project)) == []


class TestChange:
    def test_what_a_text_no_longer_says_ends(self, project):
        read(project, draft_message("1.000001", SAID))
        read(project, draft_message("1.000001", "pgvector is nice.", version=1))
        assert named(project) == {("pgvector", "technology")}
        assert said(project) == {("slack:C1:1.000001", "mentions", "pgvector")}
        assert (
            Evidence.objects.filter(kind="derived", part__startswith="text:").count()
            == 2
        )

    def test_what_another_text_says_too_stays(self, project):
        read(project, draft_message("1.000001", SAID), draft_message("2.000001", SAID))
        uses = Edge.objects.get(relation="uses")
        assert uses.weight == 2
        read(project, draft_message("1.000001", "Nothing.", version=1))
        uses.refresh_from_db()
        assert (uses.weight, uses.valid_to) == (1, None)
        assert ("pgvector", "technology") in named(project)

    def test_what_is_said_again_lives_again_in_its_own_node(self, project):
        read(project, draft_message("1.000001", SAID))
        before = Node.objects.get(key="pgvector").pk
        read(project, draft_message("1.000001", "Nothing.", version=1))
        assert named(project) == set()
        read(project, draft_message("1.000001", SAID, version=2))
        assert Node.objects.get(key="pgvector").pk == before
        assert Edge.objects.get(relation="uses").valid_to is None

    def test_a_record_that_is_read_again_unchanged_keeps_it(self, project):
        read(project, draft_message("1.000001", SAID))
        before = Evidence.objects.filter(kind="derived").order_by("pk").values_list()
        kept = list(before)
        changed = draft_message("1.000001", SAID, version=1, user="U2")
        assert read(project, changed).updated == 1
        assert list(before.all()) == kept

    def test_what_a_vanished_text_said_ends_and_comes_back_with_it(self, project):
        read(project, draft_message("1.000001", SAID))
        node = Node.objects.filter(key="slack:C1:1.000001")
        node.update(gone_at="2026-03-01T00:00Z")
        extract_texts(project)
        assert (named(project), said(project)) == (set(), set())
        node.update(gone_at=None)
        extract_texts(project)
        assert ("pgvector", "technology") in named(project)

    def test_what_lost_its_record_ends(self, project):
        read(
            project, draft_message("1.000001", SAID), draft_message("2.000001", DECIDED)
        )
        StoredRecord.objects.get(key="slack:C1:1.000001").delete()
        extract_texts(project)
        assert "pgvector" not in {key for key, _ in named(project)}
        assert "PostgreSQL" in {key for key, _ in named(project)}


class TestAudience:
    """Only those who see a text that says so see what it says."""

    def visible(self, user, project):
        nodes = Node.objects.visible_to(user).of(project).current()
        edges = Edge.objects.visible_to(user).of(project).live()
        return (
            {n.key for n in nodes.filter(origin="extraction", valid_to=None)},
            {e.relation for e in edges.filter(origin="extraction")},
        )

    def secret(self, ts="1.000001", text=SAID):
        return draft_message(ts, text, channel="C2", audience=CLOSED)

    def test_what_a_closed_channel_says_its_members_see(
        self, project, member, outsider, stranger
    ):
        read(project, draft_channel("C2", CLOSED), self.secret())
        names, relations = self.visible(member, project)
        assert names == {"database-engineer", "pgvector", "RAG"}
        assert relations == {"mentions", "uses", "used_for"}
        assert self.visible(outsider, project) == (set(), set())
        assert self.visible(stranger, project) == (set(), set())

    def test_a_name_said_in_the_open_too_is_seen_but_not_the_closed_relation(
        self, project, member, outsider, stranger
    ):
        read(
            project,
            draft_channel("C2", CLOSED),
            self.secret(),
            draft_message("2.000001", "pgvector and database-engineer, hello."),
        )
        assert self.visible(outsider, project) == (
            {"pgvector", "database-engineer"},
            {"mentions"},
        )
        assert "uses" in self.visible(member, project)[1]
        assert self.visible(stranger, project) == (set(), set())

    def test_it_narrows_when_the_open_text_stops_saying_so(
        self, project, member, outsider
    ):
        opened = draft_message("2.000001", SAID)
        read(project, draft_channel("C2", CLOSED), self.secret(), opened)
        assert "uses" in self.visible(outsider, project)[1]
        read(project, draft_message("2.000001", "Nothing.", version=1))
        assert self.visible(outsider, project) == (set(), set())
        assert "uses" in self.visible(member, project)[1]

    def test_it_follows_a_text_that_is_closed_later(self, project, member, outsider):
        opened = draft_message("1.000001", SAID)
        read(project, opened)
        assert "uses" in self.visible(outsider, project)[1]
        closed = draft_message("1.000001", SAID, audience=CLOSED, version=1)
        read(project, closed)
        assert self.visible(outsider, project) == (set(), set())
        assert "uses" in self.visible(member, project)[1]

    def test_two_closed_channels_show_a_name_to_members_of_either(
        self, project, member, outsider
    ):
        other = AudienceDraft("members", "slack:C3", ("outsider@acme.test",))
        read(
            project,
            draft_channel("C2", CLOSED),
            draft_channel("C3", other),
            self.secret(),
            draft_message("2.000001", "pgvector it is", channel="C3", audience=other),
        )
        assert self.visible(outsider, project) == ({"pgvector"}, {"mentions"})
        assert Audience.objects.filter(combines="any").count() == 1


class TestNames:
    def test_a_projects_own_agent_is_known_by_any_spelling_and_keeps_its_node(
        self, project
    ):
        own = make_node(
            project,
            "agent:rm",
            node_type="agent",
            title="Release-Manager",
            origin="api",
        )
        read(project, draft_message("1.000001", "Ask the release manager about Redis."))
        assert ("slack:C1:1.000001", "mentions", "agent:rm") in said(project)
        own.refresh_from_db()
        assert (own.title, own.origin, own.valid_to) == ("Release-Manager", "api", None)

    def test_a_name_that_something_else_has_gets_its_type_before_it(self, project):
        make_node(project, "Redis", node_type="file", title="Redis")
        read(project, draft_message("1.000001", "Redis is fast."))
        assert named(project) == {("technology:Redis", "technology")}

    def test_spellings_are_one_node(self, project):
        read(
            project,
            draft_message("1.000001", "cursor_pagination and Cursor Pagination"),
            draft_message("2.000001", "CURSOR-PAGINATION; postgres and PostgreSQL"),
        )
        assert {key for key, _ in named(project)} == {"cursor-pagination", "PostgreSQL"}

    def test_what_was_pruned_is_not_made_again(self, project):
        from graph.models import Tombstone

        Tombstone.objects.create(
            tenant_id=project.tenant_id, project=project, key="Redis", content_hash=""
        )
        read(project, draft_message("1.000001", "Redis and Kafka"))
        assert named(project) == {("Kafka", "technology")}

    def test_a_title_gives_names_but_states_nothing(self, project):
        make_source(project)
        node = make_node(
            project,
            "mail:1",
            "See above.",
            node_type="email",
            title="Re: we decided on Redis",
        )
        extract_texts(project)
        assert named(project) == {("Redis", "technology")}
        assert Evidence.objects.get(node__key="Redis").quote == node.title
