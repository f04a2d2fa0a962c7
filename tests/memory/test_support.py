"""What is no longer said, or seen by fewer, is no longer remembered, or by fewer."""

from __future__ import annotations

import pytest
from django.utils import timezone

from graph.models import Edge, Evidence, Node, Record
from memory.models import Observation
from memory.observations import MemoryRefused, current, remember, restore, share
from memory.support import check_support, close_unsupported
from tests.factories import (
    draft_channel,
    draft_message,
    make_audience,
    make_node,
    take_in,
)
from tests.memory.memories import again, by_hand, kept, quoted

pytestmark = pytest.mark.django_db

SAID = "The supplier Volta failed the audit."


@pytest.fixture
def message(project):
    return make_node(project, "slack:C1:1.0", SAID)


def erase(node):
    Record.objects.filter(pk=node.record_id).delete()


def is_open(observation):
    return again(observation).node.valid_to is None


def test_a_message_that_was_edited_takes_what_was_learned_from_it(project, member):
    take_in(project, draft_channel(), draft_message("1.000001", SAID))
    message = Node.objects.get(key="slack:C1:1.000001")
    observation = kept(project, member, "Volta failed.", message)
    take_in(project, draft_message("1.000001", f"{SAID} Truly.", version=1))
    assert is_open(observation)
    take_in(project, draft_message("1.000001", "Volta passed.", version=2))
    observation = again(observation)
    assert not is_open(observation)
    assert observation.left_because == Observation.Left.UNSUPPORTED
    assert not current(project, member).exists()
    assert not Edge.objects.live().filter(relation="supported_by").exists()


def test_a_run_that_changes_nothing_else_leaves_it(project, member, message):
    observation = kept(project, member, SAID, message)
    take_in(project, draft_channel(), draft_message("9.000001", "Something else."))
    assert is_open(observation)
    assert Evidence.objects.filter(node=observation.node).count() == 1


def test_lines_that_break_elsewhere_still_say_it(project, member, message):
    observation = kept(project, member, SAID, message)
    Node.objects.filter(pk=message.pk).update(
        content="The supplier\nVolta  failed the audit."
    )
    check_support(project)
    assert is_open(observation)


def test_erasing_the_record_takes_the_proof_and_closes_it(
    project, other_project, stranger, member, message
):
    foreign = make_node(other_project, "slack:C1:1.0", SAID)
    theirs = kept(other_project, stranger, SAID, foreign)
    observation = kept(project, member, SAID, message)
    erase(message)
    assert not Evidence.objects.filter(node=observation.node).exists()
    assert close_unsupported() == 1
    assert not is_open(observation)
    assert is_open(theirs)
    assert close_unsupported() == 0


def test_one_proof_that_is_left_is_enough(project, member, message):
    other = make_node(project, "slack:C1:2.0", SAID)
    observation = kept(project, member, SAID, message, other)
    erase(message)
    assert close_unsupported(project) == 0
    assert is_open(observation)


def test_what_a_person_wrote_stands_on_their_word(project, member, message):
    learned = by_hand(SAID, evidence=(quoted(message),))
    observation = remember(project, member, learned).observation
    alone = kept(project, member, "I prefer tea.")
    erase(message)
    check_support(project)
    assert is_open(observation)
    assert is_open(alone)


def test_what_lost_its_support_is_restored_only_with_support(project, member, message):
    observation = kept(project, member, SAID, message)
    erase(message)
    close_unsupported()
    with pytest.raises(MemoryRefused, match="Nothing supports memory:"):
        restore(again(observation), by=member)


def test_what_rests_on_a_memory_goes_with_it(project, member):
    first = kept(project, member, "Volta failed.")
    second = kept(project, member, "We need a supplier.", first.node, origin="model")
    assert close_unsupported() == 0
    Node.objects.filter(pk=first.pk).update(valid_to=timezone.now())
    assert close_unsupported() == 1
    assert not is_open(second)


def test_a_channel_that_closes_closes_what_was_learned_in_it(
    project, member, outsider, message
):
    observation = kept(project, None, SAID, message)
    mine = kept(project, member, SAID, message)
    assert set(current(project, outsider)) == {observation}
    closed = make_audience(project, "slack:P1", [member])
    Node.objects.filter(pk=message.pk).update(audience=closed)
    check_support(project)
    assert set(current(project, outsider)) == set()
    assert set(current(project, member)) == {observation, mine}
    share(again(mine), by=member, shared=False)


def test_what_it_rests_on_never_becomes_wider(project, member, outsider, message):
    closed = make_audience(project, "slack:P1", [member])
    hidden = make_node(project, "slack:P1:1.0", SAID, audience=closed)
    observation = kept(project, None, SAID, message, hidden)
    hidden.delete()
    erase(hidden)
    check_support(project)
    assert is_open(observation)
    assert set(current(project, outsider)) == set()


def test_checking_writes_nothing_where_nothing_changed(
    project, member, message, django_assert_num_queries
):
    kept(project, member, SAID, message)
    check_support(project)
    before = again(Observation.objects.get()).node.updated_at
    check_support(project)
    assert again(Observation.objects.get()).node.updated_at == before
