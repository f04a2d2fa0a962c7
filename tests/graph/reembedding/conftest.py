"""A graph whose texts have vectors, and a second embedder to change to."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from django.db import connections

from connections.providers.base import embedders
from graph import embed
from graph.embed import INDEX, embed_backlog, ensure_index, forget_model
from graph.models import EmbeddingModel
from graph.reembed import cancel, reembed
from graph.vector_refresh import FORMER, FRESH
from tests.factories import draft_account, draft_channel, draft_message, take_in
from tests.graph.reembedding.other_embedder import OtherEmbedder


@pytest.fixture(autouse=True)
def _other(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(OtherEmbedder, "asked", [])
    with patch.dict(embedders, {"other": OtherEmbedder}):
        embed._embedder.cache_clear()
        yield
        monkeypatch.undo()
        cancel()
        reembed("static")
        EmbeddingModel.objects.filter(is_active=False).delete()
        with connections["owner"].cursor() as cursor:
            cursor.execute(f"DROP INDEX IF EXISTS {INDEX}, {FRESH}, {FORMER}")
        ensure_index()  # about no center, as the next test's model says
        embed._embedder.cache_clear()
        forget_model()


@pytest.fixture
def filled(project):
    messages = [draft_message(f"{n}.000001", f"Message {n}") for n in range(1, 6)]
    take_in(project, draft_account(), draft_channel(), *messages)
    embed_backlog()
    return project
