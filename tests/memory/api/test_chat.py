from __future__ import annotations

import json
import uuid
from typing import get_args

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient

from connections.models import Audit
from memory.agent import run
from memory.agent.events import Name
from memory.api import stream
from memory.conversations import start_conversation
from memory.models import Conversation, Turn
from tests.connections.api.callers import SECRET_WORD, session_client, token_client
from tests.factories import NOON, make_member, make_project, make_token

URL = "/api/v1/chat/"
QUESTION = "When is the launch?"


def test_an_answer_cites_its_sources_and_is_kept(world, member):
    asked = {"project": "acme/main", "question": QUESTION}
    body = token_client(member, world.project).post(URL, asked).json()
    assert body.keys() >= {
        "conversation",
        "turn",
        "answer",
        "grounded",
        "citations",
        "sql",
        "calls",
        "lambda",
        "model",
    }
    assert body["grounded"]
    assert body["citations"][0]["key"] == world.first.key
    assert "[1]" in body["answer"]
    turn = Turn.objects.get(pk=body["turn"])
    assert str(turn.conversation_id) == body["conversation"]
    assert turn.conversation.user == member


def test_a_question_is_audited(world, member):
    token_client(member, world.project).post(URL, {"question": QUESTION})
    row = Audit.objects.get(verb="question.asked")
    assert (row.actor, row.project) == (member, world.project)


def test_an_answer_says_nothing_the_caller_may_not_see(world, member, outsider):
    asked = {"question": f"What is the price of {SECRET_WORD}?"}
    mine = token_client(member, world.project).post(URL, asked).json()
    theirs = token_client(outsider, world.project).post(URL, asked).json()
    assert "nine" in mine["answer"]
    assert "nine" not in json.dumps(theirs)
    assert world.secret.key not in json.dumps(theirs)


def test_a_conversation_goes_on(world, member):
    client = token_client(member, world.project)
    first = client.post(URL, {"question": QUESTION}).json()
    asked = {"question": "And then?", "conversation": first["conversation"]}
    second = client.post(URL, asked).json()
    assert second["conversation"] == first["conversation"]
    assert Turn.objects.filter(conversation=first["conversation"]).count() == 2


def test_a_conversation_says_which_project_it_is_of(world, member):
    make_member(make_project("acme/second"), member.email)
    client = session_client(member)
    assert client.post(URL, {"question": QUESTION}).status_code == 400
    first = client.post(URL, {"project": "acme/main", "question": QUESTION}).json()
    going_on = {"question": QUESTION, "conversation": first["conversation"]}
    assert client.post(URL, going_on).status_code == 200
    answer = client.post(URL, {**going_on, "project": "acme/second"})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["project"])


def test_a_conversation_of_another_is_a_404(world, member, outsider):
    first = token_client(member, world.project).post(URL, {"question": QUESTION}).json()
    asked = {"question": QUESTION, "conversation": first["conversation"]}
    assert token_client(outsider, world.project).post(URL, asked).status_code == 404
    asked["conversation"] = str(uuid.uuid4())
    assert token_client(member, world.project).post(URL, asked).status_code == 404


def test_a_stranger_gets_a_404(world, stranger, other_project):
    asked = {"project": "acme/main", "question": QUESTION}
    for stream_too in (False, True):
        client = token_client(stranger, other_project)
        answer = client.post(URL, {**asked, "stream": stream_too})
        assert answer.status_code == 404


def test_asking_needs_its_own_scope(world, member):
    answer = token_client(member, world.project, ("read",)).post(URL, {"question": "x"})
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")
    assert "'ask'" in answer.json()["detail"]
    assert not Conversation.objects.exists()


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"question": ""},
        {"question": " "},
        {"question": "x" * 4001},
        {"question": "\x00"},
        {"question": "x", "conversation": "y"},
        {"question": "x", "stream": "perhaps"},
        {"question": "x", "model": "y"},
    ],
)
def test_what_cannot_be_asked_is_a_400(asked, world, member):
    assert token_client(member, world.project).post(URL, asked).status_code == 400
    assert not Turn.objects.exists()


def test_an_answer_costs_a_bounded_number_of_queries(
    world, member, django_assert_max_num_queries
):
    client = token_client(member, world.project)
    client.post(URL, {"question": QUESTION})
    # three more than an answer alone: its turn is a row before it is answered; two more
    # tell that there is no database to be asked; one reads after how many days what is
    # cited counts as old; one tells in which languages an uncounted word may be one
    with django_assert_max_num_queries(52):
        client.post(URL, {"question": QUESTION})


