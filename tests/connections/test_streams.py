"""Streamed answers over a real socket: what comes, what breaks, what is asked again."""

from __future__ import annotations

import json
import threading
import time

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from connections.providers import anthropic_chat, openai_chat  # noqa: F401 - register
from connections.providers.chat import (
    Access,
    BadAnswer,
    Delta,
    Finished,
    Message,
    ModelRefused,
    ModelUnavailable,
    Tool,
    ToolCall,
    Usage,
    chat_models,
)
from connections.providers.streamed import Meter
from tests.connections.chat_server import (
    BUSY,
    Called,
    ChatServer,
    Said,
    broken_after,
    ends_after,
    silent_after,
    with_bytes_after,
)

SEARCH = Tool(
    "search",
    "Searches the graph.",
    {"type": "object", "properties": {"query": {"type": "string"}}},
)
QUESTION = Message("user", "When does it ship?")
TEXT = "It ships on Friday,\n “after” the tests."
ARGUMENTS = {"query": "launch, “date”", "limit": 5}
BOTH = ["anthropic", "openai"]

pytestmark = pytest.mark.parametrize("name", BOTH)


@pytest.fixture
def server(settings):
    settings.FABRIC = settings.FABRIC | {
        "MODEL_SILENCE_SECONDS": 0.3,
        "MODEL_FIRST_SECONDS": 0.6,
    }
    with ChatServer() as server:
        server.reply = lambda messages, tools: TEXT
        yield server


@pytest.fixture
def model(server, name):
    return model_at(server, name)


def model_at(server, name):
    url = server.url if name == "anthropic" else f"{server.url}/v1"
    return chat_models[name]("some-model", Access(url, "sk-secret-7"))


def stream(model, *messages, tools=(SEARCH,)):
    return model.stream("Be short.", messages or (QUESTION,), tools, max_tokens=50)


def told(pieces):
    """Return the text of the pieces, and how they ended."""
    pieces = list(pieces)
    assert all(isinstance(piece, Delta) for piece in pieces[:-1])
    assert isinstance(pieces[-1], Finished)
    return "".join(piece.text for piece in pieces[:-1]), pieces[-1]


def calls_of(finished):
    return [(call.name, call.arguments) for call in finished.calls]


