"""Cells of a result, as JSON keeps them and as a person reads them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

from connections.databases.base import Cell
from connections.records import JSON

# A cell as it comes from a server, or as JSON kept it.
AnyCell: TypeAlias = Cell | JSON
# Beyond it a script's numbers lose their last digits.
EXACT = 2**53
BYTES_SHOWN = 64


def as_json(cell: Cell) -> JSON:
    """Return `cell` as JSON holds it: what has no form of its own there, as text.

    Numbers that a script could not hold exactly are text, too.
    """
    if cell is None or isinstance(cell, (bool, str)):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) < EXACT else str(cell)
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else str(cell)
    return text_of(cell)


def rows_as_json(rows: Sequence[Sequence[Cell]]) -> list[list[JSON]]:
    """Return rows as JSON holds them."""
    return [[as_json(cell) for cell in row] for row in rows]


def text_of(cell: AnyCell) -> str:
    """Return `cell` as a person reads it; nothing of NULL."""
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
    if isinstance(cell, (int, float, str, timedelta, UUID)):
        return str(cell)
    return str(cell)


def number_of(cell: AnyCell) -> float | None:
    """Return `cell` as a finite number; None: it is none."""
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
