"""Names that share most of their trigrams: all pairs of a list, without comparing each
name with each.

Two names that are half alike share one of the rarer half of their trigrams (the prefix
filter of set-similarity joins); of those that do, a fold of 128 bits tells most apart.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"[^\W_]+")
BITS, WORDS = 128, 2
# A trigram that more names share tells none apart: what a list costs stays in bounds.
MOST_SHARING = 1000


def trigrams(name: str) -> set[str]:
    """Return the trigrams of a name's words, each word with two blanks before it and
    one behind, as pg_trgm has them."""
    words = (f"  {word} " for word in WORD.findall(name.lower()))
    return {word[at : at + 3] for word in words for at in range(len(word) - 2)}


def alike(one: set[str], other: set[str]) -> float:
    """Return what share of the trigrams of two names both have."""
    return len(one & other) / (len(one | other) or 1)


class Names:
    """Names by their trigrams alone, 4 bytes each, numbered in the order they came."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._flat = array("i")
        self._sizes = array("i")

    def __len__(self) -> int:
        return len(self._sizes)

    def add(self, name: str) -> None:
        found = trigrams(name)
        numbers = self._numbers
        self._flat.extend(numbers.setdefault(one, len(numbers)) for one in found)
        self._sizes.append(len(found))

    def near(self, least: float) -> NDArray[np.int64]:
        """Return pairs of places, the lower first, each once and in order: all that are
        alike by `least` or more and share a trigram that tells them apart, with a few
        that are not."""
        sizes = np.array(self._sizes, dtype=np.int64)
        flat = np.array(self._flat, dtype=np.int64)
        owners = np.repeat(np.arange(sizes.size), sizes)
        folds = self._folds(flat, owners, sizes.size)
        keys = [
            np.minimum(one, other) * sizes.size + np.maximum(one, other)
            for group in _groups(*_prefixes(flat, owners, sizes, least))
            for one, other in [_within(group, folds[group], sizes[group], least)]
        ]
        if not keys:
            return np.empty((0, 2), dtype=np.int64)
        return np.stack(np.divmod(np.unique(np.concatenate(keys)), sizes.size), axis=1)

    def _folds(
        self, flat: NDArray[np.int64], owners: NDArray[np.int64], count: int
    ) -> NDArray[np.uint64]:
        """Return of each name a bit for each of its trigrams, of 128."""
        folds = np.zeros((count, WORDS), dtype=np.uint64)
        places = flat % BITS
        bits = np.left_shift(np.uint64(1), (places % 64).astype(np.uint64))
        np.bitwise_or.at(folds, (owners, places // 64), bits)
        return folds


def _prefixes(
    flat: NDArray[np.int64],
    owners: NDArray[np.int64],
    sizes: NDArray[np.int64],
    least: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rarest trigrams of each name, so many that two names which are alike
    have one in common, with the names they are of."""
    common = np.bincount(flat, minlength=1)
    order = np.lexsort((flat, common[flat], owners))
    flat, owners = flat[order], owners[order]
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(flat.size) - np.repeat(starts, sizes)
    wanted = sizes - np.ceil(least * sizes).astype(np.int64) + 1
    is_kept = rank < np.repeat(wanted, sizes)
    return flat[is_kept], owners[is_kept]


def _groups(
    flat: NDArray[np.int64], owners: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Yield the names of each trigram that more than one and not too many have."""
    order = np.argsort(flat, kind="stable")
    flat, owners = flat[order], owners[order]
    ends = np.flatnonzero(np.diff(flat, append=-1)) + 1
    start = 0
    for end in ends.tolist():
        if 1 < end - start <= MOST_SHARING:
            yield owners[start:end]
        start = end


def _within(
    group: NDArray[np.int64],
    folds: NDArray[np.uint64],
    sizes: NDArray[np.int64],
    least: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of a group whose folds differ in no more bits than the names
    may differ in trigrams."""
    differ = np.bitwise_count(folds[:, None, :] ^ folds[None, :, :]).sum(axis=2)
    both = sizes[:, None] + sizes[None, :]
    shared = np.ceil(both * least / (1 + least) - 1e-9)
    one, other = np.nonzero(np.triu(differ <= both - 2 * shared, k=1))
    return group[one], group[other]