class TestAnAnswer:
    def test_comes_in_pieces_with_its_cost(self, model, server, name):
        pieces = list(stream(model))
        assert len(pieces) > 5
        text, finished = told(pieces)
        assert (text, finished.reason, finished.calls) == (TEXT, "end", ())
        assert finished.usage == Usage(11, 7)
        (asked,) = server.asked
        assert (asked["stream"], asked["model"]) == (True, "some-model")
        assert "sk-secret-7" in asked["auth"]
        tool = asked["tools"][0]
        if name == "anthropic":
            assert asked["system"] == "Be short."
            assert tool["input_schema"] == SEARCH.parameters
        else:
            assert asked["messages"][0] == {"role": "system", "content": "Be short."}
            assert tool["function"]["parameters"] == SEARCH.parameters

    def test_the_first_piece_comes_before_the_last_is_sent(self, model, server):
        server.pace = 0.05
        began = time.monotonic()
        pieces = stream(model)
        next(pieces)
        first = time.monotonic() - began
        list(pieces)
        assert first < (time.monotonic() - began) / 2

    def test_calls_tools_with_its_arguments_whole(self, model, server):
        server.reply = lambda messages, tools: Said(
            "Let me look.", (Called("search", ARGUMENTS), Called("search", {}))
        )
        text, finished = told(stream(model))
        assert (text, finished.reason) == ("Let me look.", "tools")
        assert calls_of(finished) == [("search", ARGUMENTS), ("search", {})]
        assert len({call.id for call in finished.calls}) == 2

    def test_calls_and_their_results_come_back_as_they_were(self, model, server):
        heard = []

        def reply(messages, tools):
            heard.append(messages)
            return "Friday."

        server.reply = reply
        calls = (ToolCall("a", "search", ARGUMENTS), ToolCall("b", "search", None))
        said = (
            QUESTION,
            Message("assistant", "Let me look.", calls),
            Message("tool", "[1] Friday", call_id="a"),
            Message("tool", "There is no such search.", call_id="b"),
            Message("user", "Well?"),
        )
        assert told(stream(model, *said))[0] == "Friday."
        sent = ToolCall("a", "search", ARGUMENTS), ToolCall("b", "search", {})
        assert heard == [[said[0], Message("assistant", said[1].text, sent), *said[2:]]]

    def test_broken_arguments_are_none_and_the_turn_goes_on(self, model, server):
        server.reply = lambda messages, tools: Said(
            calls=(Called("search", '{"query": "lau'), Called("search", "[1]"))
        )
        _, finished = told(stream(model))
        assert (finished.reason, calls_of(finished)) == (
            "tools",
            [("search", None), ("search", None)],
        )

    @pytest.mark.parametrize(
        ("stopped", "reason"),
        [
            ("max_tokens", "length"),
            ("length", "length"),
            ("stop_sequence", "end"),
            ("a_word_of_next_year", "end"),
        ],
    )
    def test_ends_for_the_reason_it_gives(self, model, server, name, stopped, reason):
        if stopped in ("max_tokens", "stop_sequence") and name == "openai":
            reason = "end"
        if stopped == "length" and name == "anthropic":
            reason = "end"
        server.reply = lambda messages, tools: Said("Fri", stopped=stopped)
        assert told(stream(model))[1].reason == reason

    def test_that_is_declined_says_so(self, model, server, name):
        stopped = {"anthropic": "refusal", "openai": "content_filter"}[name]
        server.reply = lambda messages, tools: Said("I", stopped=stopped)
        with pytest.raises(BadAnswer, match="some-model declines"):
            list(stream(model))

    @hypothesis_settings(
        max_examples=15,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        text=st.text(
            st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
            max_size=40,
        ),
        value=st.text(max_size=30).filter(str.isprintable),
    )
    def test_any_words_come_as_they_were_sent(self, server, name, text, value):
        server.reply = lambda messages, tools: Said(text, (Called("x", {"v": value}),))
        said, finished = told(stream(model_at(server, name)))
        assert (said, calls_of(finished)) == (text, [("x", {"v": value})])


