"""Cells of MySQL and MariaDB, out of the bytes that the server sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from connections.databases.base import Cell, Family
from connections.databases.caps import Cutter

# The numbers of the protocol: `MySQLdb` may be absent, they are the same everywhere.
DECIMALS, WHOLES, FLOATS = (0, 246), (1, 2, 3, 8, 9, 13), (4, 5)
DATES, TIMES, MOMENTS = (10, 14), (11,), (7, 12)
BIT, JSON, GEOMETRY = 16, 245, 255
BYTES = (15, 247, 248, 249, 250, 251, 252, 253, 254)
BINARY_FLAG = 128

Convert = Callable[[Any], Cell]
_FAMILIES: Mapping[int, Family] = {
    **dict.fromkeys((*DECIMALS, *WHOLES, *FLOATS, BIT), "number"),
    **dict.fromkeys(DATES, "date"),
    **dict.fromkeys(TIMES, "time"),
    **dict.fromkeys(MOMENTS, "timestamp"),
    JSON: "json",
    GEOMETRY: "binary",
}


def converters(cutter: Cutter) -> dict[int, Any]:
    """Return what the driver calls for each type; all of them take any bytes."""
    text, binary = cutter.text, cutter.binary
    simple: dict[int, Any] = {
        **dict.fromkeys(DECIMALS, _or_text(Decimal, text)),
        **dict.fromkeys(WHOLES, _or_text(int, text)),
        **dict.fromkeys(FLOATS, _or_text(float, text)),
        **dict.fromkeys(DATES, _or_text(date.fromisoformat, text)),
        **dict.fromkeys(MOMENTS, _or_text(datetime.fromisoformat, text)),
        **dict.fromkeys(TIMES, _or_text(time_of, text)),
        BIT: lambda raw: int.from_bytes(raw, "big"),
        JSON: text,
        GEOMETRY: binary,
    }
    # The driver sets the flag where the character set is `binary`.
    of_bytes = [(BINARY_FLAG, binary), (None, text)]
    return {**simple, **dict.fromkeys(BYTES, of_bytes)}


def family_of(type_code: int, converter: object, cutter: Cutter) -> Family:
    """Return how the values of a column compare."""
    if type_code in BYTES:
        return "binary" if converter == cutter.binary else "text"
    return _FAMILIES.get(type_code, "other")


def time_of(text: str) -> time | timedelta:
    """Return a time of day, or the span that TIME may also hold: from -838 hours on."""
    sign = -1 if text.startswith("-") else 1
    hours, minutes, seconds = text.lstrip("-").split(":")
    span = sign * timedelta(
        hours=int(hours),
        minutes=int(minutes),
        microseconds=int(Decimal(seconds) * 1_000_000),
    )
    if timedelta(0) <= span < timedelta(days=1):
        return (datetime.min + span).time()
    return span


def _or_text(convert: Callable[[str], Cell], text: Convert) -> Convert:
    """Return a converter that leaves as text what Python has no value for: 0000-00-00."""

    def converted(raw: bytes | str) -> Cell:
        as_text = raw if isinstance(raw, str) else raw.decode("ascii", "replace")
        with suppress(ValueError, ArithmeticError):
            return convert(as_text)
        return text(as_text.encode())

    return converted
