"""Results as CSV that a spreadsheet opens without running anything in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from django.http import HttpResponse
from django.utils.text import slugify

from connections.spreadsheet import lines_of_cells
from memory.sql.cells import AnyCell, text_of


def csv_lines(names: Sequence[str], rows: Iterable[Sequence[AnyCell]]) -> Iterator[str]:
    """Yield a result line by line, its names first."""
    texts = ([text_of(cell) for cell in row] for row in rows)
    yield from lines_of_cells(chain([names], texts))


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
