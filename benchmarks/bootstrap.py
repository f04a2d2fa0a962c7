"""The paired bootstrap: how far chance alone moves a mean difference.

Efron's percentile interval, over questions or over whole groups of them (conversations,
meetings): questions of one group share its texts, so they say less than as many
questions of as many groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES, SEED, LEVEL = 10_000, 20261121, 0.95
AT_ONCE = 500  # resamples held in memory


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference, and where 95 % of its resampled means lie."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Return "above" or "BELOW" where zero lies outside, else "within"."""
        if self.low > 0:
            return "above"
        return "BELOW" if self.high < 0 else "within"

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def paired(
    ours: ArrayLike,
    other: ArrayLike,
    *,
    groups: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
) -> list[Interval]:
    """Return the interval of `ours - other` for each column; rows are questions.

    With `groups`, a name for each row, whole groups are drawn.
    """
    differences = np.asarray(ours, dtype=float) - np.asarray(other, dtype=float)
    if differences.ndim != 2 or not len(differences):
        raise ValueError("a paired bootstrap needs rows of questions and columns.")
    names = groups if groups is not None else range(len(differences))
    sums, counts = _by_group(differences, list(names))
    means = _resampled(sums, counts, resamples)
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(means, (tail, 100 - tail), axis=0)
    return [
        Interval(float(mean), float(down), float(up))
        for mean, down, up in zip(differences.mean(axis=0), low, high, strict=True)
    ]


def _by_group(
    rows: NDArray[np.float64], names: Sequence[str | int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return each group's sum of rows, and how many it has."""
    if len(names) != len(rows):
        raise ValueError(f"{len(rows)} rows, but {len(names)} names of groups.")
    known = {name: place for place, name in enumerate(dict.fromkeys(names))}
    places = np.array([known[name] for name in names])
    sums = np.zeros((len(known), rows.shape[1]))
    np.add.at(sums, places, rows)
    return sums, np.bincount(places).astype(float)


def _resampled(
    sums: NDArray[np.float64], counts: NDArray[np.float64], resamples: int
) -> NDArray[np.float64]:
    rng = np.random.default_rng(SEED)
    drawn = []
    for start in range(0, resamples, AT_ONCE):
        shape = (min(AT_ONCE, resamples - start), len(counts))
        places = rng.integers(len(counts), size=shape)
        drawn.append(sums[places].sum(axis=1) / counts[places].sum(axis=1)[:, None])
    return np.concatenate(drawn)
