"""Memory over REST: whose it is, what may be done to it, what it answers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from memory.models import Conversation, MemoryScope, Observation
from memory.observations import current, pin, share
from memory.remembering import remember_once, remember_turn
from tests.connections.api.callers import token_client
from tests.factories import NOON, make_audience
from tests.memory.learning.turns import make_conversation, make_message, make_turn

URL = "/api/v1/memory/observations/"
DECISION = "We decided to use PostgreSQL for the ingest queue."
PROMISE = "I will send the report by Friday."

pytestmark = pytest.mark.django_db


@pytest.fixture
def mine(project, member):
    return token_client(member, project)


@pytest.fixture
def learned(project, member):
    """Two observations of the member's, of one conversation."""
    turn = make_turn(member, project, make_message(project, f"{DECISION} {PROMISE}"))
    remember_once(turn.pk)
    return {row.observation_type: row for row in current(project, member)}


def texts(client, **asked):
    answer = client.get(URL, asked)
    assert answer.status_code == 200, answer.json()
    return [row["text"] for row in answer.json()["results"]]


def test_a_list_holds_what_is_the_caller_s(
    learned, mine, project, outsider, stranger, other_project
):
    assert len(texts(mine)) == 2
    assert texts(token_client(outsider, project)) == []
    assert texts(token_client(stranger, other_project)) == []


def test_what_is_shared_is_for_those_who_may_see_its_evidence(
    project, member, outsider
):
    public = make_message(project, DECISION)
    closed = make_audience(project, "slack:G1", [member])
    secret = make_message(project, PROMISE, audience=closed)
    remember_once(make_turn(member, project, public, secret).pk)
    for row in current(project, member):
        share(row, by=member)
    client = token_client(outsider, project)
    assert texts(client) == [f"Ann Lee: {DECISION}"]
    (row,) = client.get(URL).json()["results"]
    assert (row["own"], row["is_shared"], row["conversation"]) == (False, True, None)
    hidden = Observation.objects.get(observation_type="commitment")
    assert client.get(f"{URL}{hidden.pk}/").status_code == 404


def test_a_list_is_filtered(learned, mine):
    decision = learned["decision"]
    assert texts(mine, type="decision") == [f"Ann Lee: {DECISION}"]
    assert texts(mine, q="report") == [f"Ann Lee: {PROMISE}"]
    assert texts(mine, project="acme/main", conversation=decision.conversation_id)
    assert texts(mine, state="left") == texts(mine, state="superseded") == []
    assert texts(mine, q="nowhere") == []


def test_what_left_and_what_was_superseded_is_listed_apart(
    learned, mine, project, member
):
    risk = {"type": "risk", "text": "The gateway may fail.", "project": "acme/main"}
    mine.post(URL, risk)
    MemoryScope.objects.filter(user=member).update(ticks=1000)
    newer = make_message(
        project,
        "We decided to use MySQL for the ingest queue.",
        said_at=NOON + timedelta(days=3),
    )
    remember_once(make_turn(member, project, newer).pk)
    assert texts(mine, state="left") == ["The gateway may fail."]
    assert texts(mine, state="superseded") == [f"Ann Lee: {DECISION}"]
    (row,) = mine.get(URL, {"state": "superseded"}).json()["results"]
    assert row["state"] == "superseded"
    assert row["valid_to"] == "2026-03-05T12:00:00Z"


def test_pages_go_on_where_the_last_one_ended(learned, mine):
    first = mine.get(URL, {"limit": 1}).json()
    second = mine.get(URL, {"limit": 1, "cursor": first["next_cursor"]}).json()
    ids = [row["id"] for page in (first, second) for row in page["results"]]
    assert sorted(ids, reverse=True) == ids
    assert len(set(ids)) == 2
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    "asked",
    [{"type": "rumour"}, {"state": "lost"}, {"conversation": "x"}, {"kind": "fact"}],
)
def test_what_is_no_filter_is_a_400(asked, mine):
    answer = mine.get(URL, asked)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


def test_one_is_shown_with_what_it_rests_on(learned, mine, project, outsider):
    row = learned["decision"]
    shown = mine.get(f"{URL}{row.pk}/").json()
    (evidence,) = shown["evidence"]
    assert evidence["quote"] == f"{DECISION} {PROMISE}"
    assert evidence["timestamp"] == "2026-03-02T12:00:00Z"
    assert (shown["importance"], shown["state"]) == (0.5, "current")
    assert shown["key"] == f"memory:{row.pk}"
    assert shown["fades_in"] is None, "decisions are protected"
    assert shown["valid_from"] == "2026-03-02T12:00:00Z"
    assert token_client(outsider, project).get(f"{URL}{row.pk}/").status_code == 404


def test_one_that_is_not_protected_says_when_it_fades(mine):
    asked = {"type": "fact", "text": "Soup is served at noon.", "project": "acme/main"}
    row = mine.post(URL, asked).json()["observation"]
    # 0.5 * 0.9 ** 22 is the first below 0.05.
    assert row["fades_in"] == 22


