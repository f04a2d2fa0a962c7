"""Embedders: the offline one, and OpenAI's protocol over a real socket."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from connections.providers.base import ProviderError, embedders
from connections.providers.openai_embedder import OpenAIEmbedder
from connections.providers.static import StaticEmbedder
from connections.registry import UnknownName


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder()


class TestStatic:
    def test_vectors_have_unit_length_and_one_row_a_text(self, static):
        texts = ["the pump failed", "", "a", "lunch at noon " * 50, "   "]
        vectors = static.embed(texts)
        assert vectors.shape == (5, 256)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1, 0], atol=1e-5)

    def test_a_text_has_one_vector_in_whatever_company(self, static):
        alone = static.embed(["the pump failed"])[0]
        among = static.embed(["", "lunch", "the pump failed", ""])[2]
        assert np.array_equal(alone, StaticEmbedder().embed(["the pump failed"])[0])
        assert np.allclose(alone, among, atol=1e-6)

    def test_nothing_gives_nothing(self, static):
        assert static.embed([]).shape == (0, 256)
        assert not static.embed([""]).any()

    def test_the_order_of_words_does_not_count(self, static):
        one, other = static.embed(["pump the failed", "failed the pump"])
        assert np.allclose(one, other, atol=1e-5)

    def test_what_is_said_alike_lies_nearer(self, static):
        base, near, far = static.embed(
            ["the invoice is late", "the bill has not been paid", "we went sailing"]
        )
        assert base @ near > base @ far

    def test_odd_texts_do_no_harm(self, static):
        vectors = static.embed(["\x00", "💥", "x" * 100_000, "\u202e"])
        assert np.isfinite(vectors).all()


Answer = tuple[int, dict[str, Any] | bytes | None]


class FakeOpenAI:
    """A loopback server; `answers` are given in turn, then real ones."""

    def __init__(self) -> None:
        self.answers: list[Answer | Callable[[dict], Answer]] = []
        self.asked: list[dict[str, Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                request = json.loads(body) | {"auth": self.headers["authorization"]}
                fake.asked.append(request)
                status, said = fake.next(request)
                if said is None:
                    self.connection.close()
                    return
                raw = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def next(self, request: dict[str, Any]) -> Answer:
        if not self.answers:
            return 200, answer(request)
        said = self.answers.pop(0)
        return said(request) if callable(said) else said


def vector_of(text: str) -> np.ndarray:
    vector = np.zeros(1536, dtype="<f4")
    vector[sum(text.encode()) % 1536] = 1
    return vector


def answer(request: dict[str, Any]) -> dict[str, Any]:
    assert request["encoding_format"] == "base64"
    data = [
        {
            "object": "embedding",
            "index": n,
            "embedding": base64.b64encode(vector_of(text).tobytes()).decode(),
        }
        for n, text in enumerate(request["input"])
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": request["model"], "usage": usage}


ERROR = {"error": {"message": "no", "type": "x", "code": "x", "param": None}}
TEXTS = ["pump", "", "invoice", "lunch"]


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    fake = FakeOpenAI()
    thread = threading.Thread(
        target=fake.server.serve_forever, args=(0.01,), daemon=True
    )
    thread.start()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()
    thread.join()


@pytest.fixture
def embedder(fake, settings) -> OpenAIEmbedder:
    settings.FABRIC = settings.FABRIC | {
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": fake.url,
    }
    return OpenAIEmbedder()


def check(vectors):
    assert vectors.shape == (4, 1536)
    for text, vector in zip(TEXTS, vectors, strict=True):
        wanted = vector_of(text) if text else np.zeros(1536)
        assert np.array_equal(vector, wanted)


class TestOpenAI:
    def test_vectors_come_in_the_order_of_the_texts_and_empty_ones_are_not_sent(
        self, fake, embedder
    ):
        check(embedder.embed(TEXTS))
        (asked,) = fake.asked
        assert asked["input"] == ["pump", "invoice", "lunch"]
        assert (asked["model"], asked["dimensions"]) == ("text-embedding-3-small", 1536)
        assert asked["auth"] == "Bearer sk-test"

    def test_an_answer_out_of_order_is_put_in_order(self, fake, embedder):
        def reverse(request):
            said = answer(request)
            return 200, said | {"data": said["data"][::-1]}

        fake.answers = [reverse]
        check(embedder.embed(TEXTS))

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_refusal_that_passes_is_waited_out(self, fake, embedder, status):
        fake.answers = [(status, ERROR), (status, ERROR)]
        check(embedder.embed(TEXTS))
        assert len(fake.asked) == 3

    def test_a_dropped_connection_is_tried_again(self, fake, embedder):
        fake.answers = [(0, None)]
        check(embedder.embed(TEXTS))

    @pytest.mark.parametrize(("status", "tries"), [(500, 5), (401, 1), (400, 1)])
    def test_a_refusal_that_stays_is_an_error_that_says_so(
        self, fake, embedder, status, tries
    ):
        fake.answers = [(status, ERROR)] * 9
        with pytest.raises(
            ProviderError, match="text-embedding-3-small gave no vectors"
        ):
            embedder.embed(TEXTS)
        assert len(fake.asked) == tries

    @pytest.mark.parametrize(
        "fault", ["one missing", "none", "short", "no JSON", "twice"]
    )
    def test_an_answer_that_is_not_one_vector_a_text_is_an_error(
        self, fake, embedder, fault
    ):
        def wrong(request):
            said = answer(request)
            if fault == "one missing":
                said["data"].pop()
            elif fault == "none":
                said["data"] = []
            elif fault == "short":
                raw = np.ones(8, dtype="<f4").tobytes()
                said["data"][0]["embedding"] = base64.b64encode(raw).decode()
            elif fault == "twice":
                said["data"][1]["index"] = 0
            else:
                return 200, b"<html>a proxy</html>"
            return 200, said

        fake.answers = [wrong] * 9
        with pytest.raises(ProviderError, match="text-embedding-3-small gave"):
            embedder.embed(TEXTS)

    def test_many_texts_are_sent_in_batches(self, fake, embedder):
        assert embedder.embed([f"text {n}" for n in range(600)]).any(axis=1).all()
        assert [len(a["input"]) for a in fake.asked] == [256, 256, 88]

    def test_without_a_key_it_says_which_to_set(self, settings):
        settings.FABRIC = settings.FABRIC | {"OPENAI_API_KEY": ""}
        with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
            OpenAIEmbedder()


def test_embedders_are_known_by_name():
    assert {"static", "openai"} <= set(embedders)
    with pytest.raises(UnknownName, match="no embedder 'word2vec'"):
        embedders["word2vec"]
