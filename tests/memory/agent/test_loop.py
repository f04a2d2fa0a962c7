from __future__ import annotations

import threading
import time

import pytest
from django.conf import settings

from connections.providers.chat import (
    BadAnswer,
    Delta,
    Finished,
    ModelRefused,
    ModelUnavailable,
)
from connections.usage import BudgetSpent
from memory.agent import loop, storing
from memory.agent.run import Answering, Asked, run
from memory.conversations import load_answer
from memory.models import Conversation, Turn
from tests.factories import NOON
from tests.memory.agent.models import USAGE, ScriptedModel, calls, says

pytestmark = pytest.mark.django_db
QUESTION = "Why did the pump of line 4 fail?"
GOOD = "The pump of line 4 failed because its seal was dry [1]."


def ask(project, user, question=QUESTION, *, conversation=None, stop=lambda: False):
    asked = Asked(
        project=project, user=user, question=question, conversation=conversation
    )
    return list(run(asked, stop=stop))


def data(events, name):
    return [event.data for event in events if event.name == name]


class TestAnswers:
    def test_a_model_s_answer_streams_with_the_citations_it_names(
        self, project, corpus, member, use
    ):
        model = use(ScriptedModel([says(GOOD)]))
        events = ask(project, member)
        assert events[0].name == "status"
        done = data(events, "done")[0]
        assert (
            done["answer"] == GOOD == "".join(d["text"] for d in data(events, "delta"))
        )
        assert [c["key"] for c in done["citations"]] == ["m1"]
        assert done["citations"] == data(events, "citation")
        assert done["citations"][0]["quote"] == corpus[0].content
        assert done["grounded"]
        assert done["model"] == model.model
        assert load_answer(Turn.objects.get()).as_json() == done

    def test_a_model_reads_by_tools_and_every_call_is_recorded(
        self, project, corpus, member, use
    ):
        model = use(
            ScriptedModel(
                [
                    calls("search", {"query": "lunch canteen"}),
                    says("Lunch is at noon in the canteen of Hamburg [1]."),
                ]
            )
        )
        events = ask(project, member, "When do we eat?")
        made = data(events, "call")
        assert [call["name"] for call in made] == ["search", "search"]
        assert made[1]["arguments"] == {"query": "lunch canteen"}
        assert made[1]["result_count"] > 0
        assert data(events, "done")[0]["calls"] == made
        assert model.asked[1][-1].role == "tool"
        assert "canteen of Hamburg" in model.asked[1][-1].text

    def test_sources_are_fenced_by_a_new_mark_in_every_request(
        self, project, corpus, member, use
    ):
        model = use(ScriptedModel([says(GOOD)]))
        for _ in range(2):
            ask(project, member)
        marks = [
            s.partition("two marks, ")[2].partition(". What")[0] for s in model.systems
        ]
        assert marks[0] != marks[1]
        assert len(marks[0]) > 20
        told = model.asked[0][-1].text
        assert told.index(marks[0]) < told.index("its seal was dry")
        assert told.count(marks[0]) % 2 == 0

    def test_an_unknown_number_is_taken_out_and_counted(
        self, project, corpus, member, use
    ):
        use(ScriptedModel([says(f"{GOOD} It rained [77].")]))
        done = data(ask(project, member), "done")[0]
        assert "77" not in done["answer"]
        turn = Turn.objects.get()
        assert turn.unknown_numbers == 1
        assert not turn.grounded

    @pytest.mark.parametrize(
        "said",
        [
            "Aliens broke it [1].",
            "The pump of line 5 failed because its seal was dry [1].",
            "The pump of line 4 failed because Bob's seal was dry [1].",
            "The pump of line 4 failed because its seal was dry [2].",
        ],
    )
    def test_what_its_source_does_not_say_is_not_grounded_and_says_so(
        self, project, corpus, member, use, said
    ):
        use(ScriptedModel([says(said)]))
        done = data(ask(project, member), "done")[0]
        assert not done["grounded"]
        assert loop.UNSUPPORTED in done["answer"]
        assert [one["numbers"] for one in done["support"]] == [[]]

    def test_each_sentence_tells_what_bears_it_out(self, project, corpus, member, use):
        use(ScriptedModel([says(f"{GOOD} Bob wept about it all night.")]))
        done = data(ask(project, member), "done")[0]
        assert [one["numbers"] for one in done["support"]] == [[1], []]
        assert not done["grounded"]
        assert loop.UNSUPPORTED not in done["answer"]

    def test_words_before_a_call_are_not_judged(self, project, corpus, member, use):
        use(
            ScriptedModel(
                [calls("search", {"query": "pump"}, said="I look it up."), says(GOOD)]
            )
        )
        done = data(ask(project, member), "done")[0]
        assert done["answer"] == f"I look it up.\n\n{GOOD}"
        assert done["grounded"]

    def test_the_models_only_see_what_the_asker_may(self, world, outsider, use):
        model = use(ScriptedModel([calls("search", {"query": "batteries"}), says("-")]))
        ask(world.project, outsider, "batteries")
        read = "".join(m.text for asked in model.asked for m in asked)
        assert not any(node.content in read for node in world.closed)
        assert any(node.content in read for node in world.open)


