"""Word and Excel files whose bytes depend on their content alone."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence

from docx import Document
from openpyxl import Workbook

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_STAMP = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def docx_bytes(markdown: str) -> bytes:
    """Return a Word file of headings and paragraphs written as Markdown."""
    document = Document()
    for block in markdown.strip().split("\n\n"):
        for line in block.split("\n"):
            if heading := re.match(r"(#+) (.*)", line):
                document.add_heading(heading[2], level=len(heading[1]))
            else:
                document.add_paragraph(line)
    buffer = io.BytesIO()
    document.save(buffer)
    return _settled(buffer.getvalue())


def xlsx_bytes(title: str, rows: Sequence[Sequence[object]]) -> bytes:
    """Return an Excel file with one sheet of `rows`."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    for row in rows:
        sheet.append(list(row))
    buffer = io.BytesIO()
    book.save(buffer)
    return _settled(buffer.getvalue())


def _settled(raw: bytes) -> bytes:
    """Return the package with fixed dates, in a fixed order, uncompressed.

    Uncompressed, as two builds of zlib need not agree on every byte.
    """
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(raw)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as new,
    ):
        for name in sorted(
            old.namelist(), key=lambda n: (n != "[Content_Types].xml", n)
        ):
            content = old.read(name)
            if name == "docProps/core.xml":
                content = _STAMP.sub(b"2026-01-01T00:00:00Z", content)
            new.writestr(zipfile.ZipInfo(name, _LONG_AGO), content)
    return buffer.getvalue()
