"""Cells of results: as JSON, as tables show them, and as sentences say them."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeAlias

from connections.databases.base import Cell
from connections.records import JSON

# A cell as it comes from a server, or as JSON kept it.
AnyCell: TypeAlias = Cell | JSON
# Beyond these a browser's numbers are no longer exact.
SAFE_INTEGER = 2**53 - 1
BYTES_KEPT, BYTES_SHOWN = 32, 64
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
        return f"0x{raw[:BYTES_KEPT].hex()}{'…' if len(raw) > BYTES_KEPT else ''}"
    return str(cell).replace("\x00", "\ufffd")


def text_of(cell: AnyCell) -> str:
    """Return a cell as a table shows it; nothing of NULL."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, Decimal):
        return format(cell, "f") if cell.is_finite() else str(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, (bytes, bytearray, memoryview)):
        return _hex(bytes(cell))
    return str(cell)


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


def number_of(cell: AnyCell) -> float | None:
    """Return a cell as a finite number, also where JSON kept it as text; else None."""
    if cell is None or isinstance(cell, bool):
        return None
    if not isinstance(cell, (int, float, Decimal, str)):
        return None
    try:
        number = float(cell)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _hex(value: bytes) -> str:
    shown = value[:BYTES_SHOWN].hex()
    rest = f"… ({len(value)} bytes)" if len(value) > BYTES_SHOWN else ""
    return f"0x{shown}{rest}"


def _is_plain(cell: int | Decimal) -> bool:
    """Return whether it reads as a quantity: NaN and 1E+40 do not."""
    if isinstance(cell, int):
        return True
    exponent = cell.as_tuple().exponent
    return isinstance(exponent, int) and -30 < exponent <= 0
