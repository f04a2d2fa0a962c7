"""What people do to what is remembered, and who may."""

from __future__ import annotations

import pytest
from django.db import transaction

from connections.models import Audit, AuditDetail, Role
from graph.models import Evidence, Node
from memory.models import Observation
from memory.observations import (
    MemoryRefused,
    NotYours,
    correct,
    current,
    forget,
    importance_of,
    pin,
    restore,
    set_status,
    share,
)
from tests.factories import make_audience, make_member, make_node
from tests.memory.memories import again, kept, ticks_of
from tests.memory.test_endings import talk

pytestmark = pytest.mark.django_db

SAID = "The supplier Volta failed the audit."

ACTS = {
    "correct": lambda one, by: correct(one, "Volta passed.", by=by),
    "pin": lambda one, by: pin(one, by=by),
    "forget": lambda one, by: forget(one, by=by),
    "share": lambda one, by: share(one, by=by),
    "unshare": lambda one, by: share(one, by=by, shared=False),
    "restore": lambda one, by: restore(one, by=by),
    "set_status": lambda one, by: set_status(one, "done", by=by),
}


@pytest.mark.parametrize("act", ACTS)
def test_only_its_owner_changes_what_is_their_own(
    act, project, member, outsider, stranger
):
    observation = kept(project, member, SAID)
    staff = make_member(project, "staff@acme.test")
    staff.is_staff = True
    staff.save()
    for other in (outsider, stranger, staff):
        with pytest.raises(NotYours), transaction.atomic():
            ACTS[act](observation, other)
    assert again(observation).node.content == SAID
    assert not Audit.objects.filter(actor__in=[outsider, stranger, staff]).exists()


def test_what_is_shared_is_changed_by_who_made_it_and_by_reviewers(
    project, other_project, member, outsider
):
    observation = share(kept(project, member, SAID), by=member)
    staff = make_member(project, "staff@acme.test", Role.REVIEWER)
    foreign = make_member(other_project, "elsewhere@strangers.test", Role.ADMIN)
    for user in (outsider, foreign):
        user.is_staff = True
        user.save()
    for other in (outsider, foreign):
        with pytest.raises(NotYours), transaction.atomic():
            correct(again(observation), "Volta passed.", by=other)
    correct(again(observation), "Volta may fail.", by=staff)
    correct(again(observation), "Volta passed.", by=member)
    assert again(observation).node.content == "Volta passed."


def test_a_correction_is_found_by_its_words_and_keeps_the_former_in_the_audit(
    project, member
):
    observation = kept(project, member, SAID)
    vector = list(again(observation).node.embedding)
    correct(observation, "  Volta passed the exam. ", by=member)
    observation = again(observation)
    assert (observation.node.content, observation.origin) == (
        "Volta passed the exam.",
        "hand",
    )
    assert observation.node.embedding is not None
    assert list(observation.node.embedding) != vector
    detail = AuditDetail.objects.get(audit__verb="memory.corrected")
    assert detail.detail == {"before": SAID}
    with pytest.raises(MemoryRefused, match="the text is empty"):
        correct(observation, " ", by=member)


def test_nothing_is_held_twice(project, member):
    one, other = kept(project, member, SAID), kept(project, member, "Other.")
    shared = kept(project, None, "Ours.")
    with pytest.raises(MemoryRefused, match=f"memory:{one.pk} says the same"):
        correct(other, SAID, by=member)
    same = kept(project, member, "Ours.")
    with pytest.raises(MemoryRefused, match=f"memory:{shared.pk} says the same"):
        share(same, by=member)


def test_pinned_it_does_not_fade_until_it_is_unpinned(project, member):
    observation = kept(project, member, SAID)
    talk(project, member)
    pin(again(observation), by=member)
    for _ in range(40):
        talk(project, member)
    assert importance_of(again(observation)) == pytest.approx(0.45)
    assert again(observation).leaves_at is None
    pin(again(observation), by=member, pinned=False)
    talk(project, member)
    assert importance_of(again(observation)) == pytest.approx(0.405)
    verbs = ("memory.pinned", "memory.unpinned")
    assert Audit.objects.filter(verb__in=verbs, actor=member).count() == 2


