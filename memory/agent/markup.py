"""The marks of Markdown that the filter of citations looks for."""

from __future__ import annotations

import re

# What may become a link, code or a number is held back no longer than this.
HOLD = 1500
_DIGITS = r"\d{1,9}"
_LIST = rf"\^?{_DIGITS}(?:\s*(?:[,;\u3001\uff0c\uff1b&\u2013-]\s*)?{_DIGITS})*"
_MARKER = re.compile(rf"\s*{_LIST}\s*")
_RANGE = re.compile(rf"({_DIGITS})\s*[\u2013-]\s*({_DIGITS})")
LONGEST_RANGE = 30

FENCE = re.compile(
    r"[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]{0,30})"
    r"(?:(?<=`)[^`\n]*|[^`\n]*)(?:\n|\Z)"
)
MAYBE_FENCE = re.compile(r"[ \t]*(?:`{0,2}|~{0,2}|(?:`{3,}|~{3,})[^\n`]*)")
DEFINITION = re.compile(
    r"[ \t]*\[(?P<label>[^\]\n]+)\]:[ \t]*<?(?P<address>[^\s>]+)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^)\n]*\)))?[ \t]*(?:\n|\Z)"
)
MAYBE_DEFINITION = re.compile(r"[ \t]*\[[^\]\n]*(?:\](?::[^\n]*)?)?")
AUTOLINK = re.compile(
    r"<([A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>]+)>", re.ASCII
)
MAYBE_AUTOLINK = re.compile(r"<[^\s<>]*")
FULL_WIDTH = re.compile(
    rf"[【\uff3b]\s*({_LIST})\s*(?:\u2020[^】\uff3d\]\n]{{0,80}})?[】\uff3d\]]"
)
FULL_WIDTH_SO_FAR = re.compile(
    r"[【\uff3b][\s\d,;\u3001\uff0c\uff1b&^\u2013-]*(?:\u2020[^】\uff3d\]\n]*)?"
)
WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.\-]*")
URL = re.compile(r"[^\s<>\"`\[\]【】\uff3b\uff3d\\]+")
_DESTINATION = re.compile(
    r"\s*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>\S*))"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?\s*"
)


def numbers_in(inner: str) -> tuple[int, ...]:
    """Return the numbers of a marker whose brackets hold `inner`; none: it is no marker.

    Takes "1", "1, 2", "1-3", "^1" and any of them in brackets once more.
    """
    bare = re.sub(r"[\[\]\\]", " ", inner)
    if not _MARKER.fullmatch(bare):
        return ()
    found: list[int] = []
    place = 0
    bare = bare.replace("^", " ")
    for pair in _RANGE.finditer(bare):
        found += _numbers(bare[place : pair.start()])
        first, last = int(pair[1]), int(pair[2])
        is_range = first < last <= first + LONGEST_RANGE
        found += range(first, last + 1) if is_range else (first, last)
        place = pair.end()
    return (*found, *_numbers(bare[place:]))


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(_DIGITS, text)]


def closing(text: str, at: int, opening: str, close: str) -> int | None:
    """Return where what opens at `at` closes: before a blank line, not too far away."""
    depth, place = 0, at
    while place < min(len(text), at + HOLD):
        sign = text[place]
        if sign == "\\" and text[place + 1 : place + 2] not in ("[", "]"):
            place += 1
        elif sign == opening:
            depth += 1
        elif sign == close:
            depth -= 1
            if not depth:
                return place
        elif text.startswith("\n\n", place):
            return None
        place += 1
    return None


def destination(inner: str) -> str | None:
    """Return the address of a link whose round brackets hold `inner`; None: it is none."""
    found = _DESTINATION.fullmatch(inner)
    if found is None:
        return None
    return found["angled"] if found["angled"] is not None else found["bare"]
