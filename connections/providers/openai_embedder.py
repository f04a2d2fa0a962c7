"""Embeddings by OpenAI's protocol: OpenAI itself, or anything that speaks it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.conf import settings

from connections.providers.base import ProviderError, Vectors, embedders

MODEL = "text-embedding-3-small"
BATCH = 256
TIMEOUT_SECONDS = 60.0
RETRIES = 4


class OpenAIEmbedder:
    """`text-embedding-3-small`: 1,536 dimensions, over the network."""

    name = MODEL
    dimensions = 1536
    is_local = False

    def __init__(self) -> None:
        # The SDK is slow to import and not needed without a key.
        from openai import OpenAI

        key = settings.FABRIC["OPENAI_API_KEY"]
        if not key:
            raise ProviderError("Set OPENAI_API_KEY to embed with OpenAI.")
        self._client = OpenAI(
            api_key=key,
            base_url=settings.FABRIC["OPENAI_BASE_URL"] or None,
            timeout=TIMEOUT_SECONDS,
            max_retries=RETRIES,
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        from openai import OpenAIError

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        said = [i for i, text in enumerate(texts) if text.strip()]
        for start in range(0, len(said), BATCH):
            wanted = said[start : start + BATCH]
            try:
                answer = self._client.embeddings.create(
                    model=self.name,
                    input=[texts[i] for i in wanted],
                    dimensions=self.dimensions,
                )
                given = {item.index: item.embedding for item in answer.data}
                if sorted(given) != list(range(len(wanted))):
                    raise ValueError(f"{len(given)} came for {len(wanted)} texts")
                for n, i in enumerate(wanted):
                    vectors[i] = given[n]
            # Whatever answers there may be no OpenAI: no JSON, vectors of another size.
            except (OpenAIError, ValueError, AttributeError, TypeError) as error:
                raise ProviderError(f"{self.name} gave no vectors: {error}") from error
        return vectors


embedders.add("openai", OpenAIEmbedder)
