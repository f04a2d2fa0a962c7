"""The sentences of an answer, each with the numbers behind it."""

from __future__ import annotations

import re

_SENTENCE = re.compile(
    r"(?s).*?(?:[.!?…][\"'\u2019\u201d)]*(?:\s?\[\d{1,3}\])*\s+|\n+|\Z)"
)
NUMBER = re.compile(r"\[(\d{1,3})\]")


def sentences(text: str) -> list[str]:
    """Split `text` after its sentences and lines; joined they are `text` again."""
    return [piece for piece in _SENTENCE.findall(text) if piece]


def numbers_of(text: str) -> tuple[int, ...]:
    """Return the numbers of the citations in `text`, each once, in order."""
    return tuple(dict.fromkeys(int(number) for number in NUMBER.findall(text)))
