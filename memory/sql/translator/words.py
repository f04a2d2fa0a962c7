"""Words of questions and of identifiers, cut and brought to one form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import inflection

from memory.sql.translator.word_lists import word_list

QUOTED = r"``(.+?)''|\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|(?<!\w)'([^']+)'(?!\w)"
TOKEN = re.compile(
    rf"{QUOTED}|(\d{{4}}-\d\d-\d\d|\d[\d,]*(?:\.\d+)?)(?![\w-])|([^\W_][\w&.@/-]*"
    r"(?:'[^\W\d]+)?)|([,;?!.()])"
)
PART = re.compile(r"[A-ZÄÖÜ]+(?![a-zäöüß])|[A-ZÄÖÜ]?[a-zäöüß]+|\d+")
FOLDED = str.maketrans(
    {"ä": "a", "ö": "o", "ü": "u", "ß": "ss", "é": "e", "è": "e", "á": "a", "ç": "c"}
)
# Endings that make a verb, an agent or a state of the same thing.
SUFFIXES = word_list(
    "ations ation ments ment ings ing ions ion ers ies ied ed er es ors or ly y e s"
)
GERMAN_SUFFIXES = word_list("innen ien ungen ung in ern en er es em e n s")
LEAST_ROOT = 3


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, mark or quoted text of a question, at its place."""

    text: str
    place: int
    quoted: bool = False
    number: int | float | None = None
    is_mark: bool = False
    start: int = 0
    end: int = 0

    @property
    def low(self) -> str:
        return self.text.lower()

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper()


def tokens_of(question: str) -> list[Token]:
    """Return the words, numbers, quoted texts and marks of a question."""
    found: list[Token] = []
    for match in TOKEN.finditer(question):
        *quotes, number, word, mark = match.groups()
        quoted = next((text for text in quotes if text), None)
        place = len(found)
        start, end = match.span()
        if quoted is not None:
            text = quoted.strip()
            number_said = number_of(text)
            found.append(Token(text, place, True, number_said, False, start, end))
        elif number:
            read = number_of(number)
            found.append(Token(number, place, False, read, False, start, end))
        elif word:
            word = word.removesuffix("'s").rstrip(".-/&")
            end = start + len(word)
            found.append(Token(word, place, False, None, False, start, end))
        else:
            found.append(Token(mark, place, False, None, True, start, end))
    return found


def number_of(text: str) -> int | float | None:
    """Return the number that a text is; None where it is none."""
    plain = text.replace(",", "")
    if re.fullmatch(r"-?\d{1,15}", plain):
        return int(plain)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,9}", plain):
        return float(plain)
    return None


def parts_of(identifier: str) -> tuple[str, ...]:
    """Return the words of an identifier: snake, camel or with spaces."""
    return tuple(part.lower() for part in PART.findall(identifier))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a word as singular, folded to plain letters."""
    low = word.lower().translate(FOLDED)
    if len(low) < 3 or low.endswith("ss"):
        return low
    single = str(inflection.singularize(low))
    # German: "Kunden" and "Kunde"; an English "open" loses its end on both sides.
    is_plural = single.endswith("en") and len(single) > 4
    return single[:-1] if is_plural else single


@lru_cache(maxsize=20_000)
def roots(word: str) -> frozenset[str]:
    """Return what is left of a word without the endings of either language."""
    low = word.lower().translate(FOLDED)
    return frozenset({stem(low), _cut(low, SUFFIXES), _cut(low, GERMAN_SUFFIXES)})


def _cut(word: str, endings: tuple[str, ...]) -> str:
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= LEAST_ROOT:
            return word.removesuffix(ending)
    return word
