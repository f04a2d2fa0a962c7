"""Which format a file has, by its name."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePosixPath


class Kind(Enum):
    """A format of documents; `structured` ones need a parser, so a sandbox."""

    TEXT = "text"
    CODE = "code"
    TABLE = "table"
    MARKDOWN = "Markdown"
    NOTEBOOK = "Jupyter notebook"
    HTML = "HTML page"
    PDF = "PDF document"
    WORD = "Word document"
    SLIDES = "PowerPoint presentation"
    WORKBOOK = "Excel workbook"
    EPUB = "EPUB book"
    UNKNOWN = "unknown"

    @property
    def structured(self) -> bool:
        """Whether reading it takes a parser that hostile bytes could tie up."""
        return self not in {Kind.TEXT, Kind.CODE, Kind.TABLE, Kind.UNKNOWN}


_SUFFIXES = {
    Kind.TEXT: "txt text rst org log adoc asciidoc tex textile wiki vtt srt",
    Kind.CODE: (
        "py pyi r jl js mjs cjs ts tsx jsx vue java kt kts scala go rs c h cc cpp "
        "hpp cs swift m rb php pl pm lua sh bash zsh fish ps1 bat sql graphql proto "
        "css scss less json jsonl ndjson yaml yml toml ini cfg conf env properties "
        "xml xsd xsl svg bib diff patch tf hcl gradle cmake mk dockerfile ics vcf"
    ),
    Kind.TABLE: "csv tsv tab",
    Kind.MARKDOWN: "md markdown mdown mkd mdx rmd qmd",
    Kind.NOTEBOOK: "ipynb",
    Kind.HTML: "html htm xhtml",
    Kind.PDF: "pdf",
    Kind.WORD: "docx docm dotx dotm",
    Kind.SLIDES: "pptx pptm ppsx ppsm potx potm",
    Kind.WORKBOOK: "xlsx xlsm xltx xltm",
    Kind.EPUB: "epub",
}
_KINDS = {
    suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
_NAMES = {
    "readme": Kind.TEXT,
    "license": Kind.TEXT,
    "licence": Kind.TEXT,
    "copying": Kind.TEXT,
    "notice": Kind.TEXT,
    "authors": Kind.TEXT,
    "changelog": Kind.TEXT,
    "makefile": Kind.CODE,
    "dockerfile": Kind.CODE,
}


def suffix_of(name: str) -> str:
    """Return what follows the last dot of the file's name, lower-cased."""
    return PurePosixPath(name.replace("\\", "/")).suffix.lower().lstrip(".")


def kind_of(name: str) -> Kind:
    """Return the format that a file of this name has, `UNKNOWN` where it tells none."""
    if suffix := suffix_of(name):
        return _KINDS.get(suffix, Kind.UNKNOWN)
    stem = PurePosixPath(name.replace("\\", "/")).name.lower()
    return _NAMES.get(stem, Kind.UNKNOWN)
