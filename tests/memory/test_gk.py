"""Memory as a graph: what is drawn, for whom, and what always holds of it."""

from __future__ import annotations

from collections import Counter

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from connections.models import Project, User
from graph.embed import embed_backlog
from graph.models import Node
from memory.gk import get_facts, list_sessions, memory_graph
from memory.gk_reading import Fact, Session, normalised
from memory.gk_shape import (
    LABEL,
    OF_EPISODES,
    OF_FACTS,
    PROVENANCE,
    GkEdge,
    Shape,
    shape_of,
)
from tests.factories import NOON, make_audience, make_edge, make_member, make_node
from tests.memory.making import make_conversation, make_observation

WORDS = st.text(max_size=12)
VALUES = st.one_of(WORDS, st.integers(), st.none(), st.booleans(), st.lists(WORDS))
TOPICS = st.lists(st.sampled_from(["cold store", "launch", "price"]), unique=True)
FACTS = st.builds(
    Fact,
    node_id=st.integers(1, 30),
    text=st.text(max_size=200),
    observation_type=st.sampled_from(["fact", "decision", "risk"]),
    agent_id=st.sampled_from(["", "rules", "claude"]),
    topics=TOPICS.map(tuple),
    is_shared=st.booleans(),
    timestamp=st.just(NOON),
    metadata=st.dictionaries(st.sampled_from([*OF_FACTS, "other"]), VALUES),
)
SESSIONS = st.builds(
    Session,
    id=st.uuids(),
    title=WORDS,
    summary=st.text(max_size=200),
    topics=TOPICS.map(tuple),
    agent_id=st.sampled_from(["", "rules", "claude"]),
    turn_count=st.integers(0, 9),
    timestamp=st.just(NOON),
    source=st.sampled_from(["", "slack", "mail"]),
    filename=st.sampled_from(["", "plan.md"]),
    channel=st.sampled_from(["", "#cold"]),
    tenant_id=st.sampled_from(["", "acme"]),
)
MEMORIES = st.tuples(
    st.lists(FACTS, max_size=8, unique_by=lambda fact: fact.node_id),
    st.lists(SESSIONS, max_size=5, unique_by=lambda session: session.id),
)


def drawn(memory: tuple[list[Fact], list[Session]]) -> Shape:
    return shape_of(*memory, "acme")


def ends_of(shape: Shape, source: str) -> set[tuple[str, str]]:
    return {(e.label, e.target) for e in shape.edges if e.source == source}


@given(MEMORIES)
def test_what_is_named_meta_is_typed_meta_and_nothing_else_is(memory) -> None:
    for node in drawn(memory).nodes:
        assert (node.node_type == "meta") == node.id.startswith("meta:")


@given(MEMORIES)
def test_an_agent_that_is_named_is_linked(memory) -> None:
    shape = drawn(memory)
    for node in shape.nodes:
        label = {"fact": "attributed_to", "memory": "by"}.get(node.node_type)
        if label is None:
            continue
        agent = node.metadata.get("agent_id")
        linked = {end for name, end in ends_of(shape, node.id) if name == label}
        assert linked == ({f"agent:{agent}"} if agent else set())
    kinds = {n.metadata["kind"] for n in shape.nodes if n.node_type == "entity"}
    assert kinds <= {"agent"}


@given(MEMORIES)
def test_every_key_of_provenance_that_is_present_is_a_linked_meta_node(memory) -> None:
    shape = drawn(memory)
    types = {node.id: node.node_type for node in shape.nodes}
    for node in shape.nodes:
        keys = {"fact": OF_FACTS, "memory": OF_EPISODES}.get(node.node_type, ())
        present = {
            (key, f"meta:{key}:{node.metadata[key]}")
            for key in keys
            if key in node.metadata
        }
        linked = {
            (label, end)
            for label, end in ends_of(shape, node.id)
            if types[end] == "meta"
        }
        assert linked == present


@given(MEMORIES)
def test_every_topic_that_is_present_is_linked(memory) -> None:
    shape = drawn(memory)
    for node in shape.nodes:
        if node.node_type in ("fact", "memory"):
            label = "about" if node.node_type == "fact" else "concerns"
            linked = {end for name, end in ends_of(shape, node.id) if name == label}
            assert linked == {f"topic:{name}" for name in node.metadata["topics"]}


@given(
    MEMORIES,
    st.integers(0, 5),
    st.sets(st.sampled_from(["fact", "memory", "topic", "entity", "meta"])),
)
def test_a_degree_is_the_number_of_incident_edges_whatever_is_kept(
    memory, least, types
) -> None:
    whole = drawn(memory)
    for shape in (whole, whole.only(types).at_least(least)):
        ends = Counter(end for e in shape.edges for end in (e.source, e.target))
        ids = {node.id for node in shape.nodes}
        assert {node.id: node.degree for node in shape.nodes} == {
            pk: ends[pk] for pk in ids
        }
        assert ends.keys() <= ids
        assert len(ids) == len(shape.nodes)
    assert all(node.degree >= least for node in shape.nodes)
    assert not types or {node.node_type for node in shape.nodes} <= types


