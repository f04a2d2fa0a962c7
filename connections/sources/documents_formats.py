"""The reader of each structured format; imported by the sandbox's process only."""

from __future__ import annotations

from collections.abc import Callable

from connections.sources.documents_base import Document, Unreadable, one_line
from connections.sources.documents_html import read_epub, read_html
from connections.sources.documents_kinds import Kind, kind_of
from connections.sources.documents_markdown import read_markdown, read_notebook
from connections.sources.documents_office import read_slides, read_workbook
from connections.sources.documents_pdf import read_pdf
from connections.sources.documents_word import read_word

READERS: dict[Kind, Callable[[bytes], Document]] = {
    Kind.MARKDOWN: read_markdown,
    Kind.NOTEBOOK: read_notebook,
    Kind.HTML: read_html,
    Kind.EPUB: read_epub,
    Kind.PDF: read_pdf,
    Kind.WORD: read_word,
    Kind.SLIDES: read_slides,
    Kind.WORKBOOK: read_workbook,
}


def parse(name: str, data: bytes) -> Document:
    """Return the document; whatever a parser raises becomes `Unreadable`."""
    kind = kind_of(name)
    try:
        return READERS[kind](data)
    except (Unreadable, MemoryError):
        raise
    except RecursionError as error:
        raise Unreadable(f"damaged: the {kind.value} is nested too deeply") from error
    except Exception as error:
        said = one_line(f"{type(error).__name__}: {error}")
        raise Unreadable(f"damaged: not a {kind.value} ({said})") from error
