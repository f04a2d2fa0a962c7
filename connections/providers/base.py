"""The protocol of an embedder: texts in, vectors of one size out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from connections.registry import Registry

Vectors: TypeAlias = npt.NDArray[np.float32]


class ProviderError(Exception):
    """A model provider that cannot do what was asked; the message says what to do."""


class TextsRefused(ProviderError):
    """A provider that did not take these texts; others it may well take."""


class Embedder(Protocol):
    """Turns texts into unit vectors; vectors of two embedders are never compared.

    `is_local` says that it asks nobody over the network, and may do so in a
    transaction. `leading`: how many of its first dimensions suffice to find what is
    near, where they are ordered by how much they say; else 0.
    """

    name: str
    dimensions: int
    is_local: bool
    leading: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, of unit length; a text without words is all zero.

        Raises `TextsRefused` where other texts may fare better, else `ProviderError`.
        """
        ...


class MakeEmbedder(Protocol):
    """Makes a provider's embedder; `""` and 0 mean the provider's own model and size.

    Raises `ProviderError` for a model or a size that it does not have.
    """

    def __call__(self, model: str = "", dimensions: int = 0) -> Embedder: ...


# By the name that FABRIC_EMBEDDER takes.
embedders: Registry[MakeEmbedder] = Registry("embedder")


def to_unit_length(vectors: Vectors) -> Vectors:
    """Scale every row to length one, in place; a row of zeros stays."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=vectors, where=norms > 0)
