"""What has faded leaves, can come back for 30 days, and is then deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from graph.models import Node
from memory import tasks
from memory.fading import delete_left, due_nodes, let_leave, scopes_with_due
from memory.models import Citation, MemoryScope, Observation, Reference, Turn
from memory.observations import current, refer, restore
from retrieval.search import search
from tests.factories import NOON
from tests.memory.memories import again, kept, make_conversation

pytestmark = pytest.mark.django_db

TEXT = "The supplier Volta failed the audit."


def age(project, user, ticks=22):
    MemoryScope.objects.filter(project=project, user=user).update(ticks=ticks)


def test_what_is_due_is_in_no_read_before_it_was_let_go(
    project, other_project, member, stranger
):
    observation = kept(project, member, TEXT)
    foreign = kept(other_project, stranger, TEXT)
    age(project, member, 21)
    assert due_nodes(project, member) == []
    assert found(project, member) == [f"memory:{observation.pk}"]
    age(project, member, 22)
    assert due_nodes(project, member) == due_nodes(project, None) == [observation.pk]
    assert due_nodes(project, stranger) == []
    assert found(project, member) == []
    assert list(current(project, member)) == []
    assert found(other_project, stranger) == [f"memory:{foreign.pk}"]


def found(project, user):
    return [r.id for r in search(project, "Volta audit", user=user).results]


def test_letting_go_ends_the_node_and_says_why(project, member, outsider):
    gone, protected = (
        kept(project, member, TEXT),
        kept(project, member, TEXT, observation_type="decision"),
    )
    theirs = kept(project, outsider, TEXT)
    age(project, member)
    scope = again(gone).scope
    assert scopes_with_due() == [scope.pk]
    assert let_leave(scope.pk, now=NOON) == 1
    assert let_leave(scope.pk, now=NOON) == 0
    gone = again(gone)
    assert (gone.left_at, gone.left_because, gone.node.valid_to) == (
        NOON,
        "faded",
        NOON,
    )
    assert again(protected).left_at is again(theirs).left_at is None
    assert scopes_with_due() == []


def test_what_left_comes_back_as_strong_as_new(project, member):
    observation = kept(project, member, TEXT)
    age(project, member)
    let_leave(observation.scope_id, now=NOON)
    restore(again(observation), by=member)
    observation = again(observation)
    assert (observation.strength, observation.counted_at) == (0.5, 22)
    assert (observation.leaves_at, observation.left_at) == (44, None)
    assert found(project, member) == [f"memory:{observation.pk}"]


def test_what_is_said_again_comes_back(project, member):
    observation = kept(project, member, TEXT)
    age(project, member)
    let_leave(observation.scope_id, now=NOON)
    assert kept(project, member, TEXT).pk == observation.pk
    assert list(current(project, member)) == [observation]


def test_after_30_days_it_is_deleted_with_all_that_refers_to_it(project, member):
    observation = kept(project, member, TEXT)
    older = kept(project, member, "Before.", subject="volta")
    newer = kept(project, member, "After.", subject="volta")
    conversation = make_conversation(project, member)
    refer(conversation, [observation.pk, newer.pk])
    turn = Turn.objects.create(conversation=conversation, question="?")
    cited = Citation.objects.create(turn=turn, n=1, node=observation.node, key="k")
    age(project, member)
    let_leave(observation.scope_id, now=NOON)
    assert delete_left(now=NOON + timedelta(days=30)) == 0
    assert delete_left(now=NOON + timedelta(days=30, seconds=1)) == 2
    assert not Node.objects.filter(pk__in=[observation.pk, newer.pk]).exists()
    assert not Reference.objects.exists()
    cited.refresh_from_db()
    assert cited.node is None
    older = again(older)
    assert (older.left_because, older.superseded_by) == ("superseded", None)
    assert list(current(project, member)) == []


def test_the_tasks_do_all_of_it_and_are_safe_to_repeat(project, member):
    observation = kept(project, member, TEXT)
    age(project, member)
    for _ in range(2):
        tasks.end_idle_conversations()
        tasks.let_leave()
        tasks.close_unproven()
        tasks.delete_faded()
    assert again(observation).left_at is not None
    long_ago = timezone.now() - timedelta(days=31)
    Observation.objects.update(left_at=long_ago)
    tasks.delete_faded()
    assert not Observation.objects.exists()
