"""Results as CSV that a spreadsheet opens without running anything in it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponse
from django.utils.text import slugify

from memory.sql.cells import AnyCell, text_of

# What a spreadsheet takes for the beginning of a formula, wide forms included.
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NEGATIVE = re.compile(r"-\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
# Without it spreadsheets read UTF-8 as something else.
_MARK = "\ufeff"


def neutral(cell: AnyCell) -> str:
    """Return the text of `cell` so that no spreadsheet takes it for a formula.

    Text that would be one gets an apostrophe before it; a negative number stays one.
    """
    text = text_of(cell)
    if _FORMULA.match(text) and not _NEGATIVE.fullmatch(text):
        return f"'{text}"
    return text


def csv_lines(names: Sequence[str], rows: Iterable[Sequence[AnyCell]]) -> Iterator[str]:
    """Yield a result line by line, its names first."""
    writer = csv.writer(_Echo())
    yield _MARK + writer.writerow([neutral(name) for name in names])
    for row in rows:
        yield writer.writerow([neutral(cell) for cell in row])


def csv_response(
    title: str, names: Sequence[str], rows: Iterable[Sequence[AnyCell]]
) -> HttpResponse:
    """Return a result as a file that the browser keeps, named after `title`."""
    name = slugify(title)[:60] or "result"
    return HttpResponse(
        "".join(csv_lines(names, rows)),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.csv"',
            "Cache-Control": "private, no-store",
            "X-Content-Type-Options": "nosniff",
        },
    )


class _Echo:
    """A file for `csv.writer` that gives back each line instead of keeping it."""

    def write(self, line: str) -> str:
        return line