class TestLesserServers:
    """What Ollama, vLLM, llama.cpp and Gemini's endpoint leave out."""

    @pytest.fixture(autouse=True)
    def _only_openai(self, name):
        if name != "openai":
            pytest.skip("Anthropic's protocol has one speaker")

    @pytest.mark.parametrize(
        "omits",
        [
            {"ids"},
            {"pieces"},
            {"done"},
            {"ids", "pieces"},
            {"index", "pieces"},
            {"ids", "index", "pieces", "usage", "done"},
        ],
        ids=lambda omits: "+".join(sorted(omits)),
    )
    def test_calls_are_whole_and_apart(self, model, server, omits):
        server.omits = omits
        server.reply = lambda messages, tools: Said(
            calls=(Called("search", ARGUMENTS), Called("open", {"id": 3}))
        )
        _, finished = told(stream(model))
        wanted = [("search", ARGUMENTS), ("open", {"id": 3})]
        assert (finished.reason, calls_of(finished)) == ("tools", wanted)
        assert len({call.id for call in finished.calls} - {""}) == 2

    def test_calls_that_share_a_place_stay_apart(self, model, server):
        def piece(id_, name):
            function = {"name": name, "arguments": '{"n": 1}'}
            call = {"index": 0, "id": id_, "type": "function", "function": function}
            choice = {"index": 0, "delta": {"tool_calls": [call]}}
            return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()

        server.faults = [with_bytes_after(1, piece("a", "x") + piece("b", "y"))]
        _, finished = told(stream(model))
        assert calls_of(finished) == [("x", {"n": 1}), ("y", {"n": 1})]

    def test_a_silent_cost_is_estimated_and_named_so(self, model, server):
        server.omits = {"usage"}
        _, finished = told(stream(model))
        usage = finished.usage
        assert usage.estimated
        assert usage.written == -(-len(TEXT) // 4)
        assert usage.read > len("Be short.When does it ship?") / 4

    def test_chunks_without_choices_say_nothing(self, model, server):
        server.faults = [
            with_bytes_after(2, b'data: {"choices": []}\n\ndata: {"choices": null}\n\n')
        ]
        assert told(stream(model))[0] == TEXT

    @pytest.mark.parametrize(
        ("refused", "then"),
        [
            ("stream_options", lambda asked: "stream_options" not in asked),
            ("reasoning_effort", lambda asked: asked["reasoning_effort"] == "none"),
            ("max_completion_tokens", lambda asked: asked["max_tokens"] == 50),
        ],
    )
    def test_a_setting_that_is_refused_is_sent_otherwise(
        self, model, server, refused, then
    ):
        no = {"error": {"message": f"Unsupported: '{refused}'", "param": refused}}
        server.faults = [(400, no)]
        assert told(stream(model))[0] == TEXT
        assert [then(asked) for asked in server.asked[1:]] == [True]
        # It is remembered, and nothing is asked in vain again.
        told(stream(model))
        assert len(server.asked) == 3


class TestFaultsBeforeTheFirstPiece:
    @pytest.mark.parametrize(
        "fault", [(429, BUSY), (529, BUSY), (500, BUSY), (0, None)]
    )
    def test_pass_and_the_answer_comes_once(self, model, server, fault):
        server.faults = [fault, fault]
        assert told(stream(model))[0] == TEXT
        assert len(server.asked) == 3

    @pytest.mark.parametrize("events", [0, 1])
    def test_a_reset_before_any_text_is_asked_again(self, model, server, events):
        server.faults = [broken_after(events)]
        assert told(stream(model))[0] == TEXT
        assert len(server.asked) == 2

    @pytest.mark.parametrize("fault", [(429, BUSY), (529, BUSY), (500, BUSY)])
    def test_that_stay_end_in_a_clear_sentence(self, model, server, fault):
        server.faults = [fault] * 9
        with pytest.raises(ModelUnavailable) as caught:
            list(stream(model))
        assert (
            str(caught.value) == f"some-model takes no request now ({fault[0]}): busy"
        )
        assert len(server.asked) == 4

    def test_the_wait_that_is_asked_for_is_kept(self, model, server):
        server.headers = {"retry-after": "0.4"}
        server.faults = [(429, BUSY)]
        began = time.monotonic()
        told(stream(model))
        assert time.monotonic() - began >= 0.4

    def test_who_asks_for_too_long_a_wait_is_not_asked_again(self, model, server):
        server.headers = {"retry-after": "3600"}
        server.faults = [(429, BUSY)] * 2
        began = time.monotonic()
        with pytest.raises(ModelUnavailable):
            list(stream(model))
        assert (len(server.asked), time.monotonic() - began < 2) == (1, True)

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (400, "refuses the request"),
            (401, "key for some-model is not accepted"),
            (403, "key for some-model is not accepted"),
            (404, "There is no model some-model"),
        ],
    )
    def test_a_refusal_is_not_asked_again_and_hides_the_key(
        self, model, server, status, words
    ):
        error = {"type": "x", "message": "bad key sk-secret-7"}
        server.faults = [(status, {"type": "error", "error": error})] * 2
        with pytest.raises(ModelRefused, match=words) as caught:
            list(stream(model))
        assert "sk-secret-7" not in str(caught.value)
        assert len(server.asked) == 1

    def test_a_server_that_does_not_answer_is_left_after_its_time(self, model, server):
        server.before = lambda: time.sleep(1)
        began = time.monotonic()
        with pytest.raises(ModelUnavailable, match="silent for too long"):
            list(stream(model))
        assert 0.5 < time.monotonic() - began < 0.95

    def test_an_address_where_nobody_is_says_so(self, server, name, settings):
        settings.FABRIC = settings.FABRIC | {"MODEL_RETRIES": 0}
        nobody = chat_models[name]("some-model", Access("http://127.0.0.1:9", "k"))
        with pytest.raises(ModelUnavailable, match="connection to some-model broke"):
            list(stream(nobody))

    def test_a_page_of_a_proxy_is_no_answer(self, model, server):
        server.faults = [(200, b"<html>a proxy</html>")] * 9
        with pytest.raises(BadAnswer, match="gave no message"):
            list(stream(model))


