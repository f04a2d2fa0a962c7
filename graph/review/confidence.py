"""How far what was read out of texts can be trusted: a number from what is known of it.

Nothing else stores one: neither the rules nor a model give a probability that means
anything. A piece of evidence counts by who read it, how it is worded and how long it
is; independent records add up as independent witnesses do. It is kept with the item of
the review, for it changes with the evidence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

# What one record is worth: read by a rule, by a model alone, or only implied by an edge.
BY_RULE, BY_MODEL, IMPLIED = 0.6, 0.45, 0.1
HEDGED, TOO_SHORT, TOO_LONG = 0.5, 0.7, 0.8
FEWEST_WORDS, MOST_WORDS = 4, 60
LOW = 0.5
# So many records are enough, however each of them is worded.
ENOUGH = 5

# In small letters: to fold each letter while searching takes three times as long.
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|supposedly|apparently|allegedly"
    r"|tentativ\w+|provisional\w*|might|may(?! \d)|could|seems?|appears? to|likely"
    r"|unsure|unclear|not (?:\w+ )?(?:sure|certain|clear|final)"
    r"|i (?:think|guess|suppose|believe|assume|imagine)|we (?:think|might|could|may)"
    r"|rumou?rs?|considering|thinking (?:of|about)|leaning towards?)\b"
    r"|\?\s*$",
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One record's word on a claim, and who read it there."""

    record_id: int
    quote: str
    by_model: bool = False
    is_implied: bool = False

    @property
    def is_hedged(self) -> bool:
        return _HEDGE.search(self.quote.lower()) is not None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return what speaks against it, in words."""
        words = len(self.quote.split())
        found = (
            (self.is_implied, "only implied by an edge"),
            (self.by_model and not self.is_implied, "read by a model, not by a rule"),
            (self.is_hedged, "hedged wording"),
            (words < FEWEST_WORDS, "a very short quote"),
            (words > MOST_WORDS, "a very long quote"),
        )
        return tuple(said for holds, said in found if holds)

    @property
    def worth(self) -> float:
        """Return how likely it holds, going by this piece alone."""
        if self.is_implied:
            return IMPLIED
        worth = BY_MODEL if self.by_model else BY_RULE
        words = len(self.quote.split())
        if self.is_hedged:
            worth *= HEDGED
        if words < FEWEST_WORDS:
            worth *= TOO_SHORT
        return worth * TOO_LONG if words > MOST_WORDS else worth


def confidence_of(pieces: Iterable[Piece]) -> float:
    """Return how likely it holds: that not all of its records are wrong.

    Of one record only the best piece counts; without any it is 0.
    """
    best: dict[int, float] = {}
    for piece in pieces:
        best[piece.record_id] = max(best.get(piece.record_id, 0.0), piece.worth)
    return 1 - math.prod(1 - worth for worth in best.values())