class TestBounds:
    @pytest.mark.parametrize(
        ("name", "arguments", "wrong"),
        [
            ("fly", {}, "no tool 'fly'"),
            ("search", None, "no JSON object"),
            ("search", {"query": 3}, "query"),
            ("search", {"query": "x", "depth": 3}, "depth"),
            ("walk", {"of": "nobody at all"}, "search for it"),
            ("search", {"query": "x", "since": "yesterday-ish"}, "no day"),
        ],
    )
    def test_a_call_that_cannot_be_made_is_an_error_that_the_model_may_put_right(
        self, project, corpus, member, use, name, arguments, wrong
    ):
        model = use(ScriptedModel([calls(name, arguments), says(GOOD)]))
        events = ask(project, member)
        assert wrong in data(events, "call")[1]["error"]
        assert "failed" in model.asked[1][-1].text
        assert data(events, "done")[0]["grounded"]

    def test_a_loop_that_never_answers_ends_after_its_steps(
        self, project, corpus, member, use, monkeypatch
    ):
        monkeypatch.setitem(settings.FABRIC, "AGENT_STEPS", 3)
        model = use(ScriptedModel([calls("search", {"query": "pump"})]))
        events = ask(project, member)
        assert len(model.asked) == 3
        assert len(data(events, "call")) == 2, "the same call is made once"
        error = data(events, "error")[0]
        assert (error["code"], error["can_retry"]) == ("too_many_steps", True)
        assert Turn.objects.get().state == Turn.State.FAILED

    def test_what_was_spent_ends_the_calling_of_tools(
        self, project, corpus, member, use, monkeypatch
    ):
        monkeypatch.setitem(settings.FABRIC, "AGENT_TOKENS", 100)
        model = use(ScriptedModel([calls("search", {"query": "a"}), says(GOOD)]))
        ask(project, member)
        assert "Answer now" in model.asked[1][-1].text

    def test_time_ends_an_answer_that_goes_on_and_on(
        self, project, corpus, member, use, monkeypatch
    ):
        monkeypatch.setitem(settings.FABRIC, "AGENT_SECONDS", 0.6)
        use(ScriptedModel([[Delta("It "), 0.4, Delta("goes "), 0.4, Delta("on "), 30]]))
        started = time.monotonic()
        error = data(ask(project, member), "error")[0]
        assert "longer than" in error["detail"]
        assert time.monotonic() - started < 5
        assert Turn.objects.get().answer.startswith("It goes")

    def test_an_answer_at_its_longest_says_so(self, project, corpus, member, use):
        use(ScriptedModel([[Delta(GOOD), Finished("length", (), USAGE)]]))
        assert loop.CUT in data(ask(project, member), "done")[0]["answer"]


class TestFailures:
    @pytest.mark.parametrize(
        ("fault", "code", "status", "can_retry"),
        [
            (ModelUnavailable("overloaded"), "model_unavailable", 503, True),
            (
                BudgetSpent(1000, NOON),
                "budget_spent",
                429,
                False,
            ),
            (ModelRefused("no such key"), "model_refused", 502, False),
            (BadAnswer("no JSON"), "bad_model_answer", 502, True),
            (RuntimeError("a secret path"), "internal", 500, True),
        ],
    )
    def test_a_fault_keeps_what_came_and_asking_again_doubles_nothing(
        self, project, corpus, member, use, fault, code, status, can_retry, monkeypatch
    ):
        sent = []
        monkeypatch.setattr(storing, "_remember", sent.append)
        use(ScriptedModel([[Delta("The pump "), fault]]))
        error = data(ask(project, member), "error")[0]
        assert (error["code"], error["status"]) == (code, status)
        assert error["can_retry"] is can_retry
        assert error["detail"]
        assert "secret" not in error["detail"]
        turn = Turn.objects.get()
        assert (turn.state, turn.answer.strip()) == ("failed", "The pump")
        assert turn.error
        assert error["turn"] == turn.pk

        use(ScriptedModel([says(GOOD)]))
        conversation = Conversation.objects.get()
        done = data(ask(project, member, conversation=conversation), "done")[0]
        assert done["turn"] == turn.pk
        assert done["answer"] == GOOD
        turn.refresh_from_db()
        assert (turn.state, turn.error) == ("done", "")
        assert turn.citations.count() == 1

    def test_a_stream_that_only_ends_is_a_fault(self, project, corpus, member, use):
        use(ScriptedModel([[Delta("The ")]]))
        assert data(ask(project, member), "error")[0]["code"] == "model_unavailable"

    def test_a_question_that_cannot_be_searched_is_told(self, project, corpus, member):
        error = data(ask(project, member, "pump before:nonsense"), "error")[0]
        assert (error["status"], error["code"]) == (400, "unusable_operator")
        assert not error["can_retry"]


