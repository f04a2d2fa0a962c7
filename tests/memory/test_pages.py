"""The chat page: who sees what, and what it says when there is nothing to see."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from connections.models import Audit, Project, User
from memory.history import by_day
from memory.models import Conversation, Turn
from memory.shown import Piece, paragraphs, passage_pieces, quote_pieces, shown
from tests.factories import (
    make_audience,
    make_member,
    make_node,
    make_project,
    make_source,
)

pytestmark = pytest.mark.django_db

FRIDGE = "The compressor of the north fridge was replaced on Tuesday by Hollis."


@pytest.fixture
def page(member: User, client: Client) -> Client:
    client.force_login(member)
    return client


@pytest.fixture
def fridge(project: Project):
    return make_node(project, "slack:C1:1.0", FRIDGE, context="Ann · Monday · #cold")


def ask(page: Client, project: Project, question: str, **fields: str):
    data = {"project": project.pk, "question": question, **fields}
    return page.post(reverse("ask"), data)


def conversation_of(page: Client, project: Project) -> Conversation:
    ask(page, project, "Who replaced the compressor of the north fridge?")
    return Conversation.objects.get()


def test_who_is_not_signed_in_is_sent_to_the_login_page(client: Client) -> None:
    answer = client.get(reverse("chat"))
    assert answer.url == f"{reverse('login')}?next=/"


def test_a_session_that_ended_within_the_page_leads_to_the_login_page(
    client: Client,
) -> None:
    answer = client.post(reverse("ask"), headers={"HX-Request": "true"})
    assert answer.headers["HX-Redirect"].startswith(reverse("login"))


def test_without_a_project_it_says_what_to_do(client: Client, user: User) -> None:
    client.force_login(user)
    text = client.get("/").content.decode()
    assert "not in a project" in text
    assert user.email in text
    assert "<textarea" not in text


def test_an_empty_project_shows_the_commands_that_feed_it(
    page: Client, project: Project
) -> None:
    text = page.get("/").content.decode()
    command = f"manage.py ingest slack PATH --project {project.path}"
    assert command in text
    assert "<textarea" not in text


def test_without_a_choice_the_first_project_that_has_a_source_is_asked(
    page: Client, project: Project, member: User
) -> None:
    before = make_project("aaa/empty")
    make_member(before, member.email)
    page_of_it = page.get("/", {"project": before.path}).content.decode()
    assert "has something to ask about" not in page_of_it
    make_source(project)
    page_of_it = page.get("/", {"project": before.path}).content.decode()
    assert f'<a href="?project={project.path}">' in page_of_it
    assert "has something to ask about" in page_of_it
    page.logout()
    page.force_login(member)
    text = page.get("/").content.decode()
    assert f"--project {before.path}" not in text
    assert project.path in text


def test_an_answer_has_numbers_that_lead_to_cards(
    page: Client, project: Project, fridge
) -> None:
    answer = ask(page, project, "Who replaced the compressor of the north fridge?")
    turn = Turn.objects.get()
    assert answer.url == (
        f"{reverse('conversation', args=[turn.conversation_id])}#turn-{turn.pk}"
    )
    text = page.get(answer.url).content.decode()
    assert f'href="#turn-{turn.pk}-source-1"' in text
    assert f'id="turn-{turn.pk}-source-1"' in text
    assert reverse("node", args=[fridge.pk]) in text
    assert "<mark>" in text
    assert f"[Λ+{turn.effort:02d}]" in text
    assert "Function calls (1)" in text


def test_a_turn_comes_alone_with_the_list_of_conversations(
    page: Client, project: Project, fridge, outsider: User
) -> None:
    ask(page, project, "Who replaced the compressor?")
    turn = Turn.objects.get()
    address = reverse("turn", args=[turn.pk])
    text = page.get(address).content.decode()
    assert "<html" not in text
    assert f'id="turn-{turn.pk}"' in text
    assert 'id="history-list"' in text
    other = Client()
    other.force_login(outsider)
    assert other.get(address).status_code == 404


def test_a_source_never_becomes_markup(page: Client, project: Project) -> None:
    attack = "The compressor code is <script>alert(1)</script><b>bold</b> today."
    make_node(project, "slack:C1:2.0", attack)
    answer = ask(page, project, "What is the compressor code today?")
    text = page.get(answer.url).content.decode()
    assert "&lt;script&gt;" in text
    assert "<script>alert" not in text
    assert "<b>bold" not in text


def test_what_nothing_answers_is_said_with_what_was_searched(
    page: Client, project: Project, fridge
) -> None:
    answer = ask(page, project, "zebra quagga okapi?")
    text = page.get(answer.url).content.decode()
    assert "Searched:" in text
    assert "slack-export" in text
    assert "-source-1" not in text


def test_an_empty_question_is_refused_and_says_so(
    page: Client, project: Project, fridge
) -> None:
    answer = ask(page, project, "   ")
    assert answer.status_code == 422
    assert "Write a question first" in answer.content.decode()
    assert not Turn.objects.exists()


def test_a_question_that_is_too_long_is_kept_in_the_box(
    page: Client, project: Project, fridge
) -> None:
    answer = ask(page, project, "why " * 2000)
    assert answer.status_code == 422
    assert "why why" in answer.content.decode()


def test_another_tenants_project_cannot_be_asked(
    page: Client, other_project: Project, project: Project
) -> None:
    answer = ask(page, other_project, "Anything?")
    assert answer.status_code == 422
    assert "not a member" in answer.content.decode()
    assert page.get("/", {"project": other_project.path}).status_code == 404


def test_a_conversation_is_its_users_alone(
    page: Client, project: Project, fridge, outsider: User, client: Client
) -> None:
    mine = conversation_of(page, project)
    other = Client()
    other.force_login(outsider)
    for name in ("conversation", "conversation_delete"):
        assert other.get(reverse(name, args=[mine.pk])).status_code == 404
    rename = reverse("conversation_rename", args=[mine.pk])
    assert other.post(rename, {"title": "taken"}).status_code == 404
    assert mine.title not in other.get("/").content.decode()


def test_a_question_cannot_be_put_into_anothers_conversation(
    page: Client, project: Project, fridge, outsider: User
) -> None:
    mine = conversation_of(page, project)
    other = Client()
    other.force_login(outsider)
    answer = ask(other, project, "And?", conversation=str(mine.pk))
    assert answer.status_code == 422
    assert mine.turns.count() == 1


def test_an_answer_is_withheld_once_its_source_is_closed_to_the_user(
    page: Client, project: Project, fridge, outsider: User
) -> None:
    mine = conversation_of(page, project)
    address = reverse("conversation", args=[mine.pk])
    assert "Hollis" in page.get(address).content.decode()
    fridge.audience = make_audience(project, "channel:private", [outsider])
    fridge.save()
    text = page.get(address).content.decode()
    assert "Hollis" not in text
    assert "closed to you" in text


def test_a_conversation_is_renamed(page: Client, project: Project, fridge) -> None:
    mine = conversation_of(page, project)
    page.post(reverse("conversation_rename", args=[mine.pk]), {"title": "Cold store"})
    mine.refresh_from_db()
    assert mine.title == "Cold store"


def test_deleting_a_conversation_asks_first_and_is_audited(
    page: Client, project: Project, fridge
) -> None:
    mine = conversation_of(page, project)
    address = reverse("conversation_delete", args=[mine.pk])
    assert "Delete this conversation?" in page.get(address).content.decode()
    assert Conversation.objects.filter(pk=mine.pk).exists()
    page.post(address)
    assert not Conversation.objects.filter(pk=mine.pk).exists()
    assert Audit.objects.filter(verb="conversation.deleted", target=mine.pk).exists()


def test_a_conversation_that_does_not_exist_is_not_found(page: Client) -> None:
    assert page.get(reverse("conversation", args=[uuid.uuid4()])).status_code == 404


def test_the_project_used_last_is_chosen_again(
    page: Client, project: Project, member: User
) -> None:
    second = make_project("beta/main")
    make_member(second, member.email)
    assert f'value="{project.path}" selected' in page.get("/").content.decode()
    page.get("/", {"project": second.path})
    assert f'value="{second.path}" selected' in page.get("/").content.decode()


def test_sample_questions_can_be_asked_without_javascript(
    page: Client, project: Project, fridge
) -> None:
    with patch("memory.pages.sample_questions", return_value=["Is it <cold>?"]):
        text = page.get("/").content.decode()
    assert 'name="question" value="Is it &lt;cold&gt;?"' in text


def test_the_page_has_no_inline_script_or_style(
    page: Client, project: Project, fridge
) -> None:
    answer = ask(page, project, "Who replaced the compressor?")
    response = page.get(answer.url)
    text = response.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son\w+=", text)
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy


def test_conversations_are_grouped_by_day() -> None:
    now = timezone.now()
    ages = (0, 0, 1, 400)
    rows = [Conversation(updated_at=now - timedelta(days=age)) for age in ages]
    days = by_day(rows)
    assert [day.label for day in days[:2]] == ["Today", "Yesterday"]
    assert [len(day.conversations) for day in days] == [2, 1, 1]
    assert str((now - timedelta(days=400)).year) in days[2].label


def test_only_numbers_of_citations_become_links() -> None:
    (first, second) = paragraphs("Cold [1] and [7].\n\nWarm [2][1]", {1, 2})
    assert [piece.cited for piece in first] == [0, 1, 0]
    assert first[2].text == " and [7]."
    assert [piece.cited for piece in second] == [0, 2, 1]


def test_a_quote_is_marked_within_what_stands_around_it() -> None:
    content = "x " * 300 + "the very words" + " y" * 300
    before, quote, after = passage_pieces("the very words", content)
    assert quote == Piece("the very words", is_marked=True)
    assert before.text.startswith("\u2026")
    assert after.text.endswith("\u2026")
    assert len(before.text) <= 241


def test_a_quote_that_is_all_there_is_has_nothing_around_it() -> None:
    assert passage_pieces("all of it", "all of it ") == ()
    assert passage_pieces("not there", "something else") == ()


def test_a_quotes_words_are_never_changed_by_marking() -> None:
    assert quote_pieces("a <b> c", "a   \x02c\x03") == (Piece("a <b> c"),)
    marked = quote_pieces("a b c", "a \x02b\x03 c")
    assert "".join(piece.text for piece in marked) == "a b c"
    assert [piece.is_marked for piece in marked] == [False, True, False]


def test_the_questions_words_are_found_in_their_other_forms(
    page: Client, project: Project, member: User, fridge
) -> None:
    ask(page, project, "Who was replacing compressors of the north fridge?")
    card = shown(Turn.objects.select_related("conversation__project").get(), member)
    assert {"replaced", "compressor"} <= set(card.cards[0].shared)
