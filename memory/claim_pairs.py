"""Which of many claims are worth comparing: those that share a topic, a name on which
they take opposite stances, or one of their rare words.

There may be a million claims: of each only numbers are kept, in arrays.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memory.learning.frames import FEWEST_SHARED, SAME_WORDS

# A word that more claims share tells no two of them apart; of the rest, the rarest.
MOST_SHARING, RAREST = 30, 4
# So many claims are held against others at once: what it takes stays in bounds.
ROWS = 2_000
# Sorts of blocks: what the claims of one have in common.
WORD, TOPIC, TAKES, GIVES = range(4)
_NUMBER, _FAMILY = 1 << 32, 1 << 40

Ints = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Mark:
    """A claim as far as it is needed to find those that it may contradict."""

    node_id: int
    family: str
    at: tuple[bool, float, int]
    words: tuple[int, ...]
    topic: int
    takes: tuple[str, ...]
    gives: tuple[str, ...]


def number(word: str) -> int:
    """Return what stands for a word, the same in every process; 0 for none."""
    return crc32(word.encode("utf-8", "replace")) if word else 0


def candidates(marks: Iterable[Mark]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of claims that are worth comparing, each once, the older first.

    Of those that share a topic or a name, the newest are held against all others.
    """
    kept = _Kept()
    for mark in marks:
        kept.add(mark)
    if len(kept.nodes) > 1:
        yield from _Blocks(kept).pairs()


class _Kept:
    """Claims as numbers, in the order they came."""

    def __init__(self) -> None:
        self.nodes, self.is_dated, self.moments = array("q"), array("b"), array("d")
        self.families: dict[str, int] = {}
        self.words, self.sizes, self.topics = array("q"), array("q"), array("q")
        # Whose stance it is, which of them, and on what.
        self.holders, self.stances, self.sorts = array("q"), array("q"), array("b")

    def add(self, mark: Mark) -> None:
        family = self.families.setdefault(mark.family, len(self.families)) * _NUMBER
        for sort, names in ((TAKES, mark.takes), (GIVES, mark.gives)):
            for name in names:
                self.holders.append(len(self.nodes))
                self.stances.append(family + number(name))
                self.sorts.append(sort)
        is_dated, moment, _ = mark.at
        self.nodes.append(mark.node_id)
        self.is_dated.append(is_dated)
        self.moments.append(moment)
        self.words.extend(family + word for word in mark.words)
        self.sizes.append(len(mark.words))
        self.topics.append(family + mark.topic if mark.topic else -1)


