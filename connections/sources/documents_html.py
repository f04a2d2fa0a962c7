"""HTML pages and EPUB books: a section a heading, hidden text left out."""

from __future__ import annotations

import posixpath
import re
import zipfile
from urllib.parse import unquote

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EncodingDetector
from lxml import etree

from connections.records import JSON
from connections.sources.documents_base import (
    Document,
    Link,
    Section,
    Unreadable,
    build,
    has_words,
    language_name,
    moment,
    one_line,
    text_tags,
    words_of,
)
from connections.sources.documents_text import decoded
from connections.sources.documents_zip import checked_zip
from connections.sources.text import html_to_text, tidy

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_DATES = (
    "article:modified_time",
    "article:published_time",
    "dcterms.modified",
    "dc.date",
    "last-modified",
    "date",
)
# Private-use characters mark headings and links while the markup becomes text.
_OPEN, _MIDDLE, _CLOSE, _LINK = "\ue0f0", "\ue0f1", "\ue0f2", "\ue0f3"
_HEADING = re.compile(f"{_OPEN}([1-6]){_MIDDLE}(.*?){_CLOSE}", re.DOTALL)
_LINKED = re.compile(f"{_LINK}([0-9]{{1,7}}){_LINK}")
_STRAY = re.compile(f"[{_OPEN}{_MIDDLE}{_CLOSE}{_LINK}]")
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"


def read_html(data: bytes) -> Document:
    """Return the visible text of a page, a section a heading."""
    declared = EncodingDetector.find_declared_encoding(data, is_html=True) or ""
    return html_document(decoded(data, named=True, declared=declared))


def html_document(html: str) -> Document:
    """Return a page as a document, with what its head says of it."""
    soup = BeautifulSoup(_STRAY.sub("\ufffd", html), "lxml")
    facts = _meta(soup)
    sections = _sections(soup)
    title = soup.title.get_text() if soup.title else ""
    heading = next((item.title for item in sections if item.title), "")
    root = soup.find("html")
    spoken = str(root.get("lang") or "") if isinstance(root, Tag) else ""
    dates = (moment(facts.get(name)) for name in _DATES)
    tags = text_tags("\n".join(section.content for section in sections))
    return build(
        title=title if has_words(title) else heading,
        title_source="page title" if has_words(title) else "heading",
        sections=sections,
        tags={*tags, *words_of(facts.get("keywords"))},
        metadata=_metadata(soup, facts),
        language=language_name(spoken),
        occurred_at=next(filter(None, dates), None),
    )


def _meta(soup: BeautifulSoup) -> dict[str, str]:
    return {
        str(node.get("name") or node.get("property")).lower(): str(node["content"])
        for node in soup.find_all("meta", content=True)
        if isinstance(node, Tag) and (node.get("name") or node.get("property"))
    }


def _metadata(soup: BeautifulSoup, facts: dict[str, str]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    if author := one_line(facts.get("author", "")):
        found["author"] = author
    link = soup.find("link", rel="canonical", href=True)
    href = str(link["href"]) if isinstance(link, Tag) else ""
    if href.startswith(("http://", "https://")):
        found["url"] = one_line(href)
    return found


def _sections(soup: BeautifulSoup) -> list[Section]:
    links = _mark(soup)
    text = html_to_text(str(soup))
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    marks = [None, *_HEADING.finditer(text)]
    for at, mark in enumerate(marks):
        following = marks[at + 1] if at + 1 < len(marks) else None
        body = text[
            mark.end() if mark else 0 : following.start() if following else None
        ]
        level, heading = (int(mark[1]), mark[2]) if mark else (0, "")
        title = one_line(_unmarked(heading))
        above = [item for item in above if item[0] < level]
        path = tuple(name for _, name in above if name)
        content = tidy(_unmarked(f"{heading.strip()}\n{body}"))
        sections.append(Section(title, content, path, _linked(heading + body, links)))
        above.append((level, title))
    return sections


def _mark(soup: BeautifulSoup) -> list[Link]:
    """Put marks around headings and before links; return the links by their number."""
    for node in soup.find_all(_HEADINGS):
        node.insert(0, f"{_OPEN}{node.name[1]}{_MIDDLE}")
        node.append(_CLOSE)
    links: list[Link] = []
    for node in soup.find_all("a", href=True):
        links.append(Link(str(node["href"]), one_line(_unmarked(node.get_text()))))
        node.insert(0, f"{_LINK}{len(links) - 1}{_LINK}")
    return links


def _unmarked(text: str) -> str:
    text = _HEADING.sub(r"\2", text)
    return _STRAY.sub("", _LINKED.sub("", text))


def _linked(text: str, links: list[Link]) -> tuple[Link, ...]:
    numbers = (int(mark[1]) for mark in _LINKED.finditer(text))
    return tuple(links[number] for number in numbers if number < len(links))


def read_epub(data: bytes) -> Document:
    """Return a book's chapters in reading order, a section a heading."""
    with checked_zip(data, "EPUB book") as book:
        root = _package_path(book)
        package = _xml(book, root)
        sections: list[Section] = []
        warnings: list[str] = []
        for path in _spine(package, posixpath.dirname(root)):
            try:
                sections += html_document(
                    book.read(path).decode("utf-8", "replace")
                ).sections
            except (KeyError, OSError, ValueError, zipfile.BadZipFile) as error:
                warnings.append(f"chapter {path} could not be read: {error}")
    author = one_line(", ".join(_dublin(package, "creator")))
    return build(
        title=next(iter(_dublin(package, "title")), ""),
        title_source="properties",
        sections=[section for section in sections if has_words(section.content)],
        tags=words_of(_dublin(package, "subject")),
        metadata={"author": author} if author else {},
        warnings=warnings,
        language=next(map(language_name, _dublin(package, "language")), ""),
        occurred_at=next(filter(None, map(moment, _dublin(package, "date"))), None),
    )


def _xml(book: zipfile.ZipFile, path: str) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        return etree.fromstring(book.read(path), parser)
    except (KeyError, etree.XMLSyntaxError) as error:
        raise Unreadable(
            f"damaged: the EPUB book's {path} is missing or broken"
        ) from error


def _package_path(book: zipfile.ZipFile) -> str:
    container = _xml(book, "META-INF/container.xml")
    for node in container.iter(f"{_CONTAINER}rootfile"):
        if path := node.get("full-path"):
            return str(path)
    raise Unreadable("damaged: the EPUB book names no package file")


def _spine(package: etree._Element, folder: str) -> list[str]:
    hrefs = {item.get("id"): item.get("href") for item in package.iter(f"{_OPF}item")}
    wanted = (hrefs.get(item.get("idref")) for item in package.iter(f"{_OPF}itemref"))
    return [
        posixpath.normpath(posixpath.join(folder, unquote(href)))
        for href in wanted
        if href
    ]


def _dublin(package: etree._Element, name: str) -> list[str]:
    found = (
        one_line("".join(node.itertext())) for node in package.iter(f"{_DC}{name}")
    )
    return [text for text in found if text]