class TestFaultsMidStream:
    """What came was said: it is never asked again, and the error is a sentence."""

    def broken(self, model, server, fault, kind, words):
        server.faults = [fault]
        came = []
        with pytest.raises(kind, match=words) as caught:
            came.extend(stream(model))
        assert came
        assert TEXT.startswith("".join(piece.text for piece in came))
        assert len(server.asked) == 1
        assert str(caught.value).startswith(("some-model", "The connection"))

    def test_a_reset(self, model, server):
        self.broken(model, server, broken_after(5), ModelUnavailable, "broke")

    def test_an_end_that_is_none(self, model, server):
        self.broken(model, server, ends_after(5), ModelUnavailable, "broke off before")

    def test_silence(self, model, server, settings):
        settings.FABRIC = settings.FABRIC | {"MODEL_FIRST_SECONDS": 5}
        began = time.monotonic()
        self.broken(
            model, server, silent_after(5, 5), ModelUnavailable, "silent for too long"
        )
        assert 0.25 < time.monotonic() - began < 2

    def test_a_pause_shorter_than_that_is_none(self, model, server):
        server.faults = [silent_after(5, 0.1)]
        assert told(stream(model))[0] == TEXT

    def test_what_is_no_json(self, model, server):
        raw = b'event: content_block_delta\ndata: {"choices": [{"del\n\n'
        self.broken(
            model, server, with_bytes_after(5, raw), BadAnswer, "sent what is no JSON"
        )

    def test_cut_letters(self, model, server):
        raw = 'event: x\ndata: {"text": "“'.encode()[:-1] + b"\n\n"
        self.broken(model, server, with_bytes_after(5, raw), BadAnswer, "broken text")

    def test_an_error_the_provider_sends(self, model, server):
        error = {
            "type": "error",
            "error": {"type": "overloaded_error", "message": "no"},
        }
        raw = f"event: error\ndata: {json.dumps(error)}\n\n".encode()
        self.broken(model, server, with_bytes_after(5, raw), ModelUnavailable, "no")

    def test_events_that_nobody_knows_are_passed_over(self, model, server):
        raw = (
            b": a comment\n\n"
            b'event: thought_of_2027\ndata: {"type": "thought_of_2027", "index": 9}\n\n'
            b'event: content_block_delta\ndata: {"type": "content_block_delta", '
            b'"index": 0, "delta": {"type": "hologram_delta", "hologram": "x"}}\n\n'
        )
        server.faults = [with_bytes_after(5, raw)]
        assert told(stream(model))[0] == TEXT

    def test_a_line_of_megabytes_is_read(self, model, server):
        long = "x" * 3_000_000
        server.reply = lambda messages, tools: long
        assert told(stream(model))[0] == long

    def test_a_line_without_end_is_not(self, model, server, monkeypatch):
        monkeypatch.setattr("connections.providers.wire.MOST_BYTES", 1 << 20)
        fault = with_bytes_after(5, b"data: " + b"x" * (2 << 20))
        server.faults = [fault]
        with pytest.raises(BadAnswer, match="larger than 1 MB"):
            list(stream(model))


