from __future__ import annotations

from collections.abc import Iterator, Sequence
from unittest.mock import patch

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection, connections

from connections.providers.base import ProviderError, Vectors, embedders
from graph.embed import active_embedder, embed_backlog, forget_model, index_exists
from graph.models import EmbeddingModel, Node
from graph.reembed import reembed
from retrieval.search import search
from tests.factories import draft_account, draft_channel, draft_message, take_in

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class OtherEmbedder:
    """Eight dimensions, one for each first letter modulo eight."""

    name = "other"
    dimensions = 8
    is_local = True
    fail_after = 10**9

    def embed(self, texts: Sequence[str]) -> Vectors:
        if len(texts) > self.fail_after:
            raise ProviderError("The provider went away.")
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, ord(text.strip()[0]) % 8] = 1
        return vectors


@pytest.fixture(autouse=True)
def _other() -> Iterator[None]:
    with patch.dict(embedders, {"other": OtherEmbedder}):
        yield
        reembed("static")
        EmbeddingModel.objects.filter(name="other").delete()
        forget_model()


@pytest.fixture
def filled(project):
    messages = [draft_message(f"{n}.000001", f"Message {n}") for n in range(1, 6)]
    take_in(project, draft_account(), draft_channel(), *messages)
    embed_backlog()
    return project


def sizes() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT vector_dims(embedding) FROM graph_nodes"
            " WHERE embedding IS NOT NULL"
        )
        return {row[0] for row in cursor.fetchall()}


def test_all_vectors_are_of_the_new_model_after_the_switch(filled, settings):
    assert sizes() == {256}
    model = reembed("other")
    assert model.is_active
    assert sizes() == {8}
    assert index_exists()
    made_by = set(
        Node.objects.filter(node_type="message").values_list(
            "embedding_model__name", flat=True
        )
    )
    assert made_by == {"other"}
    settings.FABRIC = {**settings.FABRIC, "EMBEDDER": "other"}
    forget_model()
    assert search(filled, "Message 3", user=None).arms["vector"] == 5


def test_until_the_setting_follows_nothing_is_compared(filled):
    reembed("other")
    forget_model()
    with pytest.raises(ProviderError, match="reembed static"):
        active_embedder()


def test_what_was_filled_before_a_failure_is_not_filled_again(filled):
    with (
        patch.object(OtherEmbedder, "fail_after", 0),
        pytest.raises(ProviderError),
    ):
        reembed("other")
    assert sizes() == {256}
    assert search(filled, "Message 3", user=None).arms["vector"] == 5
    reembed("other")
    assert sizes() == {8}


def test_words_that_change_before_the_switch_go_back_to_the_queue(filled):
    def change(done: int) -> None:
        Node.objects.filter(key="slack:C1:1.000001").update(content="Changed")

    reembed("other", progress=change)
    changed = Node.objects.get(key="slack:C1:1.000001")
    assert changed.embedding_model is None
    assert changed.embedding is None


def test_the_command_says_what_to_set(filled, capsys):
    call_command("reembed", "other", "--no-progress")
    assert "FABRIC_EMBEDDER=other" in capsys.readouterr().out
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM graph_embedding_models WHERE is_active")
        assert cursor.fetchone() == (1,)
