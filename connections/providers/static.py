"""The offline embedder that ships with Fabric: a weighted mean of token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from connections.providers.base import (
    ProviderError,
    Vectors,
    embedders,
    to_unit_length,
)

FOLDER = Path(__file__).parent / "static_embedder"
UNKNOWN = "[UNK]"
NAME, DIMENSIONS, LEADING = "static-embedder", 256, 192


class StaticEmbedder:
    """Up to 256 dimensions, no network; `static_embedder/README.md` has its making.

    Its dimensions are ordered by how much they say, so that fewer are the first ones.
    """

    name = NAME
    is_local = True
    leading = LEADING

    def __init__(
        self, model: str = "", dimensions: int = 0, *, folder: Path = FOLDER
    ) -> None:
        if model not in ("", NAME):
            raise ProviderError(f"The offline embedder is {NAME}, not {model!r}.")
        self.dimensions = dimensions or DIMENSIONS
        if not 1 <= self.dimensions <= DIMENSIONS:
            raise ProviderError(
                f"{NAME} has 1 to {DIMENSIONS} dimensions, not {dimensions}."
            )
        tensors = load_file(folder / "model.safetensors")
        self._vectors = tensors["embeddings"]
        self._weights = tensors["weights"]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._unknown = self._tokenizer.token_to_id(UNKNOWN)

    def embed(self, texts: Sequence[str]) -> Vectors:
        encoded = self._tokenizer.encode_batch_fast(
            list(texts), add_special_tokens=False
        )
        tokens = [
            [token for token in one.ids if token != self._unknown] for one in encoded
        ]
        lengths = np.array([len(ids) for ids in tokens])
        means = np.zeros((len(tokens), DIMENSIONS), dtype=np.float32)
        flat = np.fromiter(chain.from_iterable(tokens), dtype=np.int64)
        if flat.size:
            weighted = self._vectors[flat] * self._weights[flat, None]
            starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
            said = lengths > 0
            means[said] = np.add.reduceat(weighted, starts[said], axis=0)
        return to_unit_length(means[:, : self.dimensions].copy())


embedders.add("static", StaticEmbedder)
