"""Remembering: what is added, reinforced, superseded, and refused."""

from __future__ import annotations

from datetime import timedelta

import pytest

from connections.models import Audit
from graph.integrity import Gaps, find_gaps
from graph.models import Edge, Evidence, Node
from memory.models import Observation, Reference
from memory.observations import (
    Learned,
    MemoryRefused,
    Quoted,
    Unsupported,
    current,
    importance_of,
    refer,
    remember,
    scope_of,
)
from tests.factories import NOON, make_audience, make_node
from tests.memory.memories import again, by_hand, kept, make_conversation, quoted

pytestmark = pytest.mark.django_db

SAID = "The supplier Volta failed the audit of the batteries in March."


@pytest.fixture
def message(project):
    return make_node(project, "slack:C1:1.0", f"{SAID} We should look for another.")


def test_an_observation_is_a_node_with_its_row_its_proofs_and_its_edges(
    project, member, message
):
    conversation = make_conversation(project, member)
    learned = Learned(
        observation_type="commitment",
        text="Ann will find another supplier.",
        evidence=(quoted(message, SAID),),
        who="Ann",
        due_at=NOON,
    )
    found = remember(project, member, learned, conversation=conversation, now=NOON)
    kept_one = again(found.observation)
    node = kept_one.node
    assert found.outcome == "added"
    assert (node.key, node.origin, node.source_kind, node.node_type) == (
        f"memory:{node.pk}",
        "memory",
        "memory",
        "commitment",
    )
    assert node.context == "Commitment · remembered 2 March 2026 · Ann"
    assert node.embedding is not None
    assert (kept_one.owner, kept_one.conversation) == (member, conversation)
    assert kept_one.status == "open"
    proofs = Evidence.objects.filter(node=node)
    assert [(p.record_id, p.quote, p.part, p.kind) for p in proofs] == [
        (message.record_id, SAID, f"memory:{message.key}", "derived")
    ]
    edge = Edge.objects.get(source=node)
    assert (edge.relation, edge.target_id) == ("supported_by", message.pk)
    assert Evidence.objects.get(edge=edge).record_id == message.record_id
    assert find_gaps(project) == Gaps((), ())
    assert Audit.objects.get(verb="memory.added").target == node.key


def test_the_same_said_again_adds_nothing_and_is_referenced_once(
    project, member, message
):
    first = kept(project, member, SAID, message)
    conversation = make_conversation(project, member)
    learned = Learned(
        observation_type="fact",
        text=f"  {SAID.upper()} ",
        evidence=(quoted(message, SAID),),
    )
    for _ in range(2):
        found = remember(project, member, learned, conversation=conversation)
        assert (found.observation.pk, found.outcome) == (first.pk, "reinforced")
    assert Observation.objects.count() == Node.objects.filter(origin="memory").count()
    assert Reference.objects.get().observation_id == first.pk
    assert Evidence.objects.filter(node=first.node).count() == 1


def test_another_type_scope_or_tenant_keeps_its_own(
    project, other_project, member, outsider, stranger
):
    for place, user, kind in (
        (project, member, "fact"),
        (project, member, "risk"),
        (project, outsider, "fact"),
        (project, None, "fact"),
        (other_project, stranger, "fact"),
    ):
        found = remember(place, user, by_hand(SAID, kind))
        assert found.outcome == "added"


def test_nearly_the_same_reinforces(project, member):
    long = (
        "The supplier Volta failed the yearly audit of the large batteries and of "
        "the small chargers that we bought for the northern warehouse"
    )
    first = kept(project, member, f"{long}.")
    found = remember(project, member, by_hand(f"{long}, too!"))
    assert (found.outcome, found.observation.pk) == ("reinforced", first.pk)


@pytest.mark.parametrize(
    ("before", "after"),
    [("30", "45"), ("is", "isn't"), ("always", "never")],
    ids=["a number", "a contraction", "a negation"],
)
def test_what_differs_in_a_number_or_a_negation_is_another(
    project, member, before, after
):
    text = (
        "The payment term of the contract that Acme signed with the warehouse in the "
        f"north of the country for batteries and chargers {before} net days"
    )
    kept(project, member, text)
    found = remember(project, member, by_hand(text.replace(before, after)))
    assert found.outcome == "added"


def test_a_newer_one_on_the_same_subject_supersedes_and_both_stay_dated(
    project, member
):
    older = kept(project, member, "The launch is on 3 May.", subject="Launch date")
    later = NOON + timedelta(days=2)
    newer = kept(
        project, member, "The launch is on 9 June.", subject="launch  date", now=later
    )
    older = again(older)
    assert older.superseded_by_id == newer.pk
    assert (older.node.valid_from, older.node.valid_to) == (NOON, later)
    assert list(current(project, member)) == [newer]
    assert Node.objects.as_of(NOON).filter(pk=older.pk).exists()
    repeated = remember(
        project, member, by_hand("The launch is on 9 June.", subject="launch date")
    )
    assert repeated.outcome == "reinforced"


