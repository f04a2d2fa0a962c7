"""Masks of values: enough to see that there is one, too little to tell which."""

from __future__ import annotations

from connections.databases.base import Cell

# A text shorter than this would be told by its first letter and length alone.
FIRST_LETTER_FROM = 4
# Up to so many characters, the mask has so many dots: three classes, no lengths.
CLASSES = ((8, 3), (24, 6))
LONGEST = 9
DOT = "•"


def mask(value: Cell) -> str | None:
    """Return the first letter of a text and dots for its class of length.

    Of a number, a date or anything else only dots are kept, of a text below four
    characters too. NULL stays NULL: that there is no value is no value.
    """
    if value is None:
        return None
    if not isinstance(value, str):
        return DOT * CLASSES[0][1]
    first = value[0] if len(value) >= FIRST_LETTER_FROM else ""
    # A digit tells more of a number than a letter of a name: a year, an area code.
    return (first if first.isalpha() else "") + DOT * _dots(len(value))


def _dots(length: int) -> int:
    return next((dots for most, dots in CLASSES if length <= most), LONGEST)
