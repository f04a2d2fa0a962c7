"""Plain text, code and tables of text: no parser that bytes could tie up."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator

from connections.sources.documents_base import (
    Document,
    Section,
    Unreadable,
    build,
    text_tags,
)
from connections.sources.documents_kinds import Kind
from connections.sources.text import decode_bytes

# About what a question is about: a few paragraphs, well below where ingest cuts.
SECTION_CHARACTERS = 1_500
ROWS_PER_SECTION = 50
MAX_HEADER = 500
# Of the first bytes; text has hardly any control characters, packed data about 11 %.
SAMPLE_BYTES = 65_536
MAX_CONTROL_SHARE = 0.02
MAX_CONTROL_SHARE_BY_NAME = 0.3

_CONTROL = bytes(set(range(32)) - set(b"\t\n\x0b\x0c\r\x1b")) + b"\x7f"
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PARAGRAPH_END = re.compile(r"\n(?:[ \t\f\v]*\n)+")


def read_plain(name: str, kind: Kind, data: bytes, *, warning: str = "") -> Document:
    """Return the text of bytes that need no parser; binary ones are `Unreadable`."""
    text = decoded(data, named=kind is not Kind.UNKNOWN)
    sections = table_sections(text) if kind is Kind.TABLE else paragraphs(text)
    return build(
        sections=sections,
        tags=text_tags(text) if kind is Kind.TEXT else (),
        warnings=(warning,) if warning else (),
    )


def decoded(data: bytes, *, named: bool, declared: str = "") -> str:
    """Return `data` as text with "\\n" ends of lines; `Unreadable` if it is not text.

    `named` says that the file's name claims it is text, so that a few odd bytes pass.
    """
    charset = next((name for bom, name in _BOMS if data.startswith(bom)), "")
    if not charset and _is_binary(data, named):
        raise Unreadable("binary: it is neither text nor a format whose text is known")
    text = decode_bytes(data, charset or declared)
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")


def _is_binary(data: bytes, named: bool) -> bool:
    sample = data[:SAMPLE_BYTES]
    control = len(sample) - len(sample.translate(None, _CONTROL))
    if named:
        return control > MAX_CONTROL_SHARE_BY_NAME * len(sample)
    return b"\x00" in data or control > MAX_CONTROL_SHARE * len(sample)


def paragraphs(text: str) -> list[Section]:
    """Return sections of whole paragraphs, each just over 1,500 characters long."""
    sections: list[Section] = []
    start, last = 0, len(text)
    for gap in [*_PARAGRAPH_END.finditer(text), None]:
        end, following = gap.span() if gap else (last, last)
        if gap is None or end - start >= SECTION_CHARACTERS:
            content = text[start:end].strip("\n")
            if content.strip():
                sections.append(Section("", content))
            start = following
    return sections


def table_sections(text: str) -> list[Section]:
    """Return the lines of a CSV or TSV as they are, 50 rows a section.

    The path of each is the header, so that a row is found by its columns' names.
    """
    lines = text.split("\n")
    ends = list(_row_ends(lines))
    if not ends:
        return [Section("", text.strip("\n"))]
    header = " | ".join(_cells(lines[: ends[0]]))[:MAX_HEADER]
    sections, start = [], 0
    for at in range(min(ROWS_PER_SECTION, len(ends)) - 1, len(ends), ROWS_PER_SECTION):
        sections.append(_rows(lines[start : ends[at]], header))
        start = ends[at]
    if start < len(lines):
        sections.append(_rows(lines[start:], header))
    return [section for section in sections if section.content.strip()]


def _rows(lines: list[str], header: str) -> Section:
    return Section("", "\n".join(lines).strip("\n"), (header,) if header else ())


def _row_ends(lines: list[str]) -> Iterator[int]:
    """Yield how many lines are read after each row; a quoted cell may span lines."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=_delimiter(lines))
    try:
        for row in reader:
            if row:
                yield reader.line_num
    except csv.Error:
        # A stray quote swallowed the rest: from here a line is a row.
        yield from range(reader.line_num + 1, len(lines) + 1)


def _cells(lines: list[str]) -> list[str]:
    try:
        row = next(csv.reader(lines, delimiter=_delimiter(lines)), [])
    except csv.Error:
        return []
    return [" ".join(cell.split()) for cell in row if cell.strip()]


def _delimiter(lines: list[str]) -> str:
    head = next((line for line in lines if line.strip()), "")
    return max(",\t;|", key=head.count)