class TestStopping:
    def test_a_silent_model_is_stopped_within_a_second(
        self, project, corpus, member, use
    ):
        use(ScriptedModel([[Delta("The pump of "), 30]]))
        stop = threading.Event()
        threading.Timer(0.7, stop.set).start()
        started = time.monotonic()
        events = ask(project, member, stop=stop.is_set)
        assert time.monotonic() - started < 1.7
        done = data(events, "done")[0]
        assert (done["state"], done["answer"].strip()) == ("stopped", "The pump of")
        assert Turn.objects.get().state == "stopped"

    def test_another_process_stops_it_by_its_row(self, project, corpus, member, use):
        words = [part for n in range(100) for part in (Delta(f"word{n} "), 0.05)]
        use(ScriptedModel([words]))
        asked = Asked(project=project, user=member, question=QUESTION)
        seen, at = [], 0.0
        for event in run(asked, stop=lambda: False):
            seen.append(event)
            if event.name == "delta" and not at:
                at = time.monotonic()
                storing.ask_to_stop(Turn.objects.get())
        assert time.monotonic() - at < 1.0
        assert data(seen, "done")[0]["state"] == "stopped"
        assert Turn.objects.get().answer

    def test_who_leaves_stops_it_and_what_came_is_kept(
        self, project, corpus, member, use
    ):
        use(ScriptedModel([[Delta("The pump of line "), 30]]))
        feed = run(
            Asked(project=project, user=member, question=QUESTION), stop=lambda: False
        )
        for event in feed:
            if event.name == "delta":
                break
        feed.close()
        turn = Turn.objects.get()
        assert (turn.state, turn.answer.strip()) == ("stopped", "The pump of line")

    def test_a_finished_answer_stays_finished_when_its_reader_leaves(
        self, project, corpus, member
    ):
        feed = run(
            Asked(project=project, user=member, question=QUESTION), stop=lambda: False
        )
        for event in feed:
            if event.name == "done":
                break
        feed.close()
        assert Turn.objects.get().state == "done"


def test_a_turn_that_dies_is_told_as_failed_with_what_came(
    project, corpus, member, use, monkeypatch
):
    monkeypatch.setattr("memory.agent.draft.POLL_SECONDS", 0.0)
    use(ScriptedModel([[Delta("The pump of line "), Delta("4 "), Delta("x "), 30]]))
    feed = run(
        Asked(project=project, user=member, question=QUESTION), stop=lambda: False
    )
    for event in feed:
        if "4" in event.data.get("text", "") and event.name == "delta":
            break
    turn = Turn.objects.get()
    assert (turn.state, turn.answer) == ("running", "The pump of line")
    conversation = turn.conversation
    assert storing.settle_dead(conversation) == 0, "it lives"
    monkeypatch.setattr(storing, "DEAD_SECONDS", 0.0)
    assert storing.settle_dead(conversation) == 1
    turn.refresh_from_db()
    assert (turn.state, turn.answer) == ("failed", "The pump of line")
    assert "Ask again" in turn.error


def test_what_is_done_is_given_to_memory_once(
    project, corpus, member, use, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr(
        storing.current_app,
        "send_task",
        lambda name, args, **_: sent.append((name, args)),
    )
    use(ScriptedModel([says(GOOD)]))
    with django_capture_on_commit_callbacks(execute=True):
        ask(project, member)
        use(ScriptedModel([[Delta("The "), ModelUnavailable("x")]]))
        ask(project, member)
    assert sent == [("memory.remember_turn", [Turn.objects.first().pk])]


def test_of_the_operator_nothing_is_stored(project, corpus, use):
    use(ScriptedModel([says(GOOD)]))
    answering = Answering(Asked(project=project, user=None, question=QUESTION))
    assert [e.name for e in answering.events()][-1] == "done"
    assert not Turn.objects.exists()
