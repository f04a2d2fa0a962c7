"""Searches as data: which arms, at what weight, fused how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from connections.registry import Registry

# Cormack, Clarke and Büttcher (2009): the constant of reciprocal rank fusion.
RRF_K = 60


@dataclass(frozen=True, slots=True)
class Profile:
    """A named search: weights by arm, the constant of the fusion, how many candidates
    each arm gives, the similarity a vector needs, and how `ts_rank` counts length
    (PostgreSQL's normalisation flags)."""

    name: str
    weights: Mapping[str, float] = field(
        default_factory=lambda: {"keyword": 1.0, "vector": 1.0}
    )
    k: int = RRF_K
    pool: int = 100
    similarity: float = 0.0
    normalisation: int = 0

    def parameters(self) -> dict[str, float]:
        """Return what the fused statement binds."""
        return {
            "k": float(self.k),
            "pool": self.pool,
            "similarity": self.similarity,
            "normalisation": self.normalisation,
            "keyword_weight": float(self.weights.get("keyword", 0.0)),
            "vector_weight": float(self.weights.get("vector", 0.0)),
        }


profiles: Registry[Profile] = Registry("profile")

# The weight was fitted on the development sets (docs/benchmarks.md): at equal weight
# the offline embedder, weak on long texts, drags the keyword arm down.
DEFAULT = profiles.add(
    "default", Profile("default", weights={"keyword": 5.0, "vector": 1.0})
)
