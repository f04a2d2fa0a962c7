"""Near-duplicates among results, merged into the most relevant of them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from connections.records import JSON
from retrieval.results import Result

# Neither a letter, a digit nor white space.
_PUNCTUATION = re.compile(r"[^\w\s]|_")


def normalised_tokens(text: str) -> frozenset[str]:
    """Return the set of the words of `text`, in lower case and without punctuation."""
    return frozenset(_PUNCTUATION.sub("", text.lower()).split())


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the tokens of both that they have in common; two empty
    sets have nothing in common: 0."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


class Leaders:
    """Token sets, none of them a near-duplicate of an earlier one.

    Exact, at a fraction of the comparisons: two sets whose Jaccard index is above `t`
    share one of the rarest `|x| - ceil(t |x|) + 1` tokens of each, and neither is
    shorter than `t` times the other. Source: prefix and length filtering of AllPairs
    (Bayardo, Ma and Srikant, WWW 2007) and PPJoin (Xiao et al., WWW 2008).
    `comparisons` counts the pairs that were compared whole.
    """

    def __init__(self, all_sets: Iterable[frozenset[str]], threshold: float) -> None:
        if not 0 <= threshold <= 1:
            raise ValueError(f"The threshold is {threshold}; it must be from 0 to 1.")
        self.threshold = threshold
        self.comparisons = 0
        self._sets: list[frozenset[str]] = []
        self._with: dict[str, list[int]] = defaultdict(list)
        # One order of the tokens for all sets: the rarest first.
        occurs: Counter[str] = Counter()
        for tokens in all_sets:
            occurs.update(tokens)
        rarest = sorted(sorted(occurs), key=occurs.__getitem__)
        self._place = {token: place for place, token in enumerate(rarest)}

    def place(self, tokens: frozenset[str]) -> int | None:
        """Return the first leader more similar to `tokens` than the threshold; without
        one, make `tokens` the next leader and return None."""
        # No index is above 1.
        prefix = self._prefix(tokens)
        found = self._first(tokens, prefix) if self.threshold < 1 else None
        if found is None:
            self._lead(tokens, prefix)
        return found

    def _first(self, tokens: frozenset[str], prefix: Sequence[str]) -> int | None:
        near = {i for token in prefix for i in self._with[token]}
        least, most = self._lengths(len(tokens))
        for leader in sorted(near):
            if least <= len(self._sets[leader]) <= most:
                self.comparisons += 1
                if jaccard(tokens, self._sets[leader]) > self.threshold:
                    return leader
        return None

    def _lead(self, tokens: frozenset[str], prefix: Sequence[str]) -> None:
        number = len(self._sets)
        self._sets.append(tokens)
        for token in prefix:
            self._with[token].append(number)

    def _prefix(self, tokens: frozenset[str]) -> list[str]:
        # Only what is above the threshold counts: rounding cannot lose a pair.
        length = len(tokens) - math.ceil(self.threshold * len(tokens)) + 1
        return sorted(tokens, key=self._place.__getitem__)[:length]

    def _lengths(self, length: int) -> tuple[float, float]:
        if not self.threshold:
            return 0, math.inf
        return self.threshold * length, length / self.threshold


def group_near_duplicates(
    texts: Sequence[str], threshold: float, *, least: int = 0
) -> list[list[int]]:
    """Return the positions of `texts` in groups, each with its leader first; a text of
    fewer than `least` different words is a group of its own.

    A text joins the first group whose *leader* it resembles by more than `threshold`;
    so everything in a group is that similar to the text that stays, and a chain of
    small changes is not one group: being a near-duplicate is not transitive.
    """
    sets = [normalised_tokens(text) for text in texts]
    leaders = Leaders(sets, threshold)
    # Those of the leaders first, in their order, as `place` numbers them.
    led: list[list[int]] = []
    alone: list[list[int]] = []
    for position, tokens in enumerate(sets):
        if len(tokens) < least:
            alone.append([position])
        elif (leader := leaders.place(tokens)) is None:
            led.append([position])
        else:
            led[leader].append(position)
    return led + alone


def merge_near_duplicates(
    results: Sequence[Result], threshold: float, *, least: int = 0
) -> tuple[Result, ...]:
    """Return `results` without near-duplicates, in their order; texts of fewer than
    `least` different words are left alone.

    Of those whose texts' Jaccard index is above `threshold` the most relevant stays
    (of equals, that with the lesser key), marked `cross_validated`, with the entities
    of all, and the metadata of the others as `source_*`.
    """
    ranked = sorted(results, key=lambda result: (-result.relevance, result.key))
    texts = [result.text for result in ranked]
    groups = group_near_duplicates(texts, threshold, least=least)
    merged = {
        id(ranked[leader]): _united(ranked[leader], [ranked[i] for i in others])
        for leader, *others in groups
    }
    return tuple(merged[id(result)] for result in results if id(result) in merged)


def _united(result: Result, others: Sequence[Result]) -> Result:
    if not others:
        return result
    metadata = dict(result.metadata)
    for other in others:
        _lend(metadata, other)
    entities = [name for one in (result, *others) for name in one.entities]
    return replace(
        result,
        entities=tuple(dict.fromkeys(entities)),
        metadata=metadata,
        cross_validated=True,
    )


def _lend(metadata: dict[str, JSON], other: Result) -> None:
    """Add what the other says of itself, and its key; a name that is taken gets a
    number, so that nothing is lost where several are merged."""
    for name, value in (("key", other.key), *other.metadata.items()):
        label, number = f"source_{name}", 2
        while label in metadata:
            label, number = f"source_{number}_{name}", number + 1
        metadata[label] = value


def cap_each_store(results: Iterable[Result], most: int) -> list[Result]:
    """Keep the first `most` results of each store, in their order."""
    kept: Counter[str] = Counter()
    capped = []
    for result in results:
        kept[result.store] += 1
        if kept[result.store] <= most:
            capped.append(result)
    return capped