def test_evidence_that_is_closed_by_now_closes_what_rests_on_it(
    learned, mine, project, member, outsider
):
    node = learned["decision"].turn.citations.get().node
    closed = make_audience(project, "slack:G9", [outsider])
    type(node).objects.filter(pk=node.pk).update(audience=closed)
    row = learned["decision"]
    assert mine.get(f"{URL}{row.pk}/").json()["evidence"] == []


def test_remembering_by_hand(mine, project, member):
    asked = {
        "project": "acme/main",
        "type": "commitment",
        "text": "Bob will call Acme.",
        "who": "Bob Ray",
        "due_at": "2026-04-01T12:00:00Z",
    }
    answer = mine.post(URL, asked)
    assert answer.status_code == 201
    row = answer.json()["observation"]
    assert answer.json()["outcome"] == "added"
    assert (row["who"], row["status"], row["origin"]) == ("Bob Ray", "open", "hand")
    again = mine.post(URL, asked)
    assert (again.status_code, again.json()["outcome"]) == (200, "reinforced")
    assert Observation.objects.count() == 1


def test_remembering_by_hand_for_all(mine, project, outsider):
    asked = {"type": "fact", "text": "Soup is at noon.", "shared": True}
    assert mine.post(URL, asked).status_code == 201
    assert mine.post(URL, asked).status_code in (200, 201)
    assert "Soup is at noon." in texts(token_client(outsider, project))


@pytest.mark.parametrize(
    "asked",
    [
        {"type": "fact"},
        {"type": "rumour", "text": "x"},
        {"type": "fact", "text": " "},
        {"type": "fact", "text": "x" * 2001},
        {"type": "fact", "text": "x", "who": "Bob"},
        {"type": "fact", "text": "x", "evidence": [{"node": 0, "quote": "x"}]},
        {"type": "fact", "text": "x", "strength": 1},
    ],
)
def test_what_cannot_be_remembered_is_a_400(asked, mine):
    assert mine.post(URL, {"project": "acme/main", **asked}).status_code == 400
    assert not Observation.objects.exists()


@pytest.mark.parametrize("field", ["text", "why", "subject"])
def test_a_secret_is_refused_by_hand_too(field, mine):
    asked = {"type": "fact", "text": "The card.", field: "Card 4111 1111 1111 1111."}
    answer = mine.post(URL, asked)
    assert (answer.status_code, answer.json()["code"]) == (400, "holds_secret")
    assert "4111" not in answer.json()["detail"]
    assert not Observation.objects.exists()


def test_correcting_pinning_settling_and_sharing_at_once(
    learned, mine, project, outsider
):
    row = learned["commitment"]
    asked = {"text": "Ann sends it on Friday.", "status": "done", "pinned": True}
    answer = mine.patch(f"{URL}{row.pk}/", {**asked, "shared": True})
    assert answer.status_code == 200, answer.json()
    shown = answer.json()
    assert (shown["text"], shown["status"]) == ("Ann sends it on Friday.", "done")
    assert (shown["is_pinned"], shown["is_shared"]) == (True, True)
    assert "Ann sends it on Friday." in texts(token_client(outsider, project))


def test_a_correction_with_a_secret_changes_nothing(learned, mine):
    row = learned["decision"]
    asked = {"pinned": True, "text": "password: hunter2"}
    assert mine.patch(f"{URL}{row.pk}/", asked).json()["code"] == "holds_secret"
    shown = mine.get(f"{URL}{row.pk}/").json()
    assert (shown["text"], shown["is_pinned"]) == (f"Ann Lee: {DECISION}", False)


@pytest.mark.parametrize("asked", [{}, {"status": "lost"}, {"importance": 1}])
def test_what_is_no_correction_is_a_400(asked, learned, mine):
    answer = mine.patch(f"{URL}{learned['decision'].pk}/", asked)
    assert answer.status_code == 400


def test_what_another_shared_is_read_and_not_changed(
    learned, mine, project, member, outsider
):
    row = learned["decision"]
    share(row, by=member)
    client = token_client(outsider, project)
    assert client.get(f"{URL}{row.pk}/").status_code == 200
    answer = client.patch(f"{URL}{row.pk}/", {"text": "No."})
    assert (answer.status_code, answer.json()["code"]) == (403, "not_yours")
    assert client.delete(f"{URL}{row.pk}/").status_code == 403


def test_forgetting(learned, mine, project, outsider):
    row = learned["decision"]
    client = token_client(outsider, project)
    assert client.delete(f"{URL}{row.pk}/").status_code == 404
    assert mine.delete(f"{URL}{row.pk}/").status_code == 204
    assert texts(mine) == [f"Ann Lee: {PROMISE}"]
    assert not Observation.objects.filter(pk=row.pk).exists()


def test_what_left_is_brought_back(mine, member):
    asked = {"type": "fact", "text": "Soup is at noon."}
    pk = mine.post(URL, asked).json()["observation"]["id"]
    answer = mine.post(f"{URL}{pk}/restore/")
    assert (answer.status_code, answer.json()["code"]) == (400, "memory_refused")
    MemoryScope.objects.filter(user=member).update(ticks=1000)
    assert texts(mine) == []
    assert mine.post(f"{URL}{pk}/restore/").json()["state"] == "current"
    assert texts(mine) == ["Soup is at noon."]


