"""What was stopped, failed or changed on the way goes on, and is not done twice."""

from __future__ import annotations

import time
from unittest.mock import patch

import psycopg
import pytest
from django.db import connections

from connections.providers.base import ProviderError
from graph import embed
from graph import reembed as module
from graph.embed import index_exists
from graph.models import EmbeddingModel, Node
from graph.reembed import (
    OutOfTime,
    ReembedBusy,
    ReembedCancelled,
    ReembedError,
    Wanted,
    cancel,
    filling,
    reembed,
)
from retrieval.search import search
from tests.factories import make_node
from tests.graph.reembedding.other_embedder import LIVE, OtherEmbedder, columns, sizes
from tests.graph.test_ingest_killed import address_of

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class TestResuming:
    def test_what_was_filled_before_a_failure_is_not_filled_again(
        self, filled, monkeypatch
    ):
        monkeypatch.setattr(module, "BATCH", 2)
        steps: list[str] = []

        def fail_later(text: str) -> None:
            steps.append(text)
            if len(steps) == 3:
                monkeypatch.setattr(OtherEmbedder, "failing", True)

        with pytest.raises(ProviderError):
            reembed("other", progress=fail_later)
        assert sizes() == {256}
        model = filling()
        assert model.error == "The provider went away."
        assert "filled" in model.progress
        before = list(OtherEmbedder.asked)
        assert search(filled, "Message 3", user=None).arms["vector"] == 5
        monkeypatch.setattr(OtherEmbedder, "failing", False)
        reembed("other")
        assert sizes() == {8}
        assert len(OtherEmbedder.asked) == len(set(OtherEmbedder.asked)) == 5
        assert OtherEmbedder.asked[: len(before)] == before

    def test_words_that_change_behind_it_are_caught_up_before_the_switch(self, filled):
        def change(text: str) -> None:
            if text == "switching":
                Node.objects.filter(key="slack:C1:1.000001").update(content="Changed")
                make_node(filled, "new", "A new one")

        with patch.object(module, "embed_backlog") as after:
            reembed("other", progress=change)
        assert after.called
        assert embed.backlog() == 0
        assert not Node.objects.filter(content__in=["Changed", "A new one"]).exclude(
            embedding__isnull=False
        )
        assert any("Changed" in text for text in OtherEmbedder.asked)

    def test_it_ends_in_time_and_goes_on(self, filled, monkeypatch):
        monkeypatch.setattr(module, "BATCH", 2)
        with pytest.raises(OutOfTime):
            reembed("other", until=time.monotonic() + 0.02)
        assert filling() is not None
        assert reembed("other").is_active

    def test_a_half_built_index_is_built_anew(self, filled, monkeypatch):
        def stop(text: str) -> None:
            if text.startswith("building graph_nodes_embedding"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            reembed("other", progress=stop)
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "CREATE INDEX graph_nodes_embedding_next ON graph_nodes"
                " USING hnsw (embedding_next vector_cosine_ops)"
            )
        superuser_says_invalid = patch.object(
            module, "index_exists", lambda name: False
        )
        with superuser_says_invalid:
            reembed("other")
        assert index_exists()

    def test_two_at_once_are_refused(self, filled, monkeypatch):
        monkeypatch.setattr(module, "KILLED_SECONDS", 0)
        with psycopg.connect(address_of("owner")) as other:
            other.execute("SELECT pg_advisory_lock(%s)", [module.ONE_AT_A_TIME])
            with (
                patch.object(module.only_one, "__defaults__", (0,), create=True),
                pytest.raises(ReembedBusy, match="--status"),
            ):
                reembed("other")

    def test_another_model_than_the_half_filled_is_refused(self, filled, monkeypatch):
        monkeypatch.setattr(OtherEmbedder, "failing", True)
        with pytest.raises(ProviderError):
            reembed("other")
        with pytest.raises(ReembedError, match=r"other \(8\) are half made.*--cancel"):
            reembed(Wanted.configured("static", dimensions=128))


class TestCancel:
    def test_it_drops_what_is_half_filled(self, filled, monkeypatch):
        monkeypatch.setattr(OtherEmbedder, "failing", True)
        with pytest.raises(ProviderError):
            reembed("other")
        assert columns() > LIVE
        assert cancel().name == "other"
        assert columns() == LIVE
        assert filling() is None
        assert search(filled, "Message 3", user=None).arms["vector"] == 5
        assert cancel() is None

    def test_one_that_is_filling_stops(self, filled, monkeypatch):
        monkeypatch.setattr(module, "BATCH", 2)

        def cancelled(text: str) -> None:
            EmbeddingModel.objects.update(filling_since=None)

        with pytest.raises(ReembedCancelled):
            reembed("other", progress=cancelled)
        assert sizes() == {256}
        assert reembed("other").is_active