def test_what_has_left_is_not_pinned(project, member):
    older = kept(project, member, "The launch is in May.", subject="launch")
    kept(project, member, "The launch is in June.", subject="launch")
    with pytest.raises(MemoryRefused, match="is not in memory; restore it"):
        pin(again(older), by=member)


def test_what_is_superseded_does_not_come_back_by_restoring(project, member):
    older = kept(project, member, "The launch is in May.", subject="launch")
    kept(project, member, "The launch is in June.", subject="launch")
    with pytest.raises(MemoryRefused, match="has not left"):
        restore(again(older), by=member)


def test_forgetting_deletes_all_of_it_and_what_it_replaced_stays_away(project, member):
    message = make_node(project, "slack:C1:1.0", SAID)
    older = kept(project, member, "The launch is in May.", subject="launch")
    newer = kept(project, member, SAID, message, subject="launch")
    forget(newer, by=member)
    assert not Node.objects.filter(pk=newer.pk).exists()
    assert not Evidence.objects.filter(node_id=newer.pk).exists()
    assert list(current(project, member)) == []
    older = again(older)
    assert older.left_because == Observation.Left.SUPERSEDED
    assert Audit.objects.get(verb="memory.forgotten").target == f"memory:{newer.pk}"
    restore(older, by=member)
    assert list(current(project, member)) == [older]


def test_forgetting_one_between_two_leaves_the_newest(project, member):
    may, june, july = (
        kept(project, member, f"The launch is in {month}.", subject="launch")
        for month in ("May", "June", "July")
    )
    forget(again(june), by=member)
    assert again(may).superseded_by_id == july.pk
    assert list(current(project, member)) == [july]


def test_sharing_shows_it_to_those_who_may_see_what_it_rests_on(
    project, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    hidden = make_node(project, "slack:P1:1.0", SAID, audience=closed)
    plain = kept(project, member, "I lead the launch.")
    narrow = kept(project, member, SAID, hidden)
    assert set(current(project, outsider)) == set()
    for each in (plain, narrow):
        share(each, by=member)
    assert set(current(project, member)) == {plain, narrow}
    assert set(current(project, outsider)) == {plain}
    assert set(current(project, stranger)) == set()
    share(again(plain), by=member, shared=False)
    assert set(current(project, outsider)) == set()
    assert set(current(project, member)) == {plain, narrow}


def test_what_is_shared_is_counted_in_the_projects_memory(project, member):
    observation = kept(project, member, SAID)
    for _ in range(4):
        talk(project, member)
    strong = importance_of(again(observation))
    share(again(observation), by=member)
    observation = again(observation)
    assert (observation.counted_at, ticks_of(project, None)) == (1, 1)
    assert importance_of(observation) == pytest.approx(strong)
    talk(project, member)
    assert importance_of(again(observation)) == pytest.approx(strong)
    share(again(observation), by=member, shared=False)
    assert importance_of(again(observation)) == pytest.approx(strong)
    assert again(observation).counted_at == 5


def test_what_was_always_the_projects_is_nobodys_own(project, member):
    observation = kept(project, None, SAID)
    project.memberships.filter(user=member).update(role=Role.REVIEWER)
    with pytest.raises(MemoryRefused, match="nobody's own"):
        share(observation, by=member, shared=False)


def test_the_status_of_a_commitment(project, member):
    observation = kept(project, member, SAID, observation_type="commitment")
    assert set_status(observation, "done", by=member).status == "done"
    with pytest.raises(MemoryRefused, match="'maybe' is no status"):
        set_status(observation, "maybe", by=member)
