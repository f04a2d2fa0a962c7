"""What is a word of a language, whether or not any text of a project has it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from spellchecker import SpellChecker

from graph.language import CONFIGURATIONS


def is_word(word: str, languages: Iterable[str]) -> bool:
    """Say whether `word`, in small letters, is one of a language, given by its
    text-search configuration. Not of one without a dictionary."""
    return any(word in _words(language) for language in languages)


@cache
def _words(language: str) -> frozenset[str]:
    codes = [code for code, name in CONFIGURATIONS.items() if name == language]
    if not codes or codes[0] not in SpellChecker.languages():
        return frozenset()
    return frozenset(SpellChecker(language=codes[0]).word_frequency.dictionary)
