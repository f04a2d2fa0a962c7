"""How strong a memory is: published arithmetic, in closed form.

A naive loop multiplies every observation of a scope at the end of each conversation:
1.1 where it was referenced (at most 1.0), 0.9 where not, and lets go of what falls
below 0.05. Here the scope counts its ticks, and a strength holds until it is counted
anew: `strength * 0.9 ** (ticks - counted_at)`. Only what was referenced is written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

START, REFERENCED, FADED, FORGOTTEN = 0.5, 1.1, 0.9, 0.05
# A protected one fades for ever; the database keeps it above zero.
FAINTEST = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How strong something was when it was counted, at a tick of its scope.

    `is_pinned`: it does not fade. `is_protected`: it fades, but does not leave.
    """

    strength: float = START
    counted_at: int = 0
    is_pinned: bool = False
    is_protected: bool = False

    def at(self, ticks: int) -> float:
        """Return the importance, above 0 and at most 1, when the scope has `ticks`."""
        if self.is_pinned:
            return self.strength
        return faded(self.strength, ticks - self.counted_at)

    @property
    def leaves_at(self) -> int | None:
        """Return the tick at which it leaves, if it is not counted before; None: it
        stays."""
        if self.is_pinned or self.is_protected:
            return None
        return self.counted_at + ticks_left(self.strength)

    def has_left(self, ticks: int) -> bool:
        leaves_at = self.leaves_at
        return leaves_at is not None and leaves_at <= ticks

    def counted(self, ticks: int, factor: float = REFERENCED) -> Strength:
        """Return it after a conversation that it was in; `ticks` are those after it.

        The latest tick took nothing of what was in a conversation of that tick: where
        a tick is a day, also one that ended earlier in the day.
        """
        kept = (
            self.strength
            if self.is_pinned
            else faded(self.strength, ticks - 1 - self.counted_at)
        )
        return replace(
            self, strength=max(FAINTEST, min(1.0, kept * factor)), counted_at=ticks
        )

    def pinned(self, ticks: int, is_pinned: bool) -> Strength:
        """Return it held as strong as it is now, or fading from now on."""
        return replace(
            self, strength=self.at(ticks), counted_at=ticks, is_pinned=is_pinned
        )

    def protected(self, ticks: int, is_protected: bool) -> Strength:
        return replace(
            self, strength=self.at(ticks), counted_at=ticks, is_protected=is_protected
        )

    def moved(self, ticks: int, to_ticks: int) -> Strength:
        """Return it in another scope, as strong as in the one it comes from."""
        return replace(self, strength=self.at(ticks), counted_at=to_ticks)

    def restored(self, ticks: int) -> Strength:
        """Return it as strong as what is new."""
        return replace(self, strength=START, counted_at=ticks)


def faded(strength: float, ticks: int) -> float:
    """Return `strength` after `ticks` ticks in which it was not referenced."""
    return max(FAINTEST, strength * FADED ** max(0, ticks))


def ticks_left(strength: float) -> int:
    """Return after how many ticks `strength` has fallen below 0.05, 0 if it has."""
    if strength < FORGOTTEN:
        return 0
    ticks = max(1, math.floor(math.log(FORGOTTEN / strength) / math.log(FADED)))
    # The logarithm may round to either side of the tick.
    while faded(strength, ticks) >= FORGOTTEN:
        ticks += 1
    while ticks > 1 and faded(strength, ticks - 1) < FORGOTTEN:
        ticks -= 1
    return ticks
