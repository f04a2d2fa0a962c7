"""A second embedder, and what the table of nodes has of either."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.db import connection

from connections.providers.base import (
    ProviderError,
    TextsRefused,
    Vectors,
    to_unit_length,
)


class OtherEmbedder:
    """Eight dimensions: one that all texts share, and one by their letters."""

    name = "other"
    is_local = True
    leading = 0
    failing = False
    asked: list[str] = []

    def __init__(self, model: str = "", dimensions: int = 0) -> None:
        self.dimensions = dimensions or 8

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.failing:
            raise ProviderError("The provider went away.")
        if any("refused" in text for text in texts):
            raise TextsRefused("I do not take this.")
        type(self).asked += texts
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, [0, 1 + sum(text.encode()) % (self.dimensions - 1)]] = 1
        return to_unit_length(vectors)


def sizes() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT vector_dims(embedding) FROM graph_nodes"
            " WHERE embedding IS NOT NULL"
        )
        return {row[0] for row in cursor.fetchall()}


def columns() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_name = 'graph_nodes' AND column_name LIKE 'embedding%%'"
        )
        return {row[0] for row in cursor.fetchall()}


LIVE = {"embedding", "embedding_model_id"}
