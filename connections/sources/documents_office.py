"""Presentations, a section a slide, and workbooks, a section a sheet."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime, time

import openpyxl
from lxml import etree
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet.worksheet import Worksheet
from pptx.package import Package
from pptx.parts.presentation import PresentationPart
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide

from connections.sources.documents_base import (
    Document,
    Section,
    Unreadable,
    build,
    one_line,
    text_tags,
    words_of,
)
from connections.sources.documents_zip import Properties, office_properties
from connections.sources.text import tidy

MAX_ROWS = 20_000
MAX_COLUMNS = 200
MAX_GROUP_DEPTH = 16

_BROKEN = (
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    etree.XMLSyntaxError,
    SyntaxError,
    InvalidFileException,
)


def read_slides(data: bytes) -> Document:
    """Return a section a slide: its texts and tables, then the speaker's notes."""
    facts = office_properties(data, "PowerPoint presentation")
    sections: list[Section] = []
    warnings: list[str] = []
    for number, slide in enumerate(_slides(data), start=1):
        try:
            sections.append(_slide(slide, number))
        except _BROKEN as error:
            warnings.append(f"slide {number} could not be read: {error}")
    return _document(facts, sections, warnings)


def _document(
    facts: Properties, sections: list[Section], warnings: Iterable[str]
) -> Document:
    text = "\n".join(section.content for section in sections)
    return build(
        title=facts.title,
        title_source="properties",
        sections=sections,
        tags={*text_tags(text), *words_of(facts.keywords)},
        metadata={"author": facts.author} if facts.author else {},
        warnings=warnings,
        language=facts.language,
        occurred_at=facts.modified,
    )


def _slides(data: bytes) -> list[Slide]:
    try:
        part = Package.open(io.BytesIO(data)).main_document_part
        if isinstance(part, PresentationPart):
            return list(part.presentation.slides)
    except _BROKEN as error:
        raise Unreadable(f"damaged: not a PowerPoint presentation ({error})") from error
    raise Unreadable("damaged: the container holds no PowerPoint presentation")


def _slide(slide: Slide, number: int) -> Section:
    heading = slide.shapes.title
    title = one_line(heading.text_frame.text) if heading is not None else ""
    lines = [line for shape in slide.shapes for line in _shape(shape, MAX_GROUP_DEPTH)]
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame):
        lines += ["", notes.text]
    content = "\n".join(lines).replace("\v", "\n")
    return Section(title or f"Slide {number}", tidy(content))


def _shape(shape: BaseShape, depth: int) -> Iterator[str]:
    if isinstance(shape, GroupShape):
        for inner in shape.shapes if depth else ():
            yield from _shape(inner, depth - 1)
    elif isinstance(shape, GraphicFrame) and shape.has_table:
        for row in shape.table.rows:
            yield " | ".join(_flat(cell.text_frame.text) for cell in row.cells)
    elif isinstance(shape, Shape) and shape.has_text_frame:
        yield shape.text_frame.text


def read_workbook(data: bytes) -> Document:
    """Return a section a sheet, a line a row: "a | b | c"; formulas as computed."""
    facts = office_properties(data, "Excel workbook")
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    except _BROKEN as error:
        raise Unreadable(f"damaged: not an Excel workbook ({error})") from error
    sections: list[Section] = []
    warnings: list[str] = []
    for sheet in book.worksheets:
        lines, said = _sheet(sheet)
        sections.append(Section(sheet.title, "\n".join(lines)))
        warnings += [f"sheet {sheet.title!r}: {warning}" for warning in said]
    return _document(facts, sections, warnings)


def _sheet(sheet: Worksheet) -> tuple[list[str], list[str]]:
    """Return the sheet's filled rows as lines, and what of it was left out."""
    lines: list[str] = []
    warnings: list[str] = []
    wide = False
    try:
        # The size that a sheet states is often wrong, and then rows would be missing.
        # The library's class of read-only sheets; its declared one lacks this.
        reset = getattr(sheet, "reset_dimensions", None)
        if reset:
            reset()
        for row in sheet.iter_rows(values_only=True):
            wide = wide or any(value is not None for value in row[MAX_COLUMNS:])
            if line := _line(row[:MAX_COLUMNS]):
                lines.append(line)
            if len(lines) > MAX_ROWS:
                warnings.append(f"only the first {MAX_ROWS:,} rows were read")
                break
    except _BROKEN as error:
        warnings.append(f"its rows after {len(lines):,} could not be read ({error})")
    if wide:
        warnings.append(f"only the first {MAX_COLUMNS} columns were read")
    return lines[:MAX_ROWS], warnings


def _line(row: Iterable[object]) -> str:
    cells = [_cell(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return " | ".join(cells) if any(cells) else ""


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}" if value.time() == time() else value.isoformat(" ")
    return _flat(str(value))


def _flat(text: str) -> str:
    return " ".join(text.split())