class _Blocks:
    """Claims in the order of their time, what each is looked up by, and the newest of
    each block."""

    def __init__(self, kept: _Kept) -> None:
        nodes = _ints(kept.nodes)
        order = np.lexsort((nodes, np.array(kept.moments), np.array(kept.is_dated)))
        self.nodes, self.count = nodes[order], len(nodes)
        self.place = np.empty_like(order)
        self.place[order] = np.arange(self.count)
        sizes = _ints(kept.sizes)
        self.sizes, self.topics = sizes[order], _ints(kept.topics)[order]
        owners = self.place[np.repeat(np.arange(self.count), sizes)]
        rare = self._keep_words(owners, _ints(kept.words))
        holders = self.place[_ints(kept.holders)]
        self.has_stance = np.zeros(self.count, dtype=np.bool_)
        self.has_stance[holders] = True
        self._make_blocks(rare, holders, kept)

    def _keep_words(self, owners: Ints, words: Ints) -> tuple[Ints, Ints]:
        """Keep the words of each claim in order, each with its claim as one key; return
        of each claim the rarest that others have too, with the claim."""
        alphabet, spelt, counts = np.unique(
            words, return_inverse=True, return_counts=True
        )
        self.letters = max(1, alphabet.size)
        self.word_keys = owners * self.letters
        self.word_keys += spelt
        self.word_keys.sort()
        self.word_starts = np.cumsum(self.sizes) - self.sizes
        common = counts[spelt]
        tells = np.flatnonzero((common > 1) & (common <= MOST_SHARING))
        return _rarest(owners[tells], words[tells], common[tells])

    def _make_blocks(self, rare: tuple[Ints, Ints], holders: Ints, kept: _Kept) -> None:
        on_topic = np.flatnonzero(self.topics >= 0)
        names, sorts = _ints(kept.stances), np.array(kept.sorts, dtype=np.int64)
        shared = [
            (rare[0], WORD * _FAMILY + rare[1]),
            (on_topic, TOPIC * _FAMILY + self.topics[on_topic]),
        ]
        own, blocks = _joined([*shared, (holders, sorts * _FAMILY + names)])
        opposite = (TAKES + GIVES - sorts) * _FAMILY + names
        seekers, sought = _joined([*shared, (holders, opposite)])
        order = np.lexsort((own, blocks))
        own, blocks = own[order], blocks[order]
        # Of each block those that fewer than so many newer ones follow.
        ends = np.searchsorted(blocks, blocks, side="right")
        newest = ends - np.arange(blocks.size) <= MOST_SHARING
        self.newest, self.newest_blocks = own[newest], blocks[newest]
        order = np.argsort(seekers, kind="stable")
        self.seekers, self.sought = seekers[order], sought[order]
        self.known, at = np.unique(self.newest_blocks, return_inverse=True)
        self.newest_keys = at * self.count + self.newest

    def pairs(self) -> Iterator[tuple[int, int]]:
        start = 0
        while start < self.seekers.size:
            end = min(start + ROWS, self.seekers.size)
            # All that a claim is looked up by stays together.
            end = int(np.searchsorted(self.seekers, self.seekers[end - 1], "right"))
            yield from self._pairs_of(slice(start, end))
            start = end

    def _pairs_of(self, rows: slice) -> Iterator[tuple[int, int]]:
        one, blocks = self.seekers[rows], self.sought[rows]
        first = np.searchsorted(self.newest_blocks, blocks, "left")
        last = np.searchsorted(self.newest_blocks, blocks, "right")
        which, at = _expanded(first, last)
        one, other = one[which], self.newest[at]
        found = one != other
        keys = np.unique(one[found] * self.count + other[found])
        one, other = np.divmod(keys, self.count)
        may = self._may_disagree(one, other)
        one, other = one[may], other[may]
        later = one > other
        # Met from the other side, unless that side left this one out.
        later[later] = ~self._seeks(other[later], one[later])
        kept = (one < other) | later
        older, newer = np.minimum(one, other)[kept], np.maximum(one, other)[kept]
        yield from zip(
            self.nodes[older].tolist(), self.nodes[newer].tolist(), strict=True
        )

    def _may_disagree(self, one: Ints, other: Ints) -> Truths:
        """Return which pairs have what every contradiction has: a topic or stances in
        common, or most of their words."""
        same_topic = (self.topics[one] == self.topics[other]) & (self.topics[one] >= 0)
        stances = self.has_stance[one] & self.has_stance[other]
        sizes, size = self.sizes[one], self.letters
        starts = self.word_starts[one]
        which, at = _expanded(starts, starts + sizes)
        there = self.word_keys[at] % size + other[which] * size
        shared = np.bincount(which[_is_in(there, self.word_keys)], minlength=one.size)
        least = SAME_WORDS * np.minimum(sizes, self.sizes[other]) - 1e-9
        alike = (shared >= FEWEST_SHARED) & (shared >= least)
        return np.asarray(same_topic | stances | alike, dtype=np.bool_)

    def _seeks(self, one: Ints, other: Ints) -> Truths:
        """Return of which pairs `other` is among those that `one` is held against."""
        first = np.searchsorted(self.seekers, one, "left")
        last = np.searchsorted(self.seekers, one, "right")
        which, at = _expanded(first, last)
        blocks = self.sought[at]
        number = np.searchsorted(self.known, blocks)
        number[number == self.known.size] = 0
        is_known = self.known[number] == blocks if self.known.size else blocks < 0
        met = is_known & _is_in(number * self.count + other[which], self.newest_keys)
        return np.bincount(which[met], minlength=one.size) > 0


def _ints(values: array[int]) -> Ints:
    """Return the numbers of an array, not copied."""
    return np.frombuffer(values, dtype=np.int64)


def _joined(parts: Iterable[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    owners, blocks = zip(*parts, strict=True)
    return np.concatenate(owners), np.concatenate(blocks)


def _rarest(owners: Ints, words: Ints, common: Ints) -> tuple[Ints, Ints]:
    order = np.lexsort((words, common, owners))
    owners, words = owners[order], words[order]
    rank = np.arange(owners.size) - np.searchsorted(owners, owners, "left")
    return owners[rank < RAREST], words[rank < RAREST]


def _expanded(first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return all places of the ranges, each with the number of its range."""
    counts = last - first
    which = np.repeat(np.arange(counts.size), counts)
    begins = np.cumsum(counts) - counts
    return which, np.arange(which.size) - begins[which] + first[which]


def _is_in(some: Ints, ordered: Ints) -> Truths:
    if not ordered.size:
        return np.zeros(some.shape, dtype=np.bool_)
    places = np.minimum(np.searchsorted(ordered, some), ordered.size - 1)
    return np.asarray(ordered[places] == some, dtype=np.bool_)