@given(MEMORIES)
def test_statistics_count_what_is_there(memory) -> None:
    shape = drawn(memory)
    found = shape.statistics(truncated=False)
    nodes, edges = len(shape.nodes), len(shape.edges)
    assert (found["node_count"], found["edge_count"]) == (nodes, edges)
    assert sum(found["nodes_by_type"].values()) == nodes
    assert sum(found["edges_by_label"].values()) == edges
    assert sum(found["edges_by_group"].values()) == edges
    assert set(found["edges_by_group"]) == {"attribution", "topical", "provenance"}
    assert found["max_degree"] >= found["mean_degree"]
    assert 0 <= found["density"] <= 1
    degrees = [hub["degree"] for hub in found["hubs"]]
    assert degrees == sorted(degrees, reverse=True)
    assert degrees[:1] == ([found["max_degree"]] if edges else [])


@given(MEMORIES)
def test_labels_are_short_and_the_whole_text_is_beside_them(memory) -> None:
    for node in drawn(memory).nodes:
        assert len(node.content) <= LABEL
        assert "\n" not in node.content
        start = node.content.rstrip("\u2026")
        assert " ".join(str(node.metadata["text"]).split()).startswith(start)


def test_the_groups_of_edges() -> None:
    groups = {
        label: GkEdge("a", "b", label, 1.0).group
        for label in ("by", "attributed_to", "concerns", "about", "source", "role")
    }
    assert groups == {
        "by": "attribution",
        "attributed_to": "attribution",
        "concerns": "topical",
        "about": "topical",
        "source": PROVENANCE,
        "role": PROVENANCE,
    }


@pytest.mark.parametrize(
    ("said", "folded"),
    [(" #Cold  Store. ", "cold store"), ("COLD\u00a0STORE", "cold store"), ("#", "")],
)
def test_topics_are_compared_folded(said: str, folded: str) -> None:
    assert normalised(said) == folded


# --- from the database -----------------------------------------------------------------


def texts(user: User, project: Project, **asked) -> set[str]:
    view = memory_graph(user, project, **asked)
    kinds = ("fact", "memory")
    return {str(n.metadata["text"]) for n in view.shape.nodes if n.node_type in kinds}


@pytest.mark.django_db
def test_two_users_of_a_project_see_their_own_and_what_was_shared(
    project: Project, member: User, outsider: User, stranger: User, other_project
) -> None:
    make_observation(project, member, "mine")
    make_observation(project, outsider, "theirs")
    make_observation(project, outsider, "theirs, shared", is_shared=True)
    make_observation(project, None, "the project's")
    make_observation(other_project, stranger, "elsewhere", is_shared=True)
    make_conversation(project, member, "My question?", "")
    make_conversation(project, outsider, "Their question?", "")
    shared = {"theirs, shared", "the project's"}
    assert texts(member, project) == {"mine", "My question?"} | shared
    assert texts(outsider, project) == {"theirs", "Their question?"} | shared
    assert texts(stranger, other_project) == {"elsewhere"}
    assert texts(stranger, project) == set()
    # A member of both sees the other project's memory only there.
    make_member(other_project, member.email)
    assert texts(member, project) == {"mine", "My question?"} | shared


@pytest.mark.django_db
def test_what_is_shared_stays_within_the_audience_of_its_evidence(
    project: Project, member: User, outsider: User
) -> None:
    shared = make_observation(project, member, "of the closed channel", is_shared=True)
    closed = make_audience(project, "slack:P1", [member])
    Node.objects.filter(pk=shared.node_id).update(audience=closed)
    assert texts(member, project) == {"of the closed channel"}
    assert texts(outsider, project) == set()


@pytest.mark.django_db
def test_what_left_or_was_superseded_or_pruned_is_not_remembered(
    project: Project, member: User
) -> None:
    kept = make_observation(project, member, "kept")
    make_observation(project, member, "left", left_at=timezone.now())
    make_observation(project, member, "superseded", superseded_by=kept)
    gone = make_observation(project, member, "pruned")
    ended = make_observation(project, member, "ended")
    Node.objects.filter(pk=gone.node_id).update(trashed_at=NOON)
    Node.objects.filter(pk=ended.node_id).update(valid_to=NOON)
    assert [fact.text for fact in get_facts(member, project, "", 9)] == ["kept"]


