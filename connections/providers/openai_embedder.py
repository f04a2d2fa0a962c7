"""Embeddings by OpenAI's protocol: OpenAI, Google, or anything that speaks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings

from connections.providers.base import (
    Embedder,
    ProviderError,
    TextsRefused,
    Vectors,
    embedders,
    to_unit_length,
)

if TYPE_CHECKING:
    from openai import OpenAI

TIMEOUT_SECONDS = 60.0
RETRIES = 4
# Bad words, too long, no such parameter; and whatever breaks a server: whether it was
# the texts is found out by asking for others.
ABOUT_THE_TEXTS = frozenset((400, 413, 422))
SERVER_FAULT = 500
# Models that give a shorter vector on demand; others refuse the very parameter.
SHORTENED = ("text-embedding-3-", "gemini-embedding-")


@dataclass(frozen=True, slots=True)
class Provider:
    """Where a protocol's server is, whose key opens it, and what it embeds with."""

    label: str
    key: str
    base_url: str
    model: str
    dimensions: int
    batch: int


OPENAI = Provider(
    "OpenAI",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "text-embedding-3-small",
    1536,
    256,
)
GOOGLE = Provider(
    "Google", "GOOGLE_API_KEY", "GOOGLE_BASE_URL", "text-embedding-004", 768, 100
)
SIZES = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "text-embedding-004": 768,
    "gemini-embedding-001": 3072,
}


class OpenAIEmbedder:
    """Vectors over the network, by the model and of the size that were asked for."""

    is_local = False
    leading = 0

    def __init__(
        self, model: str = "", dimensions: int = 0, *, provider: Provider = OPENAI
    ) -> None:
        self.name = model or provider.model
        self.dimensions = dimensions or SIZES.get(self.name, 0)
        if not self.dimensions:
            raise ProviderError(
                f"How long are the vectors of {self.name}? "
                "Set FABRIC_EMBEDDING_DIMENSIONS."
            )
        self._batch = provider.batch
        self._client = _client(provider)

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        said = [i for i, text in enumerate(texts) if text.strip()]
        for start in range(0, len(said), self._batch):
            wanted = said[start : start + self._batch]
            vectors[wanted] = self._ask([texts[i] for i in wanted])
        return to_unit_length(vectors)

    def _ask(self, texts: list[str]) -> Vectors:
        # The SDK is slow to import and not needed without a key.
        from openai import APIConnectionError, APIStatusError, OpenAIError, omit

        is_shortened = self.name.startswith(SHORTENED)
        try:
            answer = self._client.embeddings.create(
                model=self.name,
                input=texts,
                dimensions=self.dimensions if is_shortened else omit,
            )
            given = {item.index: item.embedding for item in answer.data}
            if sorted(given) != list(range(len(texts))):
                raise ValueError(f"{len(given)} came for {len(texts)} texts")
            vectors = np.array([given[n] for n in range(len(texts))], dtype=np.float32)
        except (APIConnectionError, APIStatusError) as error:
            raise self._refusal(error, getattr(error, "status_code", 0)) from error
        # Whatever answers there may be no OpenAI: no JSON, vectors of mixed sizes.
        except (OpenAIError, ValueError, AttributeError, TypeError) as error:
            raise ProviderError(f"{self.name} gave no vectors: {error}") from error
        return self._checked(vectors)

    def _refusal(self, error: Exception, status: int) -> ProviderError:
        """Tell a refusal that other texts may escape from one that all would meet."""
        is_theirs = status in ABOUT_THE_TEXTS or status >= SERVER_FAULT or not status
        kind = TextsRefused if is_theirs else ProviderError
        return kind(f"{self.name} gave no vectors: {error}")

    def _checked(self, vectors: Vectors) -> Vectors:
        if vectors.ndim != 2 or vectors.shape[1] != self.dimensions:
            found = vectors.shape[1] if vectors.ndim == 2 else "no"
            raise ProviderError(
                f"{self.name} gave vectors of {found} dimensions, not "
                f"{self.dimensions}. Set FABRIC_EMBEDDING_DIMENSIONS to what it gives, "
                "then `manage.py reembed`."
            )
        if not np.isfinite(vectors).all():
            raise TextsRefused(f"{self.name} gave a vector that holds no number.")
        return vectors


def _client(provider: Provider) -> OpenAI:
    from openai import OpenAI

    key = settings.FABRIC[provider.key]
    if not key:
        raise ProviderError(f"Set {provider.key} to embed with {provider.label}.")
    return OpenAI(
        api_key=key,
        base_url=settings.FABRIC[provider.base_url] or None,
        timeout=TIMEOUT_SECONDS,
        max_retries=RETRIES,
    )


@embedders.register("google")
def google_embedder(model: str = "", dimensions: int = 0) -> Embedder:
    """Return an embedder of Google's models, through its compatible endpoint."""
    return OpenAIEmbedder(model, dimensions, provider=GOOGLE)


embedders.add("openai", OpenAIEmbedder)
