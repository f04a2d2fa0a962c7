"""Word documents: a section a heading, with tables, in the order of the text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from docx.document import Document as WordFile
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.part import PartFactory
from docx.oxml.ns import qn
from docx.package import Package
from docx.parts.document import DocumentPart
from lxml import etree

from connections.sources.documents_base import (
    Document,
    Section,
    Unreadable,
    build,
    text_tags,
    words_of,
)
from connections.sources.documents_zip import office_properties
from connections.sources.text import tidy

# python-docx opens plain documents; templates and files with macros have the same text.
for _content_type in (
    "application/vnd.ms-word.document.macroEnabled.main+xml",
    "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
    CT.WML_DOCUMENT_MAIN.replace("document.main", "template.main"),
):
    PartFactory.part_type_for[_content_type] = DocumentPart

_HEADING = re.compile(r"^heading (\d)$", re.IGNORECASE)
_TITLE = re.compile(r"^title$", re.IGNORECASE)
_MAX_BASES = 8
_WRAPPERS = {
    qn("w:sdt"),
    qn("w:sdtContent"),
    qn("w:ins"),
    qn("w:moveTo"),
    qn("w:customXml"),
}
_TEXT_BOX = qn("w:txbxContent")
_SKIPPED = {
    _TEXT_BOX,
    qn("w:pPr"),
    qn("w:rPr"),
    qn("w:del"),
    qn("w:moveFrom"),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}
_BREAKS = {
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:tab"): "\t",
    qn("w:noBreakHyphen"): "-",
}


def read_word(data: bytes) -> Document:
    """Return the body's text; deleted and hidden words stay out, notes come last."""
    facts = office_properties(data, "Word document")
    part = _opened(data)
    sections, titled = _sections(part.document)
    if notes := "\n".join(_notes(part)).strip():
        sections.append(Section("Notes", notes))
    titles = (section.title for section in sections)
    return build(
        title=facts.title or titled or next(filter(None, titles), ""),
        title_source="properties" if facts.title else "heading",
        sections=sections,
        tags={
            *text_tags("\n".join(section.content for section in sections)),
            *words_of(facts.keywords),
        },
        metadata={"author": facts.author} if facts.author else {},
        language=facts.language,
        occurred_at=facts.modified,
    )


def _opened(data: bytes) -> DocumentPart:
    try:
        part = Package.open(io.BytesIO(data)).main_document_part
        if isinstance(part, DocumentPart):
            return part
    except (KeyError, ValueError, etree.XMLSyntaxError) as error:
        raise Unreadable(f"damaged: not a Word document ({error})") from error
    raise Unreadable("damaged: the container holds no Word document")


def _sections(word: WordFile) -> tuple[list[Section], str]:
    """Return the sections, and the paragraph in the style "Title" if there is one."""
    levels = _levels(word)
    titled = ""
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    for style, text in _blocks(word.element.body):
        level = levels.get(style)
        if level == 0 and not titled:
            titled = text
        if level and text.strip():
            sections.append(_section(above, lines))
            above = [*(item for item in above if item[0] < level), (level, text)]
            lines = []
        lines.append(text)
    sections.append(_section(above, lines))
    return [section for section in sections if section.content], titled


def _section(above: list[tuple[int, str]], lines: list[str]) -> Section:
    headings = [heading for _, heading in above]
    title = headings[-1] if headings else ""
    return Section(title, tidy("\n".join(lines)), tuple(headings[:-1]))


def _levels(word: WordFile) -> dict[str, int]:
    """Return the heading level of each style by its id, 0 for the document's title."""
    found: dict[str, int] = {}
    for style in word.styles:
        base, left = style, _MAX_BASES
        while base is not None and left:
            name = str(base.name or "")
            if match := _HEADING.match(name):
                found[style.style_id] = int(match[1])
                break
            if _TITLE.match(name):
                found[style.style_id] = 0
                break
            base, left = getattr(base, "base_style", None), left - 1
    return found


def _blocks(container: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs and table rows in order, each with its style's id."""
    for child in container.iterchildren("*"):
        if child.tag == qn("w:p"):
            style = child.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
            yield "" if style is None else style.get(qn("w:val"), ""), _text(child)
            yield from _boxes(child)
        elif child.tag == qn("w:tbl"):
            yield from _rows(child)
        elif child.tag in _WRAPPERS:
            yield from _blocks(child)


def _rows(table: etree._Element) -> Iterator[tuple[str, str]]:
    for row in table.iter(qn("w:tr")):
        if next(row.iterancestors(qn("w:tbl"))) is table:
            cells = (_cell(cell) for cell in _cells(row))
            yield "", " | ".join(cells)


def _cells(row: etree._Element) -> Iterator[etree._Element]:
    for child in row.iterchildren("*"):
        if child.tag == qn("w:tc"):
            yield child
        elif child.tag in _WRAPPERS:
            yield from _cells(child)


def _cell(cell: etree._Element) -> str:
    return " ".join(text.strip() for _, text in _blocks(cell) if text.strip())


def _boxes(paragraph: etree._Element) -> Iterator[tuple[str, str]]:
    for box in paragraph.iter(_TEXT_BOX):
        if not any(above.tag in _SKIPPED for above in box.iterancestors("*")):
            yield from (("", text) for _, text in _blocks(box))


def _text(node: etree._Element) -> str:
    return "".join(_said(node))


def _said(node: etree._Element) -> Iterator[str]:
    for child in node.iterchildren("*"):
        if child.tag == qn("w:t"):
            yield child.text or ""
        elif child.tag in _BREAKS:
            yield _BREAKS[child.tag]
        elif child.tag not in _SKIPPED and not _hidden(child):
            yield from _said(child)


def _hidden(run: etree._Element) -> bool:
    vanish = run.find(f"{qn('w:rPr')}/{qn('w:vanish')}")
    off = {"0", "false", "off"}
    return vanish is not None and vanish.get(qn("w:val"), "1") not in off


def _notes(part: DocumentPart) -> Iterator[str]:
    """Yield the footnotes and endnotes; python-docx does not know them."""
    kinds = ("/footnotes", "/endnotes")
    for relation in part.rels.values():
        if relation.is_external or not relation.reltype.endswith(kinds):
            continue
        root = etree.fromstring(
            relation.target_part.blob, etree.XMLParser(resolve_entities=False)
        )
        for note in root.iterchildren("*"):
            if note.get(qn("w:type"), "normal") == "normal":
                yield _cell(note)
