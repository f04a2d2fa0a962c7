"""What is handed to memory to keep, and what it says of it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from connections.refusals import Refused
from retrieval.merge import jaccard, normalised_tokens

if TYPE_CHECKING:
    from memory.models import Observation

HAND = "hand"
MOST_CHARACTERS = 2000
NEAR = 0.85
_CLOSING = ".!?;:, "
# A word that turns a sentence round, or tells two of them apart, is not a small change.
_NEGATION = re.compile(r"no|not|never|none|without|cannot|\w+nt")


class MemoryRefused(Refused):
    """Memory cannot keep, change or give back what was asked."""

    code = "memory_refused"


class Unsupported(MemoryRefused):
    """Nothing that was cited for it is there, or says so."""

    code = "unsupported"


class NotYours(MemoryRefused):
    """It is in somebody else's memory."""

    code = "not_yours"
    status_code = 403


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A node that was cited, and its words that say so."""

    node_id: int
    key: str
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One thing to remember; `origin` is `rules`, a model's name, or `hand`.

    Only what was written by hand needs no evidence. `supersedes` is the node of an
    older observation that this one replaces.
    """

    observation_type: str
    text: str
    evidence: tuple[Quoted, ...] = ()
    subject: str = ""
    rationale: str = ""
    who: str = ""
    due_at: datetime | None = None
    status: str = ""
    origin: str = "rules"
    supersedes: int | None = None
    words_hash: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words_hash", hash_of(self.text))


@dataclass(frozen=True, slots=True)
class Remembered:
    """What came of it, and the observation that holds it now."""

    observation: Observation
    outcome: Literal["added", "reinforced", "superseded"]


def plain(text: str) -> str:
    """Return `text` on one line, in lower case, without the point at its end."""
    return " ".join(text.lower().split()).rstrip(_CLOSING)


def hash_of(text: str) -> str:
    """Return the SHA-256 of a text as it is compared: 64 hex digits."""
    return hashlib.sha256((plain(text) or text).encode()).hexdigest()


def says_the_same(one: str, other: str) -> bool:
    """Return whether two texts differ by little: a Jaccard index of their words above
    0.85, and neither in a number nor in a negation."""
    ours, theirs = normalised_tokens(one), normalised_tokens(other)
    different = ours ^ theirs
    if any(_tells_apart(token) for token in different):
        return False
    return jaccard(ours, theirs) > NEAR


def _tells_apart(token: str) -> bool:
    has_digit = any(character.isdigit() for character in token)
    return has_digit or _NEGATION.fullmatch(token) is not None


def check_text(text: str) -> None:
    """Raise `MemoryRefused` for a text that cannot be remembered."""
    if not text.strip():
        raise MemoryRefused("There is nothing to remember: the text is empty.")
    if len(text) > MOST_CHARACTERS:
        raise MemoryRefused(
            f"The text has {len(text):,} characters; an observation has at most "
            f"{MOST_CHARACTERS:,}. Put it into several."
        )
