"""Streams of servers that speak a part of the protocol only."""

from __future__ import annotations

import json

import pytest

from tests.connections.chat_server import Called, Said, with_bytes_after
from tests.connections.streams.telling import (
    ARGUMENTS,
    BOTH,
    TEXT,
    calls_of,
    stream,
    told,
)

pytestmark = pytest.mark.parametrize("name", BOTH)


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
