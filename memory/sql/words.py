"""Words of questions and of schemas, so that they can be compared."""

from __future__ import annotations

import re

# Where two words are so alike, one is a form of the other: customer, customers.
STEM, ENDING = 4, 3
# A shorter word stands inside too many others by chance.
PART = 5
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """Return the words of `text` in order; `orderDate` and `order_date` have two."""
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def normalised(question: str) -> str:
    """Return a question as it is compared: its words, in one case, one blank apart."""
    return " ".join(word.casefold() for word in _WORD.findall(question))


def likeness(said: str, known: str) -> float:
    """Return how much a word of a question is a word of a schema, 0 to 1."""
    if said == known:
        return 1.0
    shorter, longer = sorted((said, known), key=len)
    if len(shorter) >= STEM and longer.startswith(shorter):
        return 0.9 if len(longer) - len(shorter) <= ENDING else 0.4
    if len(shorter) >= STEM and _shared(said, known) >= max(STEM, len(shorter) - 2):
        return 0.7 if abs(len(said) - len(known)) <= ENDING else 0.0
    return 0.5 if len(known) >= PART and known in said else 0.0


def trigrams(text: str) -> frozenset[str]:
    padded = f"  {text.casefold()} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def similarity(one: str, other: str) -> float:
    """Return the share of trigrams that two texts have in common."""
    a, b = trigrams(one), trigrams(other)
    return len(a & b) / len(a | b)


def _shared(one: str, other: str) -> int:
    """Return how many letters two words begin with together."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
