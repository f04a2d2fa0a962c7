from __future__ import annotations

import uuid

import pytest

from connections.models import ApiToken, AudienceMember, Audit
from graph.models import Node
from memory.ask import ask
from memory.models import Conversation, Turn
from tests.connections.api.callers import SECRET_WORD, session_client, token_client
from tests.factories import make_member, make_project

URL = "/api/v1/memory/conversations/"
QUESTION = "When is the launch?"


@pytest.fixture
def conversation(world, member) -> Conversation:
    answered = ask(world.project, QUESTION, user=member)
    return Conversation.objects.get(pk=answered.conversation)


def test_a_list_holds_ones_own_the_newest_first(world, member, outsider):
    asked = [
        str(ask(world.project, question, user=user).conversation)
        for user, question in ((member, "One?"), (outsider, "Two?"), (member, "Three?"))
    ]
    rows = token_client(member, world.project).get(URL).json()["results"]
    assert [row["id"] for row in rows] == [asked[2], asked[0]]
    assert rows[0]["title"] == "Three?"
    assert rows[0]["project"] == "acme/main"


def test_pages_hold_every_conversation_once(world, member):
    made = [
        str(ask(world.project, f"{n}?", user=member).conversation) for n in range(5)
    ]
    client, seen, cursor = token_client(member, world.project), [], ""
    while cursor is not None:
        page = client.get(URL, {"limit": 2, "cursor": cursor}).json()
        seen += [row["id"] for row in page["results"]]
        cursor = page["next_cursor"]
    assert seen == made[::-1]


def test_a_conversation_is_read_with_its_turns_and_citations(
    conversation, world, member
):
    ask(world.project, "And who agreed?", user=member, conversation=conversation)
    body = token_client(member, world.project).get(f"{URL}{conversation.pk}/").json()
    assert [turn["question"] for turn in body["turns"]] == [QUESTION, "And who agreed?"]
    first = body["turns"][0]
    assert first["answer"]
    assert not first["withheld"]
    cited = first["citations"][0]
    assert (cited["n"], cited["key"], cited["type"]) == (1, world.first.key, "message")
    assert cited["quote"] in world.first.content


def test_a_conversation_of_another_is_a_404(
    conversation, world, outsider, stranger, other_project
):
    for user, project in ((outsider, world.project), (stranger, other_project)):
        client = token_client(user, project)
        for method in (client.get, client.delete):
            assert method(f"{URL}{conversation.pk}/").status_code == 404
    assert Conversation.objects.filter(pk=conversation.pk).exists()


@pytest.mark.parametrize("pk", [uuid.uuid4(), "x", "1"])
def test_a_conversation_that_is_not_there_is_a_404(pk, world, member):
    answer = token_client(member, world.project).get(f"{URL}{pk}/")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_an_answer_from_what_is_closed_by_now_is_withheld(world, member):
    asked = ask(world.project, f"What is the price of {SECRET_WORD}?", user=member)
    assert "nine" in asked.answer
    client, url = token_client(member, world.project), f"{URL}{asked.conversation}/"
    AudienceMember.objects.filter(audience=world.secret.audience, user=member).delete()
    answer = client.get(url)
    (turn,) = answer.json()["turns"]
    assert turn["withheld"]
    assert turn["answer"] == ""
    assert "nine" not in answer.content.decode()


def test_what_was_cited_is_kept_as_text_when_its_node_is_erased(conversation, member):
    Turn.objects.get().citations.update(node=None)
    body = session_client(member).get(f"{URL}{conversation.pk}/").json()
    cited = body["turns"][0]["citations"][0]
    assert (cited["node_id"], cited["gone"]) == (None, True)
    assert cited["quote"]


def test_who_left_the_project_has_no_conversations_there(conversation, world, member):
    client = session_client(member)
    world.project.memberships.filter(user=member).delete()
    assert client.get(URL).json()["results"] == []
    assert client.get(f"{URL}{conversation.pk}/").status_code == 404


def test_a_conversation_is_deleted_with_its_turns_and_the_act_is_audited(
    conversation, world, member
):
    client = token_client(member, world.project)
    assert client.delete(f"{URL}{conversation.pk}/").status_code == 204
    assert not Turn.objects.exists()
    assert Node.objects.filter(pk=world.first.pk).exists()
    row = Audit.objects.get(verb="conversation.deleted")
    assert (row.target, row.actor) == (str(conversation.pk), member)
    assert row.token_id == ApiToken.objects.get().pk


def test_deleting_needs_its_own_scope(conversation, world, member):
    client = token_client(member, world.project, ("read", "ask"))
    assert client.get(f"{URL}{conversation.pk}/").status_code == 200
    answer = client.delete(f"{URL}{conversation.pk}/")
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")
    assert Conversation.objects.filter(pk=conversation.pk).exists()


def test_a_token_shows_the_conversations_of_its_tenant_only(
    conversation, world, member, other_project
):
    make_member(other_project, member.email)
    ask(other_project, "Elsewhere?", user=member)
    ours = token_client(member, world.project).get(URL).json()["results"]
    assert [row["id"] for row in ours] == [str(conversation.pk)]
    assert len(session_client(member).get(URL).json()["results"]) == 2


def test_reading_costs_the_same_with_more_turns(
    conversation, world, member, django_assert_max_num_queries
):
    for n in range(4):
        ask(world.project, f"{QUESTION} {n}", user=member, conversation=conversation)
    client = token_client(member, world.project)
    client.get(URL)
    # the token; audiences and conversation; turns that died; turns, citations, nodes,
    # records; audiences and what is open
    # One of them reads the tables that the answers showed, one after how many days what
    # is cited counts as old.
    with django_assert_max_num_queries(12):
        body = client.get(f"{URL}{conversation.pk}/").json()
    assert len(body["turns"]) == 5


def test_a_list_costs_the_same_with_more_projects(
    conversation, member, django_assert_max_num_queries
):
    for n in range(4):
        project = make_project(f"acme/p{n}")
        make_member(project, member.email)
        ask(project, QUESTION, user=member)
    client = session_client(member)
    client.get(URL)
    with django_assert_max_num_queries(4):
        assert len(client.get(URL).json()["results"]) == 5