def test_one_that_is_named_is_superseded_once(project, member):
    older = kept(project, member, "We use MySQL.")
    learned = by_hand("We moved to PostgreSQL.", supersedes=older.pk)
    outcomes = [remember(project, member, learned).outcome for _ in range(2)]
    assert outcomes == ["superseded", "reinforced"]


def test_what_is_in_another_memory_is_not_superseded(project, member, outsider):
    theirs = kept(project, outsider, "We use MySQL.")
    with pytest.raises(MemoryRefused, match=f"memory:{theirs.pk} is not in this"):
        remember(project, member, by_hand("No.", supersedes=theirs.pk))
    kept(project, outsider, "The launch is in May.", subject="launch")
    kept(project, member, "The launch is in June.", subject="launch")
    assert current(project, outsider).count() == 2


def test_what_was_superseded_may_be_said_again_and_is_new(project, member):
    older = kept(project, member, "We use MySQL.", subject="database")
    kept(project, member, "We use PostgreSQL.", subject="database")
    back = kept(project, member, "We use MySQL.", subject="database")
    assert back.pk != older.pk
    assert list(current(project, member)) == [back]


@pytest.mark.parametrize(
    "cite",
    ["hidden", "foreign", "absent", "other words", "nothing"],
)
def test_nothing_is_remembered_without_a_source_that_says_so(
    cite, project, other_project, outsider, member, message
):
    closed = make_audience(project, "slack:P1", [member])
    nodes = {
        "hidden": make_node(project, "slack:P1:1.0", SAID, audience=closed).pk,
        "foreign": make_node(other_project, "slack:C1:1.0", SAID).pk,
        "absent": 10**12,
        "other words": message.pk,
    }
    quote = "Nobody said this." if cite == "other words" else SAID
    evidence = (
        (Quoted(node_id=nodes[cite], key="k", quote=quote),) if cite in nodes else ()
    )
    learned = Learned(observation_type="fact", text=SAID, evidence=evidence)
    with pytest.raises(Unsupported, match="Nothing supports"):
        remember(project, outsider, learned)
    assert not Observation.objects.exists()
    assert not Node.objects.filter(origin="memory").exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": "  "}, "the text is empty"),
        ({"text": "x" * 2001}, r"2,001 characters; .* at most 2,000"),
        ({"observation_type": "rumour"}, "'rumour' is no type .* fact, decision"),
        ({"status": "maybe"}, "'maybe' is no status"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_the_reason(
    project, member, fields, message
):
    with pytest.raises(MemoryRefused, match=message):
        remember(project, member, by_hand(**{"text": SAID, **fields}))


def test_further_support_is_added_where_it_hides_nothing(project, member, message):
    closed = make_audience(project, "slack:P1", [member])
    hidden = make_node(project, "slack:P1:1.0", SAID, audience=closed)
    also = make_node(project, "slack:C1:2.0", SAID)
    first = kept(project, member, SAID, message)
    kept(project, member, SAID, hidden)
    kept(project, member, SAID, also)
    cited = Edge.objects.filter(source=first.node).values_list("target__key", flat=True)
    assert set(cited) == {message.key, also.key}


def test_only_what_is_in_the_users_memory_is_referenced(
    project, other_project, member, outsider, stranger, message
):
    mine = kept(project, member, "Mine.")
    shared = kept(project, None, "Ours.")
    theirs = kept(project, outsider, "Theirs.")
    foreign = kept(other_project, stranger, "Foreign.")
    conversation = make_conversation(project, member)
    asked = [mine.pk, shared.pk, theirs.pk, foreign.pk, message.pk, 10**12]
    assert refer(conversation, asked) == 2
    assert refer(conversation, asked) == 0
    assert refer(conversation, []) == 0
    noted = Reference.objects.values_list("observation_id", flat=True)
    assert set(noted) == {mine.pk, shared.pk}


def test_it_starts_at_a_half(project, member):
    observation = kept(project, member, SAID)
    assert importance_of(observation) == 0.5
    assert importance_of(observation, scope_of(project, member)) == 0.5
    assert observation.leaves_at == 22


@pytest.mark.parametrize("kind", ["decision", "commitment"])
def test_decisions_and_commitments_fade_but_do_not_leave(project, member, kind):
    observation = kept(project, member, SAID, observation_type=kind)
    assert observation.is_protected
    assert observation.leaves_at is None


def test_the_current_memory_of_three_users(
    project, other_project, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    hidden = make_node(project, "slack:P1:1.0", SAID, audience=closed)
    mine = kept(project, member, "Mine.")
    shared = kept(project, None, "Ours.")
    narrow = kept(project, None, SAID, hidden)
    foreign = kept(other_project, stranger, "Foreign.")
    assert set(current(project, member)) == {mine, shared, narrow}
    assert set(current(project, outsider)) == {shared}
    assert set(current(project, stranger)) == set()
    assert set(current(other_project, stranger)) == {foreign}
    assert set(current(project, None)) == {mine, shared, narrow}
