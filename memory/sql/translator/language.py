"""What a language's word lists are to the translator: phrases with their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

# The role of a phrase, as one letter: rules are regular expressions over them.
Kind: TypeAlias = Literal[
    "t",  # a table
    "c",  # a column
    "v",  # a value that some column holds
    "n",  # a number
    "d",  # a period of days
    "q",  # a quoted or capitalised text that no column is known to hold
    "x",  # a word that is not understood
    "#",  # count
    "a",  # an aggregate
    "e",  # each
    "s",  # a superlative
    "k",  # the top
    "m",  # the most common
    "o",  # ordered by
    "r",  # a direction
    ">",  # a comparison
    "g",  # a comparison said after its number
    "b",  # between
    "!",  # not
    "0",  # without
    "&",
    "|",
    ",",
    "B",  # both
    "u",  # distinct
    "l",  # like
    "w",  # who, with, where: what follows restricts
    "h",  # has
    "p",  # a preposition
    "L",  # an imperative
    "W",  # which
    "*",  # all information
    "f",  # a filter already read
    "_",  # anything already read
]


@dataclass(frozen=True, slots=True)
class Hinted:
    """An operator or direction, and the names of columns it hints at, best first."""

    way: str
    hints: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Language:
    """Phrases of one language by role; all in lower case.

    `roles` maps each role to its phrases and what they stand for; `light` words
    relate things and tell nothing; `stops` are left out.
    """

    name: str
    roles: Mapping[Kind, Mapping[str, object]]
    stops: frozenset[str]
    light: frozenset[str]
    months: Mapping[str, int]
    numbers: Mapping[str, int]
    # Words of periods: "day", "week", "month", "quarter", "year" by what is said.
    units: Mapping[str, str]
    last: frozenset[str]
    this: frozenset[str]
    next_: frozenset[str]
    days: Mapping[str, int]
    # The two nouns that stand for the column that tells rows apart, or names them.
    names: frozenset[str]
    keys: frozenset[str]
    telling: frozenset[str]
    # Beginnings of compounds with what they do to the rest ("Durchschnittsalter").
    prefixes: Mapping[str, tuple[Kind, object]]

    @cached_property
    def phrases(self) -> Mapping[tuple[str, ...], tuple[Kind, object]]:
        return {
            tuple(phrase.split()): (kind, value)
            for kind, phrases in self.roles.items()
            for phrase, value in phrases.items()
        }

    @cached_property
    def longest(self) -> int:
        return max(len(phrase) for phrase in self.phrases)

    def knows(self, words: Sequence[str]) -> int:
        """Return how many of `words` are among the language's small words."""
        small = {phrase[0] for phrase in self.phrases} | self.stops
        return sum(word in small for word in words)
