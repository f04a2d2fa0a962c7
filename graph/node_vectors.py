"""Nodes that wait for a vector, and what an embedder made of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from connections.providers.base import Embedder, Vectors
from connections.providers.isolation import embed_each
from graph.embedded_text import embedded_text

# A provider's message may quote all of the text; its first words say why.
MOST_REASON = 500


@dataclass(frozen=True, slots=True)
class Waiting:
    """A node without a vector; `words` tells whether its text changed meanwhile.

    `given` is a vector that needs no embedder, as PostgreSQL writes it.
    """

    node_id: int
    words: str
    node_type: str
    title: str
    content: str
    context: str
    given: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """Vectors of nodes, as columns for `unnest`; None and no reason: no words."""

    ids: Sequence[int]
    words: Sequence[str]
    vectors: Sequence[str | None]
    reasons: Sequence[str]

    @classmethod
    def of(cls, waiting: Sequence[Waiting], embedder: Embedder) -> Made:
        """Ask `embedder` for the vectors of those that none was given.

        Raises `ProviderError` when it takes no text at all.
        """
        texts = [embedded_text(one) if one.given is None else "" for one in waiting]
        vectors, refused = embed_each(embedder, texts)
        made = as_text(vectors)
        return cls(
            [one.node_id for one in waiting],
            [one.words for one in waiting],
            [one.given or made[place] for place, one in enumerate(waiting)],
            [refused.get(place, "")[:MOST_REASON] for place in range(len(waiting))],
        )

    def values(self, model_id: int) -> dict[str, Any]:
        """Return what the statements bind."""
        return {
            "model": model_id,
            "ids": list(self.ids),
            "words": list(self.words),
            "vectors": list(self.vectors),
            "reasons": [reason.replace("\x00", "") for reason in self.reasons],
        }


def as_text(vectors: Vectors | Iterable[Any]) -> list[str | None]:
    """Return vectors as PostgreSQL reads them; None for a text without words, whose
    zero vector a cosine index would omit."""
    return [
        "[" + ",".join(f"{x:.6g}" for x in vector) + "]" if vector.any() else None
        for vector in vectors
    ]
