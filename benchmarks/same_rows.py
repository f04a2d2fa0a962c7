"""Whether two statements give the same rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import combinations, permutations
from typing import Any

Row = tuple[Hashable, ...]
MOST_COLUMNS = 6
DIGITS = 6
CHOICE = re.compile(r"\{([^{}]*)\}")


def plain(cell: Any) -> Hashable:
    """Return a cell such that equal ones of different engines are equal."""
    if cell is None or isinstance(cell, bool):
        return cell if cell is None else int(cell)
    if isinstance(cell, int | float | Decimal):
        return float(f"{float(cell):.{DIGITS}g}")
    if isinstance(cell, datetime):
        return cell.replace(tzinfo=None).isoformat(" ")
    if isinstance(cell, date):
        return f"{cell.isoformat()} 00:00:00"
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    text = str(cell).strip()
    try:
        return float(f"{float(text):.{DIGITS}g}")
    except ValueError:
        return text


def same_rows(
    ours: Iterable[Sequence[Any]], gold: Iterable[Sequence[Any]], *, ordered: bool
) -> bool:
    """Whether the rows are the same, columns in any order.

    Rows count as often as they come; their order only where `ordered` says so.
    """
    left = [tuple(map(plain, row)) for row in ours]
    right = [tuple(map(plain, row)) for row in gold]
    if len(left) != len(right):
        return False
    if not left:
        return True
    width = len(left[0])
    if width != len(right[0]):
        return False
    if width > MOST_COLUMNS:
        return _same(left, right, ordered)
    return any(
        _same([tuple(row[i] for i in order) for row in left], right, ordered)
        for order in permutations(range(width))
    )


def _same(left: Sequence[Row], right: Sequence[Row], ordered: bool) -> bool:
    return list(left) == list(right) if ordered else Counter(left) == Counter(right)


def expanded(gold: str) -> list[str]:
    """Return all statements that a template of defog's stands for.

    `;` parts alternatives; `{a, b}` stands for any of its columns, of which there is
    at least one, and an empty `{}` for the same columns again.
    """
    found: list[str] = []
    for statement in filter(None, (part.strip() for part in gold.split(";"))):
        choice = CHOICE.search(statement)
        if choice is None:
            found.append(statement)
            continue
        columns = [column.strip() for column in choice.group(1).split(",")]
        for size in range(1, len(columns) + 1):
            for some in combinations(columns, size):
                text = ", ".join(some)
                rest = statement[: choice.start()] + text + statement[choice.end() :]
                found.extend(expanded(rest.replace("{}", text)))
    return found