@pytest.mark.django_db
def test_a_fact_tells_its_agent_topics_and_provenance(
    project: Project, member: User
) -> None:
    make_observation(
        project,
        member,
        "We keep the price.",
        observation_type="decision",
        subject="Price List",
        origin="claude-haiku",
        metadata={"topics": ["#Price  list", "Penhallow"], "role": "assistant"},
    )
    make_observation(project, member, "By hand.", origin="hand")
    by_hand, said = get_facts(member, project, "", 9)
    assert (by_hand.agent_id, by_hand.text) == ("", "By hand.")
    assert said.topics == ("price list", "penhallow")
    shape = memory_graph(member, project).shape
    assert ends_of(shape, f"memory:{said.node_id}") == {
        ("attributed_to", "agent:claude-haiku"),
        ("about", "topic:price list"),
        ("about", "topic:penhallow"),
        ("kind", "meta:kind:decision"),
        ("role", "meta:role:assistant"),
        ("source", "meta:source:conversation"),
        ("tenant_id", "meta:tenant_id:acme"),
    }


@pytest.mark.django_db
def test_an_episode_tells_what_it_was_about_and_from_where(
    project: Project, member: User
) -> None:
    channel = make_node(project, "slack:C1", node_type="channel", title="#cold")
    message = make_node(project, "m", "The compressor.", tags=["Fridge"])
    pg = make_node(project, "pg", node_type="technology", title="PostgreSQL")
    make_edge(message, channel, "posted_in")
    make_edge(message, pg, "mentions")
    file = make_node(
        project, "f", "A plan.", node_type="section", metadata={"path": "a/plan.md"}
    )
    talk = make_conversation(
        project,
        member,
        cited=[message, file],
        parsed={"entity_hints": ["Hollis Marr"]},
    )
    (session,) = list_sessions(member, project, 9)
    assert session.id == talk.pk
    assert session.summary == "Who has the key?\nHollis has it. [1]"
    assert session.topics == ("hollis marr", "fridge", "postgresql")
    assert (session.agent_id, session.turn_count) == ("extractive", 1)
    assert (session.source, session.channel) == ("slack", "#cold")
    assert (session.filename, session.tenant_id) == ("plan.md", "acme")


@pytest.mark.django_db
def test_an_episode_does_not_tell_what_was_said_from_a_source_closed_by_now(
    project: Project, member: User, outsider: User
) -> None:
    closed = make_audience(project, "slack:P1", [outsider])
    secret = make_node(project, "s", "Hush.", audience=closed, tags=["hush"])
    make_conversation(
        project, member, "What is it?", "It is hush.", cited=[secret], summary="hush"
    )
    (session,) = list_sessions(member, project, 9)
    assert session.summary == "What is it?"
    assert session.topics == ()
    assert session.source == ""


@pytest.mark.django_db
def test_a_query_finds_facts_each_with_the_retrievers_that_did(
    project: Project, member: User, outsider: User
) -> None:
    make_observation(project, member, "The compressor of the fridge is new.")
    make_observation(project, member, "Penhallow pays late.")
    make_observation(project, outsider, "Their compressor is old.")
    make_node(project, "said", "A compressor, said in chat.")
    make_conversation(project, member, "Is the compressor new?", "")
    make_conversation(project, member, "When is lunch?", "")
    embed_backlog(project.pk)
    found = get_facts(member, project, "compressor", 9)
    assert found[0].text == "The compressor of the fridge is new."
    assert found[0].contributions["keyword"].rank == 1
    assert all(fact.contributions for fact in found)
    shown = texts(member, project, query="compressor")
    assert "Is the compressor new?" in shown
    assert not {"When is lunch?", "Their compressor is old."} & shown


@pytest.mark.django_db
def test_a_limit_says_when_it_left_something_out(
    project: Project, member: User
) -> None:
    for n in range(3):
        make_observation(project, member, f"fact {n}")
    assert not memory_graph(member, project, limit=3).truncated
    cut = memory_graph(member, project, limit=2)
    assert cut.truncated
    assert cut.as_json()["statistics"]["nodes_by_type"]["fact"] == 2
    assert texts(member, project, limit=2) == {"fact 2", "fact 1"}


@pytest.mark.django_db
def test_an_empty_memory_is_an_empty_graph(project: Project, member: User) -> None:
    answer = memory_graph(member, project).as_json()
    assert (answer["nodes"], answer["edges"]) == ([], [])
    assert answer["statistics"]["density"] == 0.0


@pytest.mark.django_db
def test_more_memory_costs_no_more_statements(
    project: Project, member: User, django_assert_num_queries
) -> None:
    def remember() -> None:
        node = make_node(project, f"n{Node.objects.count()}", "Said.", tags=["a"])
        talk = make_conversation(project, member, cited=[node])
        make_observation(project, member, "Learned.", conversation=talk)

    project.tenant  # noqa: B018 - read before counting
    remember()
    # audiences five times; facts, conversations, counts, first and last turns,
    # citations, nodes, edges, subjects
    with django_assert_num_queries(14):
        memory_graph(member, project)
    for _ in range(5):
        remember()
    with django_assert_num_queries(14):
        assert len(memory_graph(member, project).shape.nodes) > 10
