"""The protocol of an embedder: texts in, vectors of one size out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from connections.registry import Registry

Vectors: TypeAlias = npt.NDArray[np.float32]


class ProviderError(Exception):
    """A model provider that cannot do what was asked; the message says what to do."""


class Embedder(Protocol):
    """Turns texts into unit vectors; vectors of two embedders are never compared.

    `is_local` says that it asks nobody over the network, and may do so in a
    transaction.
    """

    name: str
    dimensions: int
    is_local: bool

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row a text, of unit length; a text without words is all zero."""
        ...


# By the name that FABRIC_EMBEDDER takes; a factory is called once a process.
embedders: Registry[Callable[[], Embedder]] = Registry("embedder")
