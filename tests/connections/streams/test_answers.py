"""A streamed answer over a real socket: its pieces, its calls, its end, its cost."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from connections.providers.chat import BadAnswer, Message, ToolCall, Usage
from connections.providers.streamed import Meter
from tests.connections.chat_server import Called, Said, with_bytes_after
from tests.connections.streams.telling import (
    ARGUMENTS,
    BOTH,
    QUESTION,
    SEARCH,
    TEXT,
    calls_of,
    model_at,
    stream,
    told,
)

pytestmark = pytest.mark.parametrize("name", BOTH)


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


def test_a_broken_stream_is_counted_by_what_came(name):
    meter = Meter(asked_characters=400, said_characters=80)
    assert meter.usage(is_whole=False) == Usage(100, 20, estimated=True)
    meter.read, meter.written = 11, 1
    assert meter.usage(is_whole=False) == Usage(11, 20, estimated=True)
