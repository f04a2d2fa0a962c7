"""One text that a provider refuses must not hold up the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from connections.providers.base import Embedder, TextsRefused, Vectors

BATCH = 256
# A text that any embedder takes: where it is refused too, the texts are not to blame.
PROBE = "A short text."


def embed_each(
    embedder: Embedder, texts: Sequence[str]
) -> tuple[Vectors, dict[int, str]]:
    """Return a row a text, and by its place why a text was refused; its row is zero.

    What is refused together is halved until the text that is refused stands alone.
    Raises `ProviderError` when the provider takes no text at all.
    """
    vectors = np.zeros((len(texts), embedder.dimensions), dtype=np.float32)
    refused: dict[int, str] = {}
    said = [place for place, text in enumerate(texts) if text]
    for start in range(0, len(said), BATCH):
        places = said[start : start + BATCH]
        for part, rows, reason in _in_parts(embedder, texts, places):
            if rows is None:
                refused[part[0]] = reason
            else:
                vectors[part] = rows
    return vectors, refused


def _in_parts(
    embedder: Embedder, texts: Sequence[str], places: list[int]
) -> Iterator[tuple[list[int], Vectors | None, str]]:
    try:
        yield places, embedder.embed([texts[place] for place in places]), ""
    except TextsRefused as error:
        embedder.embed([PROBE])
        if len(places) == 1:
            yield places, None, str(error)
            return
        middle = len(places) // 2
        yield from _in_parts(embedder, texts, places[:middle])
        yield from _in_parts(embedder, texts, places[middle:])
