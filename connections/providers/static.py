"""The offline embedder that ships with Fabric: a weighted mean of token vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from connections.providers.base import Vectors, embedders

FOLDER = Path(__file__).parent / "static_embedder"
UNKNOWN = "[UNK]"


class StaticEmbedder:
    """256 dimensions, no network; see `static_embedder/README.md` for its making."""

    name = "static-embedder"
    dimensions = 256
    is_local = True

    def __init__(self, folder: Path = FOLDER) -> None:
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
        means = np.zeros((len(tokens), self.dimensions), dtype=np.float32)
        flat = np.fromiter(chain.from_iterable(tokens), dtype=np.int64)
        if flat.size:
            weighted = self._vectors[flat] * self._weights[flat, None]
            starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
            said = lengths > 0
            means[said] = np.add.reduceat(weighted, starts[said], axis=0)
        norms = np.linalg.norm(means, axis=1, keepdims=True)
        return np.divide(means, norms, out=means, where=norms > 0)


embedders.add("static", StaticEmbedder)
