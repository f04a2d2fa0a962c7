"""The end of a conversation: counted once, whatever happens."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from memory import endings
from memory.endings import end_conversation, idle_conversations
from memory.models import Conversation, Observation, Turn
from memory.observations import importance_of, pin, refer, restore
from tests.factories import NOON, make_member, make_project
from tests.memory.memories import again, kept, make_conversation, ticks_of
from tests.memory.naive import Naive

pytestmark = pytest.mark.django_db


def talk(project, user, *referenced, now=NOON):
    """Have a conversation that pulls in `referenced`, and end it."""
    conversation = make_conversation(project, user)
    refer(conversation, [each.pk for each in referenced], now=now)
    return end_conversation(conversation, now=now)


def importance(observation):
    return importance_of(again(observation))


def test_what_was_referenced_grows_and_all_else_fades(project, member):
    used, unused = kept(project, member, "Used."), kept(project, member, "Unused.")
    talk(project, member, used)
    assert importance(used) == pytest.approx(0.55)
    assert importance(unused) == pytest.approx(0.45)


def test_only_what_was_referenced_is_written(project, member):
    used, unused = kept(project, member, "Used."), kept(project, member, "Unused.")
    before = again(unused).updated_at
    talk(project, member, used)
    unused = again(unused)
    assert (unused.updated_at, unused.counted_at) == (before, 0)
    assert (again(used).counted_at, again(used).leaves_at) == (1, 24)


def test_ending_it_again_does_nothing(project, member):
    used = kept(project, member, "Used.")
    conversation = make_conversation(project, member)
    refer(conversation, [used.pk])
    first = end_conversation(conversation, now=NOON)
    again_ended = end_conversation(conversation, now=NOON + timedelta(days=3))
    assert (first.referenced, again_ended.referenced) == (1, 0)
    assert importance(used) == pytest.approx(0.55)
    assert ticks_of(project, member) == 1
    assert Conversation.objects.get(pk=conversation.pk).ended_at == NOON


def test_the_conversation_it_came_of_neither_strengthens_nor_fades_it(project, member):
    conversation = make_conversation(project, member)
    new = kept(project, member, "New.", conversation=conversation)
    talk(project, member)
    assert importance(new) == pytest.approx(0.45)
    refer(conversation, [new.pk])
    end_conversation(conversation, now=NOON)
    assert importance(new) == pytest.approx(0.45)
    talk(project, member, new)
    assert importance(new) == pytest.approx(0.495)


def test_a_conversation_touches_nobody_elses_memory(
    project, other_project, member, outsider, stranger
):
    theirs = kept(project, outsider, "Theirs.")
    foreign = kept(other_project, stranger, "Foreign.")
    talk(project, member)
    assert importance(theirs) == importance(foreign) == 0.5
    assert ticks_of(other_project, stranger) == 0


def test_what_is_shared_fades_by_days_that_had_a_conversation(
    project, member, outsider
):
    shared = kept(project, None, "Ours.")
    for hour in range(5):
        talk(project, member, now=NOON + timedelta(hours=hour))
    assert importance(shared) == pytest.approx(0.45)
    talk(project, outsider, now=NOON + timedelta(days=1))
    assert importance(shared) == pytest.approx(0.405)
    assert ticks_of(project, member) == 5


def test_what_is_used_later_on_a_day_did_not_fade_that_day(project, member):
    shared = kept(project, None, "Ours.")
    talk(project, member)
    talk(project, member, shared, now=NOON + timedelta(hours=1))
    assert importance(shared) == pytest.approx(0.55)


@pytest.mark.parametrize(
    ("tick", "mine", "ours"),
    [("conversation", 0.9**3, 0.9**3), ("day", 0.9, 0.9), ("", 0.9**3, 0.9)],
)
def test_the_setting_says_by_what_memory_fades(
    project, member, monkeypatch, tick, mine, ours
):
    monkeypatch.setitem(settings.FABRIC, "DECAY_TICK", tick)
    own, shared = kept(project, member, "Mine."), kept(project, None, "Ours.")
    for hour in range(3):
        talk(project, member, now=NOON + timedelta(hours=hour))
    assert importance(own) == pytest.approx(0.5 * mine)
    assert importance(shared) == pytest.approx(0.5 * ours)


def test_what_had_left_is_not_called_back_by_a_conversation_begun_before(
    project, member
):
    observation = kept(project, member, "Old.")
    begun = make_conversation(project, member)
    refer(begun, [observation.pk])
    for _ in range(22):
        talk(project, member)
    assert end_conversation(begun, now=NOON).referenced == 0
    assert again(observation).leaves_at == 22


def test_a_conversation_at_the_last_moment_keeps_it(project, member):
    observation = kept(project, member, "Old.")
    for _ in range(21):
        talk(project, member)
    talk(project, member, observation)
    assert importance(observation) == pytest.approx(0.5 * 0.9**21 * 1.1)


@pytest.mark.parametrize("by_day", [False, True], ids=["conversation", "day"])
@pytest.mark.parametrize("seed", range(2))
def test_the_database_equals_the_naive_loop(project, member, monkeypatch, by_day, seed):
    monkeypatch.setitem(
        settings.FABRIC, "DECAY_TICK", "day" if by_day else "conversation"
    )
    chance = random.Random(seed)  # noqa: S311 - the same in every run
    naive, held, now = Naive(by_day=by_day), {}, NOON
    for name in range(5):
        kind = "decision" if name == 0 else "fact"
        held[name] = kept(project, member, f"Number {name}.", observation_type=kind)
        naive.add(name, is_protected=name == 0)
    for _ in range(45):
        event = chance.random()
        name = chance.randrange(5)
        ours = again(held[name])
        if event < 0.75:
            some = {n for n in held if chance.random() < 0.08}
            naive.end(some)
            talk(project, member, *(held[n] for n in some), now=now)
        elif event < 0.85:
            naive.next_day()
            now += timedelta(days=1)
        elif event < 0.92 and not naive.held[name].has_left:
            naive.pin(name, not naive.held[name].is_pinned)
            pin(ours, by=member, pinned=not ours.is_pinned)
        elif naive.held[name].has_left:
            naive.restore(name)
            restore(ours, by=member)
        rows = Observation.objects.select_related("scope").in_bulk()
        for number, observation in held.items():
            stored, expected = rows[observation.pk], naive.held[number]
            assert stored.counted.has_left(stored.scope.ticks) == expected.has_left
            if not expected.has_left:
                assert importance_of(stored) == pytest.approx(
                    expected.importance, rel=0, abs=1e-9
                )


def test_idle_conversations_are_those_nobody_goes_on_with(project, member):
    idle, running, fresh, ended = (make_conversation(project, member) for _ in range(4))
    Turn.objects.create(conversation=running, question="?", state=Turn.State.RUNNING)
    long_ago = NOON - timedelta(minutes=31)
    Conversation.objects.update(updated_at=long_ago)
    Conversation.objects.filter(pk=fresh.pk).update(updated_at=NOON)
    Conversation.objects.filter(pk=ended.pk).update(ended_at=NOON)
    Turn.objects.update(created_at=NOON)
    assert idle_conversations(NOON) == [idle]


class Killed(BaseException):
    """The process died here."""


def die(*_: object, **__: object) -> None:
    raise Killed


@pytest.mark.parametrize(
    "line", ["_scopes", "_tick", "_counted", "_write", "count_together", "execute"]
)
def test_killed_at_any_line_it_counts_once_when_it_is_ended_again(
    project, member, monkeypatch, line
):
    one, other = kept(project, member, "One."), kept(project, member, "Other.")
    conversation = make_conversation(project, member)
    refer(conversation, [one.pk, other.pk])
    monkeypatch.setattr(endings, line, die)
    with pytest.raises(Killed), transaction.atomic():
        end_conversation(conversation, now=NOON)
    monkeypatch.undo()
    assert importance(one) == 0.5
    end_conversation(conversation, now=NOON)
    assert importance(one) == importance(other) == pytest.approx(0.55)
    assert ticks_of(project, member) == 1


def test_its_statements_do_not_grow_with_what_is_remembered(project, member):
    def statements() -> int:
        used = [kept(project, member, f"{n} of {len(counts)}.") for n in range(8)]
        conversation = make_conversation(project, member)
        refer(conversation, [each.pk for each in used])
        with CaptureQueriesContext(connection) as queries:
            end_conversation(conversation, now=NOON)
        counts.append(len(queries))
        return counts[-1]

    counts: list[int] = []
    talk(project, member)
    assert statements() == statements() == 8


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def run(self, work, over):
        def one(each):
            try:
                return work(each)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(one, over))

    def test_two_ends_of_one_conversation_count_once(self):
        project = make_project()
        member = make_member(project, "member@acme.test")
        used = kept(project, member, "Used.")
        conversation = make_conversation(project, member)
        refer(conversation, [used.pk])
        ended = self.run(lambda _: end_conversation(conversation, now=NOON), range(8))
        assert sorted(end.referenced for end in ended) == [0] * 7 + [1]
        assert importance(used) == pytest.approx(0.55)

    def test_many_ends_at_once_count_each(self):
        project = make_project()
        users = [make_member(project, f"u{n}@acme.test") for n in range(3)]
        shared = kept(project, None, "Ours.")
        own = [kept(project, user, "Mine.") for user in users]
        conversations = [make_conversation(project, users[n % 3]) for n in range(24)]
        for number, conversation in enumerate(conversations):
            refer(conversation, [shared.pk, own[number % 3].pk])

        def end(conversation):
            return end_conversation(conversation, now=NOON).referenced

        assert self.run(end, conversations) == [2] * 24
        assert importance(shared) == 1.0
        assert Observation.objects.get(pk=shared.pk).conversations == 24
        for user, observation in zip(users, own, strict=True):
            assert ticks_of(project, user) == 8
            assert importance(observation) == pytest.approx(min(1, 0.5 * 1.1**8))
