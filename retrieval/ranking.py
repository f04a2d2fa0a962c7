"""The scores of a result: relevance, recency and authority, and their sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from retrieval.results import Result

RECENCY_SHARE, RELEVANCE_SHARE, AUTHORITY_SHARE = 0.3, 0.5, 0.2
RECENCY_DAYS, RECENCY_LEAST = 30, 0.1
AUTHORITY, CROSS_VALIDATED_AUTHORITY = 1.1, 1.3


def recency(said: datetime | None, now: datetime) -> float:
    """Return `1 - days / 30`, at least 0.1: whole days; the future is today, and what
    has no date is as old as anything."""
    if said is None:
        return RECENCY_LEAST
    days = max(0, (now - said).days)
    return max(RECENCY_LEAST, 1 - days / RECENCY_DAYS)


def authority(*, cross_validated: bool) -> float:
    """Return 1.3 for what two texts say, else 1.1."""
    return CROSS_VALIDATED_AUTHORITY if cross_validated else AUTHORITY


def scale_relevance(scores: Sequence[float]) -> list[float]:
    """Return each score as a share of the best, from 0 to 1; their order stays."""
    best = max(scores, default=0.0)
    if best <= 0:
        return [0.0] * len(scores)
    return [max(0.0, score / best) for score in scores]


def boosted(result: Result, factor: float) -> Result:
    """Return `result` with relevance and score times `factor`, not clamped to 1."""
    return replace(
        result, relevance=result.relevance * factor, score=result.score * factor
    )


def weighed(result: Result, now: datetime) -> Result:
    """Return `result` with its recency and authority, and with the published score:
    0.3 recency + 0.5 relevance + 0.2 authority."""
    fresh = recency(result.timestamp, now)
    trusted = authority(cross_validated=result.cross_validated)
    score = (
        RECENCY_SHARE * fresh
        + RELEVANCE_SHARE * result.relevance
        + AUTHORITY_SHARE * trusted
    )
    return replace(result, recency=fresh, authority=trusted, score=score)


def in_order(results: Iterable[Result]) -> tuple[Result, ...]:
    """Return `results` by score, best first, then by the bytes of their keys."""
    return tuple(sorted(results, key=lambda result: (-result.score, result.key)))