# --- as server-sent events ------------------------------------------------------------


def stream_of(user, project, headers=None, **asked):
    """Return the response to a streamed question and its events."""
    token = make_token(user, project.tenant)

    async def read():
        response = await AsyncClient().post(
            URL,
            {"question": QUESTION, **asked},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}", **(headers or {})},
        )
        assert response.streaming, response.content
        return response, b"".join([part async for part in response])

    response, body = async_to_sync(read)()
    return response, [parsed(block) for block in body.decode().split("\n\n") if block]


def parsed(block: str) -> tuple[str, dict]:
    name, data = block.split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_a_stream_begins_with_a_status_and_ends_with_the_whole_answer(world, member):
    response, events = stream_of(member, world.project, stream=True)
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-cache"
    assert response["X-Accel-Buffering"] == "no"
    names = [name for name, _ in events]
    assert (names[0], names[-1]) == ("status", "done")
    assert set(names) <= set(get_args(Name))
    done = events[-1][1]
    told = "".join(data["text"] for name, data in events if name == "delta")
    assert told == done["answer"]
    assert [data for name, data in events if name == "citation"] == done["citations"]
    assert Turn.objects.get(pk=done["turn"]).answer == told


def test_a_source_is_told_before_the_words_that_rest_on_it(world, member):
    _, events = stream_of(member, world.project, stream=True)
    names = [name for name, _ in events]
    assert names.index("sources") < names.index("delta") < names.index("citation")


def test_who_accepts_only_events_gets_events(world, member):
    headers = {"Accept": "text/event-stream"}
    response, events = stream_of(member, world.project, headers=headers)
    assert response["Content-Type"] == "text/event-stream"
    assert events[-1][0] == "done"


def test_a_failure_in_a_stream_is_an_event_that_holds_the_problem(
    world, member, monkeypatch, caplog
):
    def fail(*args, **kwargs):
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(run, "answer_offline", fail)
    _, events = stream_of(member, world.project, stream=True)
    name, problem = events[-1]
    assert (name, problem["status"], problem["code"]) == ("error", 500, "internal")
    assert "fire" not in str(events)
    assert "the disk is on fire" in caplog.text


def test_a_long_wait_is_filled_with_pings(world, member, monkeypatch):
    monkeypatch.setattr(stream, "PING_SECONDS", 0.0)
    _, events = stream_of(member, world.project, stream=True)
    assert "ping" in [name for name, _ in events]
    assert events[-1][0] == "done"


# --- stopping -------------------------------------------------------------------------


def test_a_running_turn_is_stopped_by_its_reader_alone(
    world, member, outsider, stranger, other_project
):
    conversation = start_conversation(world.project, member, "x")
    turn = Turn.objects.create(conversation=conversation, question="?", state="running")
    url = f"{URL}turns/{turn.pk}/stop/"
    for user, project in ((outsider, world.project), (stranger, other_project)):
        assert token_client(user, project).post(url).status_code == 404
    turn.refresh_from_db()
    assert turn.state == "running"
    client = token_client(member, world.project)
    for _ in range(2):
        answer = client.post(url)
        assert answer.json() == {"turn": turn.pk, "state": "stopped"}
    assert token_client(member, world.project, ("read",)).post(url).status_code == 403


def test_a_turn_that_had_ended_stays_as_it_is(world, member):
    client = token_client(member, world.project)
    turn = client.post(URL, {"question": QUESTION}).json()["turn"]
    assert client.post(f"{URL}turns/{turn}/stop/").json()["state"] == "done"


def test_a_turn_whose_process_died_reads_as_failed(world, member):
    conversation = start_conversation(world.project, member, "x")
    Turn.objects.create(
        conversation=conversation, question="?", answer="So far", state="running"
    )
    Conversation.objects.update(updated_at=NOON)
    client = token_client(member, world.project)
    body = client.get(f"/api/v1/memory/conversations/{conversation.pk}/").json()
    turn = body["turns"][0]
    assert (turn["state"], turn["answer"]) == ("failed", "So far")
    assert "Ask again" in turn["error"]


def test_a_guess_is_taken_back_by_its_name(world, member):
    asked = {"question": "What was said last week?", "ignore": ["time"]}
    body = token_client(member, world.project).post(URL, asked).json()
    assert Turn.objects.get(pk=body["turn"]).parsed["filters"] == {}
