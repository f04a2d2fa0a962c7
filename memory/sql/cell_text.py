"""Cells of a result, fresh or as JSON kept them, as tables show them."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

from connections.databases.base import Cell
from connections.records import JSON

# A cell as it comes from a server, or as JSON kept it.
AnyCell: TypeAlias = Cell | JSON
BYTES_SHOWN = 64


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