class TestClosing:
    def test_ends_the_request_at_once(self, model, server):
        server.pace = 0.05
        pieces = stream(model)
        next(pieces)
        pieces.close()
        assert server.left.wait(1)
        assert list(pieces) == []

    def test_ends_it_by_another_thread_in_the_midst_of_silence(
        self, model, server, settings
    ):
        settings.FABRIC = settings.FABRIC | {"MODEL_SILENCE_SECONDS": 30}
        server.faults = [silent_after(5, 20)]
        pieces = stream(model)
        next(pieces)
        threading.Timer(0.2, pieces.close).start()
        began = time.monotonic()
        list(pieces)
        assert time.monotonic() - began < 1
        assert server.left.wait(1)

    def test_ends_it_before_the_answer_began(self, model, server, settings):
        settings.FABRIC = settings.FABRIC | {"MODEL_FIRST_SECONDS": 30}
        server.before = lambda: server.closing.wait(5)
        pieces = stream(model)
        threading.Timer(0.2, pieces.close).start()
        began = time.monotonic()
        assert list(pieces) == []
        assert time.monotonic() - began < 1

    def test_ends_a_wait_before_the_next_attempt(self, model, server):
        server.headers = {"retry-after": "15"}
        server.faults = [(429, BUSY)] * 9
        pieces = stream(model)
        threading.Timer(0.2, pieces.close).start()
        began = time.monotonic()
        assert list(pieces) == []
        assert time.monotonic() - began < 1

    def test_letting_go_of_it_ends_it_too(self, model, server):
        server.pace = 0.05
        pieces = stream(model)
        next(pieces)
        del pieces
        assert server.left.wait(1)

    def test_what_was_never_begun_asks_nobody(self, model, server):
        stream(model).close()
        assert server.asked == []


class TestThoughts:
    """Of models that think before they call: their turns must come back whole."""

    @pytest.fixture(autouse=True)
    def _only_anthropic(self, name):
        if name != "anthropic":
            pytest.skip("only Anthropic's models send their thoughts")

    def thinking(self):
        def event(kind, **data):
            data = json.dumps({"type": kind, "index": 7, **data})
            return f"event: {kind}\ndata: {data}\n\n"

        block = {"type": "thinking", "thinking": "", "signature": ""}
        signed = {"type": "signature_delta", "signature": "c2ln"}
        return (
            event("content_block_start", content_block=block)
            + event("content_block_delta", delta=signed)
            + event("content_block_stop")
        ).encode()

    def a_call(self, model, server):
        server.faults = [with_bytes_after(2, self.thinking())]
        server.reply = lambda messages, tools: Said(
            calls=(Called("search", ARGUMENTS),)
        )
        _, finished = told(stream(model))
        server.reply = lambda messages, tools: TEXT
        return (
            QUESTION,
            Message("assistant", "", finished.calls),
            Message("tool", "[1] Friday", call_id=finished.calls[0].id),
        )

    def test_thoughts_come_back_with_their_turn(self, model, server):
        told(stream(model, *self.a_call(model, server)))
        turn = server.asked[1]["messages"][1]["content"]
        thought = {"type": "thinking", "thinking": "", "signature": "c2ln"}
        assert [block["type"] for block in turn] == ["tool_use", "thinking"]
        assert turn[1] == thought

    def test_thoughts_that_are_refused_are_left_out(self, model, server):
        said = self.a_call(model, server)
        error = {"type": "invalid_request_error", "message": "thinking blocks changed"}
        server.faults = [(400, {"type": "error", "error": error})]
        assert told(stream(model, *said))[0] == TEXT
        turn = server.asked[2]["messages"][1]["content"]
        assert [block["type"] for block in turn] == ["tool_use"]

    def test_a_model_is_told_not_to_think_in_the_way_it_takes(self, model, server):
        error = {
            "type": "invalid_request_error",
            "message": "use thinking.type between",
        }
        server.faults = [(400, {"type": "error", "error": error})] * 2
        told(stream(model))
        assert [asked.get("thinking") for asked in server.asked] == [
            {"type": "disabled"},
            {"type": "between_tools"},
            None,
        ]


def test_a_redirect_is_not_followed_with_the_key(server, name):
    server.faults = [(307, {})]
    server.headers = {"location": "/elsewhere"}
    with pytest.raises(ModelRefused, match="sends on to /elsewhere"):
        list(stream(model_at(server, name)))
    assert len(server.asked) == 1


def test_a_broken_stream_is_counted_by_what_came(name):
    meter = Meter(asked_characters=400, said_characters=80)
    assert meter.usage(is_whole=False) == Usage(100, 20, estimated=True)
    meter.read, meter.written = 11, 1
    assert meter.usage(is_whole=False) == Usage(11, 20, estimated=True)
