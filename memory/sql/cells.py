"""Cells of results: as JSON, and as people read them."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from connections.databases.base import Cell
from connections.records import JSON

# Beyond these a browser's numbers are no longer exact.
SAFE_INTEGER = 2**53 - 1
BYTES_SHOWN = 32
# A cell as a model is told it, or a sentence quotes it.
CELL_CHARACTERS = 200


def as_json(cell: Cell) -> JSON:
    """Return a cell as JSON; what JSON's numbers would change is text."""
    if cell is None or isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) <= SAFE_INTEGER else str(cell)
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else str(cell)
    if isinstance(cell, (date, datetime, time)):
        return cell.isoformat()
    if isinstance(cell, (bytes, bytearray, memoryview)):
        raw = bytes(cell)
        return f"0x{raw[:BYTES_SHOWN].hex()}{'…' if len(raw) > BYTES_SHOWN else ''}"
    return str(cell).replace("\x00", "\ufffd")


def in_words(cell: Cell) -> str:
    """Return a cell as it is read: 12,400.00, 2026-11-20 14:05, no value."""
    if cell is None:
        return "no value"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, (int, Decimal)):
        return f"{cell:,}" if _is_plain(cell) else str(cell)
    if isinstance(cell, float):
        return f"{cell:,.10g}" if math.isfinite(cell) else str(cell)
    if isinstance(cell, datetime):
        return f"{cell:%Y-%m-%d %H:%M}"
    if isinstance(cell, timedelta):
        return str(cell)
    said = " ".join(str(as_json(cell)).split())
    return said if len(said) <= CELL_CHARACTERS else f"{said[:CELL_CHARACTERS]}…"


def as_written(cell: Cell) -> str:
    """Return a cell without marks of thousands, as a model may write it."""
    return in_words(cell).replace(",", "") if is_number(cell) else in_words(cell)


def is_number(cell: Cell) -> bool:
    return isinstance(cell, (int, float, Decimal)) and not isinstance(cell, bool)


def _is_plain(cell: int | Decimal) -> bool:
    """Return whether it reads as a quantity: NaN and 1E+40 do not."""
    if isinstance(cell, int):
        return True
    exponent = cell.as_tuple().exponent
    return isinstance(exponent, int) and -30 < exponent <= 0