@pytest.mark.parametrize("method", ["post", "patch", "delete"])
def test_changing_needs_the_scope(method, learned, project, member):
    client = token_client(member, project, ("read", "ask"))
    path = URL if method == "post" else f"{URL}{learned['decision'].pk}/"
    answer = getattr(client, method)(path, {"type": "fact", "text": "x"})
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")


def test_a_list_costs_as_much_for_many_as_for_few(
    mine, project, django_assert_max_num_queries
):
    for n in range(12):
        mine.post(URL, {"type": "fact", "text": f"Room {n} is on floor {n * 7}."})
    with django_assert_max_num_queries(12):
        assert len(texts(mine)) == 12


# --- what a session starts with --------------------------------------------------------


def test_a_context_has_what_is_pinned_open_strong_and_new(
    learned, mine, project, member, outsider
):
    pin(learned["decision"], by=member)
    late = {"type": "commitment", "text": "Bob will call.", "who": "Bob"}
    mine.post(URL, {**late, "due_at": "2026-01-01T00:00:00Z"})
    MemoryScope.objects.filter(user=member).update(ticks=2000)
    Observation.objects.filter(pk=learned["commitment"].pk).update(
        strength=0.9, counted_at=1999
    )
    asked = {"project": "acme/main", "limit": 2}
    found = mine.get("/api/v1/memory/context/", asked).json()
    said = {
        name: [row["text"] for row in found[name]]
        for name in found
        if name != "project"
    }
    assert said["pinned"] == [f"Ann Lee: {DECISION}"]
    assert said["commitments"] == ["Bob will call.", f"Ann Lee: {PROMISE}"]
    assert said["strongest"] == [f"Ann Lee: {PROMISE}", f"Ann Lee: {DECISION}"]
    assert said["latest"][0] == "Bob will call."
    theirs = token_client(outsider, project).get("/api/v1/memory/context/", asked)
    assert {len(theirs.json()[name]) for name in said} == {0}


def test_a_settled_promise_is_not_open(learned, mine):
    mine.patch(f"{URL}{learned['commitment'].pk}/", {"status": "done"})
    assert mine.get("/api/v1/memory/context/").json()["commitments"] == []


def test_a_stranger_has_no_context(learned, stranger, other_project):
    client = token_client(stranger, other_project)
    asked = {"project": "acme/main"}
    assert client.get("/api/v1/memory/context/", asked).status_code == 404


# --- bringing up to date ---------------------------------------------------------------


def test_a_sync_sends_what_waits_and_does_nothing_twice(
    mine, project, member, outsider, monkeypatch, django_capture_on_commit_callbacks
):
    waiting = make_turn(member, project, make_message(project, DECISION))
    make_turn(outsider, project, make_message(project, PROMISE))
    monkeypatch.setattr(remember_turn, "delay", remember_once)

    def synced():
        with django_capture_on_commit_callbacks(execute=True):
            return mine.post("/api/v1/memory/sync/", {"project": "acme/main"}).json()

    first = synced()
    assert first["turns"] == 1
    assert first["texts"] > 0
    waiting.refresh_from_db()
    assert waiting.remembered_at is not None
    synced()  # reads the text of what was remembered
    assert synced() == {"turns": 0, "texts": 0}
    assert len(texts(mine)) == 1


# --- conversations ---------------------------------------------------------------------


def test_a_conversation_is_renamed_and_pinned(mine, project, member, outsider):
    found = make_conversation(member, project)
    path = f"/api/v1/memory/conversations/{found.pk}/"
    answer = mine.patch(path, {"title": "Plans", "pinned": True})
    assert answer.status_code == 200
    shown = answer.json()
    assert (shown["title"], shown["is_pinned"]) == ("Plans", True)
    assert mine.patch(path, {}).status_code == 400
    assert mine.patch(path, {"user": 7}).status_code == 400
    other = token_client(outsider, project)
    assert other.patch(path, {"title": "Mine"}).status_code == 404
    assert Conversation.objects.get(pk=found.pk).title == "Plans"


def test_a_conversation_ends_once(learned, mine, project, member, outsider):
    conversation = make_conversation(member, project)
    node = learned["decision"].turn.citations.get().node
    remember_once(make_turn(member, project, node, conversation=conversation).pk)
    path = f"/api/v1/memory/conversations/{conversation.pk}/end/"
    assert token_client(outsider, project).post(path).status_code == 404
    first = mine.post(path).json()
    assert first["referenced"] == 2
    ticks = MemoryScope.objects.get(user=member).ticks
    second = mine.post(path).json()
    assert second == {"ended_at": first["ended_at"], "referenced": 0}
    assert MemoryScope.objects.get(user=member).ticks == ticks == 1


def test_the_time_of_an_end_is_now(mine, project, member):
    conversation = make_conversation(member, project)
    mine.post(f"/api/v1/memory/conversations/{conversation.pk}/end/")
    conversation.refresh_from_db()
    assert timezone.now() - conversation.ended_at < timedelta(minutes=1)
