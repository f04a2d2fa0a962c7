"""PDF documents: a section a page, under the bookmarks that lead to it."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from datetime import datetime

from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import Destination

from connections.records import JSON
from connections.sources.documents_base import (
    Document,
    Section,
    Unreadable,
    build,
    has_words,
    language_name,
    moment,
    names_nothing,
    one_line,
    text_tags,
    words_of,
)
from connections.sources.text import tidy

MAX_PAGES = 5_000
MAX_BOOKMARKS = 5_000
MAX_BOOKMARK_DEPTH = 8

_INFO = ("title", "author", "keywords")

# What pypdf raises on broken structures, besides its own; MemoryError is not among it.
_BROKEN = (
    PyPdfError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)


def read_pdf(data: bytes) -> Document:
    """Return the text of each page; a locked or damaged file is `Unreadable`."""
    if not data:
        raise Unreadable("empty: the file has no bytes")
    reader = _opened(data)
    sections, warnings = _pages(reader)
    if not any(has_words(section.content) for section in sections):
        warnings.append("no text: its pages are pictures or empty")
    info = _info(reader)
    title = info.get("title", "")
    return build(
        title="" if names_nothing(title) else title,
        title_source="properties",
        sections=sections,
        tags={
            *text_tags("\n".join(section.content for section in sections)),
            *words_of(info.get("keywords", "")),
        },
        metadata=_metadata(reader, info),
        warnings=warnings,
        language=_language(reader),
        occurred_at=_date(reader),
    )


def _opened(data: bytes) -> PdfReader:
    try:
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
        pages = 0 if locked else len(reader.pages)
    except _BROKEN as error:
        said = one_line(str(error)) or type(error).__name__
        raise Unreadable(f"damaged: not a PDF document ({said})") from error
    if locked:
        raise Unreadable("locked: the PDF document asks for a password")
    if not pages:
        raise Unreadable("damaged: the PDF document has no pages")
    return reader


def _pages(reader: PdfReader) -> tuple[list[Section], list[str]]:
    sections, warnings = [], []
    total = len(reader.pages)
    paths = _bookmarks(reader)
    path: tuple[str, ...] = ()
    for at in range(min(total, MAX_PAGES)):
        path = paths.get(at, path)
        try:
            text = tidy(reader.pages[at].extract_text())
        except _BROKEN as error:
            text, said = "", one_line(f"{type(error).__name__}: {error}")
            warnings.append(f"page {at + 1} could not be read ({said})")
        sections.append(Section(f"Page {at + 1}", text, path))
    if total > MAX_PAGES:
        warnings.append(f"only the first {MAX_PAGES:,} of {total:,} pages were read")
    return sections, warnings


def _bookmarks(reader: PdfReader) -> dict[int, tuple[str, ...]]:
    """Return, by the page where it begins, the bookmarks that lead to a chapter."""
    found: dict[int, tuple[str, ...]] = {}
    try:
        for path, target in _outline(reader.outline, (), 0):
            number = reader.get_destination_page_number(target)
            if number is not None and number not in found:
                found[number] = path
            if len(found) >= MAX_BOOKMARKS:
                break
    except _BROKEN:
        # A broken outline loses no text: the pages go without chapters.
        return {}
    return found


def _outline(
    items: object, above: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], Destination]]:
    title = above
    for item in items if isinstance(items, list) else ():
        if isinstance(item, list):
            if depth < MAX_BOOKMARK_DEPTH:
                yield from _outline(item, title, depth + 1)
        elif isinstance(item, Destination) and item.title:
            title = (*above, one_line(str(item.title)))
            yield title, item


def _info(reader: PdfReader) -> dict[str, str]:
    try:
        found = reader.metadata
        if found is None:
            return {}
        named = ((name, found.get(f"/{name.title()}")) for name in _INFO)
        return {name: one_line(str(value)) for name, value in named if value}
    except _BROKEN:
        return {}


def _metadata(reader: PdfReader, info: dict[str, str]) -> dict[str, JSON]:
    found: dict[str, JSON] = {"pages": len(reader.pages)}
    if author := info.get("author"):
        found["author"] = author
    return found


def _language(reader: PdfReader) -> str:
    try:
        return language_name(str(reader.root_object.get("/Lang") or ""))
    except _BROKEN:
        return ""


def _date(reader: PdfReader) -> datetime | None:
    try:
        info = reader.metadata
        found = (info.modification_date or info.creation_date) if info else None
        return moment(found)
    except _BROKEN:
        return None
