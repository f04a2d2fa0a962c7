"""Text for spreadsheets, which take some of it for formulas."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

# What a spreadsheet takes for the beginning of a formula, wide forms included.
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NEGATIVE = re.compile(r"-\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
# Without it spreadsheets read UTF-8 as something else.
MARK = "\ufeff"


def neutral_text(text: str) -> str:
    """Return `text` so that no spreadsheet takes it for a formula.

    Text that would be one gets an apostrophe before it; a negative number stays one.
    """
    if _FORMULA.match(text) and not _NEGATIVE.fullmatch(text):
        return f"'{text}"
    return text


def lines_of_cells(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield rows of texts as lines of CSV; the first begins with the mark of UTF-8."""
    writer = csv.writer(_Echo())
    mark = MARK
    for row in rows:
        yield mark + writer.writerow([neutral_text(cell) for cell in row])
        mark = ""


class _Echo:
    """A file for `csv.writer` that gives back each line instead of keeping it."""

    def write(self, line: str) -> str:
        return line
