"""The memory page: whose it is, what it shows, what can be done."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.models import Project, User
from memory.kept import fades, in_memory, shown_kept
from memory.models import MemoryScope, Observation, Turn
from memory.observations import pin, share
from tests.factories import make_audience, make_node
from tests.memory.memories import again, kept, make_conversation

pytestmark = pytest.mark.django_db

TEXT = "Hollis has the key of the cold store."


@pytest.fixture
def node(project: Project):
    return make_node(project, "slack:C1:1.0", TEXT, title="Key")


@pytest.fixture
def mine(project: Project, member: User, node) -> Observation:
    talk = make_conversation(project, member)
    return kept(project, member, TEXT, node, conversation=talk, now=timezone.now())


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


def text_of(page: Client, **asked: str) -> str:
    return page.get(reverse("memory"), asked).content.decode()


def act(page: Client, row: Observation, name: str, **sent: str):
    address = reverse("observation_change", args=[row.pk, name])
    return page.post(address, sent, headers={"HX-Request": "true"})


def test_an_empty_memory_says_what_it_is(page: Client, project: Project) -> None:
    assert "Nothing is remembered yet" in text_of(page)


def test_it_shows_why_from_where_and_how_strong(page: Client, mine, node) -> None:
    text = text_of(page)
    assert TEXT in text
    assert f'href="{reverse("node", args=[node.pk])}"' in text
    assert reverse("conversation", args=[mine.conversation_id]) in text
    assert "Strength 50 %" in text
    assert "Why (1 source)" in text
    assert "more conversations without it" in text


def test_nobody_else_sees_it_or_changes_it(
    mine, outsider: User, stranger: User, client: Client
) -> None:
    for user in (outsider, stranger):
        client.force_login(user)
        assert TEXT not in text_of(client)
        assert act(client, mine, "forget").status_code == 404
    assert Observation.objects.filter(pk=mine.pk).exists()


def test_what_is_shared_is_read_by_others_but_changed_by_its_owner(
    mine, member: User, outsider: User, client: Client
) -> None:
    share(mine, by=member)
    client.force_login(outsider)
    text = text_of(client, state="shared")
    assert TEXT in text
    assert "Forget" not in text
    assert "From a conversation of somebody else" in text
    said = act(client, mine, "correct", text="Mine now.")
    assert 'role="alert"' in said.content.decode()
    assert again(mine).node.content == TEXT


def test_a_shared_one_is_gone_where_its_source_is_closed(
    mine, node, member: User, outsider: User, project: Project, client: Client
) -> None:
    hidden = make_node(
        project,
        "slack:C2:1.0",
        "The safe is open.",
        audience=make_audience(project, "channel:private", [member]),
    )
    row = kept(project, member, "The safe is open.", hidden, now=timezone.now())
    share(row, by=member)
    client.force_login(outsider)
    assert "The safe is open" not in text_of(client)


def test_it_is_corrected_pinned_shared_and_forgotten(page: Client, mine) -> None:
    said = act(page, mine, "correct", text="Ben has the key.").content.decode()
    assert "Ben has the key." in said
    assert act(page, mine, "correct", text=" ").content.count(b"Write what is right")
    assert b"Pinned: it does not fade" in act(page, mine, "pin", yes="yes").content
    assert b"Stop sharing" in act(page, mine, "share", yes="yes").content
    assert b"It is forgotten" in act(page, mine, "forget").content
    assert not Observation.objects.exists()
    assert act(page, mine, "burn").status_code == 404


def test_what_left_is_listed_apart_and_restored(page: Client, mine) -> None:
    left = {"left_at": timezone.now(), "left_because": "faded", "leaves_at": None}
    Observation.objects.filter(pk=mine.pk).update(**left)
    assert TEXT not in text_of(page)
    assert "can be brought back" in text_of(page, state="left")
    act(page, mine, "restore")
    assert TEXT in text_of(page)


def test_what_has_faded_counts_as_left_before_the_sweep(
    page: Client, mine, member: User
) -> None:
    MemoryScope.objects.filter(pk=mine.scope_id).update(ticks=99)
    assert TEXT not in text_of(page)
    assert TEXT in text_of(page, state="left")


def test_the_newer_one_shows_what_it_replaced(
    page: Client, project: Project, member: User
) -> None:
    now = timezone.now()
    for text in ("Hollis has the key.", "Ben has the key now."):
        kept(project, member, text, subject="the key", now=now)
    current = text_of(page)
    assert "<del>Hollis has the key.</del>" in current
    assert "Replaced by" in text_of(page, state="superseded")


def test_commitments_have_a_date_and_are_done(
    page: Client, project: Project, member: User
) -> None:
    due = timezone.now() - timedelta(days=1)
    row = kept(
        project,
        member,
        "Ann hands the key back.",
        observation_type="commitment",
        who="Ann",
        due_at=due,
        status="open",
        now=timezone.now(),
    )
    text = text_of(page, type="commitment")
    assert "open, overdue" in text
    assert "by Ann" in text
    assert b'badge good">done' in act(page, row, "status", status="done").content
    assert b"no status" in act(page, row, "status", status="burnt").content


def test_it_is_filtered_and_searched(page: Client, mine) -> None:
    assert TEXT in text_of(page, q="KEY hollis")
    assert "Nothing fits" in text_of(page, q="zebra")
    assert "Nothing fits" in text_of(page, type="risk")
    assert "Nothing fits" in text_of(page, state="pinned")
    assert TEXT in text_of(page, state="no such state")


def test_under_an_answer_stands_what_was_remembered_from_it(page: Client, mine) -> None:
    turn = Turn.objects.create(conversation=mine.conversation, question="Who?")
    address = reverse("turn_remembered", args=[turn.pk])
    assert "Looking for" in page.get(address).content.decode()
    Turn.objects.filter(pk=turn.pk).update(remembered_at=timezone.now())
    assert "Nothing was remembered" in page.get(address).content.decode()
    Observation.objects.filter(pk=mine.pk).update(turn=turn)
    text = page.get(address).content.decode()
    assert "What was remembered from this (1)" in text
    assert TEXT in text


def test_a_list_is_read_in_a_fixed_number_of_questions(
    project: Project, member: User, node, django_assert_max_num_queries
) -> None:
    for n in range(5):
        kept(project, member, f"{n} keys.", now=timezone.now())
    with django_assert_max_num_queries(12):
        assert len(shown_kept(in_memory(project, member), member)) == 5


def test_fading_is_said_in_words(mine, member: User) -> None:
    assert fades(mine).startswith("Leaves after 22 more conversation")
    pin(mine, by=member)
    assert fades(again(mine)) == "Pinned: it does not fade."
