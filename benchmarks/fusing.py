"""Weighted reciprocal rank fusion over lists of keys, in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence


def fused(
    found: Mapping[str, Sequence[str]],
    weights: Mapping[str, float],
    k: float,
    limit: int,
) -> list[str]:
    """Return the keys by the sum of weight / (k + rank), then by key."""
    scores: dict[str, float] = defaultdict(float)
    for arm, keys in found.items():
        if weight := weights.get(arm, 0.0):
            for rank, key in enumerate(keys, start=1):
                scores[key] += weight / (k + rank)
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [key for key, _ in ranked[:limit]]
