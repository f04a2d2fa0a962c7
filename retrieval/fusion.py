"""Weighted reciprocal rank fusion of what the arms found."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from retrieval.arms.base import Hit
from retrieval.results import Contribution

# Cormack, Clarke and Büttcher (2009): the constant of reciprocal rank fusion.
RRF_K = 60


@dataclass(frozen=True, slots=True)
class Fused:
    """A node that arms found: its fused score, and each arm's word on it."""

    node_id: int
    key: str
    is_part: bool
    score: float
    contributions: Mapping[str, Contribution]


def fuse(
    found: Mapping[str, Sequence[Hit]],
    weights: Mapping[str, float],
    k: float,
    limit: int | None = None,
) -> list[Fused]:
    """Return the best `limit` nodes by `sum(weight / (k + rank))`, best first.

    Ranks count from 1; equal scores are in the order of their keys' bytes. An arm of
    weight 0 lends no score, though its rank is named; a node that only such arms found
    is left out. Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
    outperforms Condorcet and individual rank learning methods", SIGIR 2009 (k = 60,
    equal weights).
    """
    _check(found, weights, k)
    hits: dict[int, Hit] = {}
    said: dict[int, dict[str, tuple[int, float]]] = defaultdict(dict)
    for arm, ranking in found.items():
        for rank, hit in enumerate(ranking, start=1):
            hits.setdefault(hit.node_id, hit)
            # An arm gives none twice; were it to, its best rank counts.
            said[hit.node_id].setdefault(arm, (rank, hit.score))
    scored = [
        (-score, hit.key, hit)
        for node, hit in hits.items()
        if (score := _score(said[node], weights, k)) > 0
    ]
    # Code points are in the order of their UTF-8 bytes, as COLLATE "C" has them.
    scored.sort(key=itemgetter(0, 1))
    return [
        Fused(hit.node_id, hit.key, hit.is_part, -score, _told(said[hit.node_id]))
        for score, _, hit in scored[:limit]
    ]


def as_found(found: Mapping[str, Sequence[Hit]]) -> list[Fused]:
    """Return what one arm found with its own scores, unfused."""
    return [
        Fused(
            hit.node_id,
            hit.key,
            hit.is_part,
            hit.score,
            {arm: Contribution(rank, hit.score)},
        )
        for arm, ranking in found.items()
        for rank, hit in enumerate(ranking, start=1)
    ]


def _told(said: Mapping[str, tuple[int, float]]) -> dict[str, Contribution]:
    return {arm: Contribution(*given) for arm, given in said.items()}


def _score(
    said: Mapping[str, tuple[int, float]], weights: Mapping[str, float], k: float
) -> float:
    # Rounded once, so that the order of the arms cannot change it.
    return math.fsum(weights[arm] / (k + rank) for arm, (rank, _) in said.items())


def _check(found: Mapping[str, object], weights: Mapping[str, float], k: float) -> None:
    if unweighed := sorted(set(found) - set(weights)):
        raise ValueError(f"These arms have no weight: {', '.join(unweighed)}.")
    for arm, weight in weights.items():
        if not 0 <= weight < math.inf:
            raise ValueError(
                f"The weight of {arm!r} is {weight}; it must be 0 or more."
            )
    if not 0 <= k < math.inf:
        raise ValueError(f"The constant of the fusion is {k}; it must be 0 or more.")
