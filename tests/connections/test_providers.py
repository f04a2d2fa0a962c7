"""Embedders: the offline one, and OpenAI's protocol over a real socket."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator

import numpy as np
import pytest

from connections.providers import openai_embedder
from connections.providers.base import ProviderError, TextsRefused, embedders
from connections.providers.isolation import PROBE, embed_each
from connections.providers.openai_embedder import OpenAIEmbedder, google_embedder
from connections.providers.static import StaticEmbedder
from connections.registry import UnknownName
from tests.connections.embedding_server import (
    ERROR,
    FakeOpenAI,
    answer,
    vector_of,
)


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

    def test_fewer_dimensions_are_the_first_ones_at_unit_length(self, static):
        texts = ["the pump failed", "", "lunch at noon"]
        fewer = StaticEmbedder(dimensions=128).embed(texts)
        assert fewer.shape == (3, 128)
        assert np.allclose(np.linalg.norm(fewer, axis=1), [1, 0, 1], atol=1e-5)
        first = static.embed(texts)[:, :128]
        assert np.allclose(fewer[0] * np.linalg.norm(first[0]), first[0], atol=1e-5)

    @pytest.mark.parametrize("dimensions", [257, -1])
    def test_dimensions_it_does_not_have_are_refused(self, dimensions):
        with pytest.raises(ProviderError, match="1 to 256 dimensions"):
            StaticEmbedder(dimensions=dimensions)

    def test_another_model_than_its_own_is_refused(self):
        with pytest.raises(ProviderError, match="'word2vec'"):
            StaticEmbedder("word2vec")

    def test_odd_texts_do_no_harm(self, static):
        vectors = static.embed(["\x00", "💥", "x" * 100_000, "\u202e"])
        assert np.isfinite(vectors).all()


TEXTS = ["pump", "", "invoice", "lunch"]


@pytest.fixture
def fake() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


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

    def test_vectors_of_another_size_say_what_came(self, fake, embedder):
        short = {"model": "x", "dimensions": 8, "encoding_format": "base64"}
        fake.answers = [lambda request: (200, answer(request | short))]
        with pytest.raises(ProviderError, match="of 8 dimensions, not 1536") as caught:
            embedder.embed(TEXTS)
        assert not isinstance(caught.value, TextsRefused)

    def test_vectors_are_scaled_to_unit_length(self, fake, embedder):
        def longer(request):
            said = answer(request)
            for item, text in zip(said["data"], request["input"], strict=True):
                raw = (3 * vector_of(text)).tobytes()
                item["embedding"] = base64.b64encode(raw).decode()
            return 200, said

        fake.answers = [longer]
        check(embedder.embed(TEXTS))

    def test_a_vector_without_numbers_is_not_passed_on(self, fake, embedder):
        def broken(request):
            said = answer(request)
            raw = np.full(1536, np.nan, dtype="<f4").tobytes()
            said["data"][0]["embedding"] = base64.b64encode(raw).decode()
            return 200, said

        fake.answers = [broken]
        with pytest.raises(TextsRefused, match="no number"):
            embedder.embed(TEXTS)

    def test_it_waits_as_long_as_it_is_told_to(self, fake, embedder):
        fake.headers = {"retry-after": "1"}
        fake.answers = [(429, ERROR)]
        started = time.monotonic()
        check(embedder.embed(TEXTS))
        assert time.monotonic() - started >= 1

    def test_an_answer_that_never_comes_ends(self, fake, settings, monkeypatch):
        monkeypatch.setattr(openai_embedder, "TIMEOUT_SECONDS", 0.1)
        monkeypatch.setattr(openai_embedder, "RETRIES", 0)
        settings.FABRIC = settings.FABRIC | {
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": fake.url,
        }
        fake.before = lambda: time.sleep(0.5)
        with pytest.raises(TextsRefused, match="timed out"):
            OpenAIEmbedder().embed(TEXTS)

    def test_other_sizes_are_asked_for_where_the_model_has_them(self, fake, embedder):
        small = OpenAIEmbedder("text-embedding-3-small", 512)
        assert small.embed(["a"]).shape == (1, 512)
        assert fake.asked[0]["dimensions"] == 512

    def test_a_model_of_unknown_size_needs_the_setting(self, fake, embedder):
        with pytest.raises(ProviderError, match="FABRIC_EMBEDDING_DIMENSIONS"):
            OpenAIEmbedder("nomic-embed-text")
        assert OpenAIEmbedder("nomic-embed-text", 768).dimensions == 768

    def test_without_a_key_it_says_which_to_set(self, settings):
        settings.FABRIC = settings.FABRIC | {"OPENAI_API_KEY": ""}
        with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
            OpenAIEmbedder()


class TestGoogle:
    def test_it_asks_googles_address_for_768_dimensions(self, fake, settings):
        assert settings.FABRIC["GOOGLE_BASE_URL"] == (
            "https://generativelanguage.googleapis.com/v1beta/openai/"
        )
        settings.FABRIC = settings.FABRIC | {
            "GOOGLE_API_KEY": "g-test",
            "GOOGLE_BASE_URL": fake.url,
        }
        google = google_embedder()
        assert google.dimensions == 768
        assert google.embed([f"text {n}" for n in range(150)]).shape == (150, 768)
        first, second = fake.asked
        assert (len(first["input"]), len(second["input"])) == (100, 50)
        assert (first["model"], first["auth"]) == (
            "text-embedding-004",
            "Bearer g-test",
        )
        assert "dimensions" not in first

    def test_without_a_key_it_says_which_to_set(self):
        with pytest.raises(ProviderError, match="GOOGLE_API_KEY"):
            google_embedder()


class TestIsolation:
    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch):
        monkeypatch.setattr(openai_embedder, "RETRIES", 0)

    @pytest.mark.parametrize("status", [400, 413, 422, 500])
    def test_the_text_that_is_refused_is_found_and_the_others_go_on(
        self, fake, embedder, status
    ):
        fake.refuses = lambda text: status if text.startswith("bad") else 200
        texts = [f"text {n}" for n in range(40)]
        texts[7], texts[8], texts[31], texts[20] = "bad a", "bad b", "bad c", ""
        vectors, refused = embed_each(OpenAIEmbedder(), texts)
        assert sorted(refused) == [7, 8, 31]
        assert all(str(status) in reason for reason in refused.values())
        for place, text in enumerate(texts):
            expected = text and place not in refused
            wanted = vector_of(text) if expected else np.zeros(1536)
            assert np.array_equal(vectors[place], wanted)

    @pytest.mark.parametrize("status", [400, 500, 401, 429])
    def test_a_provider_that_refuses_everything_marks_nothing(
        self, fake, embedder, status
    ):
        fake.refuses = lambda text: status
        with pytest.raises(ProviderError):
            embed_each(OpenAIEmbedder(), ["a", "b"])
        assert len(fake.asked) <= 2
        assert fake.asked[1:] == [] or fake.asked[1]["input"] == [PROBE]

    def test_too_many_requests_are_never_the_texts_fault(self, fake, embedder):
        fake.refuses = lambda text: 429 if text == "b" else 200
        with pytest.raises(ProviderError) as caught:
            embed_each(OpenAIEmbedder(), ["a", "b"])
        assert not isinstance(caught.value, TextsRefused)


def test_embedders_are_known_by_name():
    assert {"static", "openai", "google"} <= set(embedders)
    with pytest.raises(UnknownName, match="no embedder 'word2vec'"):
        embedders["word2vec"]
