"""What breaks before or in the midst of a stream, and what is asked again."""

from __future__ import annotations

import json
import time

import pytest

from connections.providers.chat import (
    Access,
    BadAnswer,
    ModelRefused,
    ModelUnavailable,
    chat_models,
)
from tests.connections.chat_server import (
    BUSY,
    broken_after,
    ends_after,
    silent_after,
    with_bytes_after,
)
from tests.connections.streams.telling import BOTH, TEXT, model_at, stream, told

pytestmark = pytest.mark.parametrize("name", BOTH)


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


def test_a_redirect_is_not_followed_with_the_key(server, name):
    server.faults = [(307, {})]
    server.headers = {"location": "/elsewhere"}
    with pytest.raises(ModelRefused, match="sends on to /elsewhere"):
        list(stream(model_at(server, name)))
    assert len(server.asked) == 1
