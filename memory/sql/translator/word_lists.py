"""Lists of words and of phrases, written as one text each."""

from __future__ import annotations


def word_list(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


def phrase_list(text: str) -> tuple[str, ...]:
    """Return the phrases of a text, which stand between semicolons."""
    return tuple(text.split(";"))
