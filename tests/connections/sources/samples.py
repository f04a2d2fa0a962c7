"""Documents made here, one of each format, and what a test reads off them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import datetime

import docx
import openpyxl
import pptx
from reportlab.pdfgen.canvas import Canvas

from connections.sources.documents import Document, Unreadable, read_document


def titles(document: Document) -> list[str]:
    return [section.title for section in document.sections]


def contents(document: Document) -> list[str]:
    return [section.content for section in document.sections]


def saved(save: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    save(stream)
    return stream.getvalue()


def make_docx() -> bytes:
    word = docx.Document()
    word.core_properties.title = "Travel policy"
    word.core_properties.author = "Ann Lee"
    word.core_properties.keywords = "Travel, Money"
    word.core_properties.modified = datetime(2024, 5, 6, 7, 8, 9)
    word.add_paragraph("Before any heading.")
    word.add_heading("Booking", 1)
    word.add_paragraph("Book early. #savings")
    table = word.add_table(rows=2, cols=2)
    for at, text in enumerate(("Class", "Limit", "Rail", "200")):
        table.cell(at // 2, at % 2).text = text
    word.add_heading("Hotels", 2)
    word.add_paragraph("At most 120 a night.")
    return saved(word.save)


def make_pptx() -> bytes:
    deck = pptx.Presentation()
    deck.core_properties.title = "Kickoff"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Goals"
    slide.placeholders[1].text = "Ship in June"
    slide.notes_slide.notes_text_frame.text = "Mention the budget."
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(1, 2, 0, 0, 914400, 914400).table
    table.cell(0, 0).text, table.cell(0, 1).text = "Owner", "Bob"
    return saved(deck.save)


def make_xlsx(rows: int = 2) -> bytes:
    book = openpyxl.Workbook()
    prices = book.create_sheet("Prices", 0)
    prices.append(["item", "price", None, "since"])
    for number in range(1, rows):
        prices.append([f"part {number}", 2.0, None, datetime(2024, 1, 2)])
    book.create_sheet("Stock").append([True, 3.5])
    return saved(book.save)


def make_pdf(
    pages: tuple[str, ...] = ("First page here", "Second page"), **kind: str
) -> bytes:
    stream = io.BytesIO()
    canvas = Canvas(stream, **kind)
    canvas.setTitle("Yearly report")
    canvas.setAuthor("Ann Lee")
    for number, text in enumerate(pages):
        canvas.drawString(72, 700, text)
        canvas.bookmarkPage(f"p{number}")
        canvas.addOutlineEntry(f"Chapter {number + 1}", f"p{number}", 0)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def make_zip(entries: dict[str, bytes], into: bytes = b"") -> bytes:
    stream = io.BytesIO(into)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as container:
        for name, data in entries.items():
            container.writestr(name, data)
    return stream.getvalue()


def replaced(container: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(container)) as source:
        entries = {item: source.read(item) for item in source.namelist()}
    return make_zip({**entries, name: change(entries[name])})


def make_epub() -> bytes:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="O/b.opf"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Tides</dc:title>'
        "<dc:language>fr</dc:language><dc:date>2001-02-03</dc:date></metadata><manifest>"
        '<item id="b" href="two.xhtml"/><item id="a" href="one%20.xhtml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    page = "<html><body><h1>{0}</h1><p>Words of {0}.</p></body></html>"
    return make_zip(
        {
            "META-INF/container.xml": container.encode(),
            "O/b.opf": package.encode(),
            "O/one .xhtml": page.format("Ebb").encode(),
            "O/two.xhtml": page.format("Flood").encode(),
        }
    )


def outcome(name: str, data: bytes) -> Document | str:
    """Return the document, or the reason why there is none."""
    try:
        return read_document(name, data)
    except Unreadable as reason:
        return str(reason)


MAKERS: dict[str, Callable[[], bytes]] = {
    "docx": make_docx,
    "pptx": make_pptx,
    "xlsx": make_xlsx,
    "pdf": make_pdf,
    "epub": make_epub,
}

SAMPLES = {suffix: make() for suffix, make in MAKERS.items()}
