"""Markdown and notebooks: a section a heading, the source's lines kept as they are."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

import yaml
from frontmatter.default_handlers import YAMLHandler
from markdown_it import MarkdownIt
from markdown_it.token import Token

from connections.records import JSON
from connections.sources.documents_base import (
    MAX_VALUES,
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

_PARSER = MarkdownIt("commonmark").enable("table")
# Attributes of a heading as pandoc and kramdown write them: "Title {#anchor}".
_ATTRIBUTES = re.compile(r"\s*\{[:#.][^{}]*\}\s*$")
_TAGS = ("tags", "keywords", "labels", "categories")
_DATES = ("date", "updated", "modified", "lastmod", "last_modified_at", "created")
_LANGUAGES = ("lang", "language", "locale")
_AUTHORS = ("author", "authors")
# Beyond it (and for "not a number") JSON readers disagree.
MAX_NUMBER = 2**53
_URLS = ("canonical", "canonical_url", "url", "source", "source_url", "permalink")


@dataclass(frozen=True, slots=True)
class _Heading:
    line: int
    end: int
    level: int
    title: str


@dataclass(slots=True)
class _Stretch:
    start: int
    end: int
    title: str
    path: tuple[str, ...]


def read_markdown(data: bytes) -> Document:
    """Return the sections of a Markdown file and what its frontmatter says."""
    return markdown_document(decoded(data, named=True))


def read_notebook(data: bytes) -> Document:
    """Return a Jupyter notebook as Markdown, each code cell in a fence."""
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        cells = [(str(cell["cell_type"]), _source(cell)) for cell in notebook["cells"]]
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"damaged: not a notebook of version 4 ({error})") from error
    return markdown_document("\n\n".join(_cell(kind, text) for kind, text in cells))


def _source(cell: Mapping[str, object]) -> str:
    source = cell["source"]
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _cell(kind: str, text: str) -> str:
    if kind != "code":
        return text
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def markdown_document(text: str) -> Document:
    """Return `text` as a document; broken frontmatter stays part of its text."""
    facts, body, warnings = _frontmatter(text)
    lines = text.split("\n")
    tokens = _PARSER.parse("\n".join(lines[body:]))
    first = body if facts else 0
    headings = _headings(tokens, body - first)
    title, title_source = _title(facts, headings)
    return build(
        title=title,
        title_source=title_source,
        sections=_sections(lines[first:], headings, _links(tokens, body - first)),
        tags={*_tags(tokens), *_words(facts, _TAGS)},
        metadata=_metadata(facts),
        warnings=warnings,
        language=next(filter(None, map(language_name, _texts(facts, _LANGUAGES))), ""),
        occurred_at=next(
            filter(None, (moment(facts.get(key)) for key in _DATES)), None
        ),
    )


def _frontmatter(text: str) -> tuple[dict[str, object], int, list[str]]:
    """Return the frontmatter's values, the line after it, and what is wrong with it."""
    handler = YAMLHandler()
    if not handler.detect(text):
        return {}, 0, []
    try:
        source, rest = handler.split(text)
    except ValueError:
        return {}, 0, []
    body = text[: len(text) - len(rest)].count("\n") + 1
    try:
        facts = handler.load(source)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        said = str(error).split("\n")[0]
        return {}, body, [f"the frontmatter is not valid YAML: {said}"]
    if not isinstance(facts, dict) or not facts:
        return {}, 0, []
    named = {key.lower(): value for key, value in facts.items() if isinstance(key, str)}
    return named, body if named else 0, []


def _metadata(facts: Mapping[str, object]) -> dict[str, JSON]:
    if not facts:
        return {}
    found: dict[str, JSON] = {"frontmatter": _plain(facts, 3)}
    authors = [name for key in _AUTHORS for name in _names(facts.get(key))]
    if authors:
        found["author"] = one_line(", ".join(authors))
    urls = (
        url for url in _texts(facts, _URLS) if url.startswith(("http://", "https://"))
    )
    if url := next(urls, ""):
        found["url"] = url
    return found


def _plain(value: object, depth: int) -> JSON:
    """Return a YAML value as JSON, bounded in depth and width: aliases multiply."""
    if isinstance(value, str):
        return one_line(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, int | float):
        return value if abs(value) < MAX_NUMBER else str(value)
    if depth and isinstance(value, Mapping):
        items = list(value.items())[:MAX_VALUES]
        return {
            one_line(str(k)): _plain(v, depth - 1)
            for k, v in items
            if isinstance(k, str)
        }
    if depth and isinstance(value, list):
        return [_plain(item, depth - 1) for item in value[:MAX_VALUES]]
    return None


def _texts(facts: Mapping[str, object], keys: tuple[str, ...]) -> list[str]:
    values = (facts.get(key) for key in keys)
    return [value.strip() for value in values if isinstance(value, str)]


def _words(facts: Mapping[str, object], keys: tuple[str, ...]) -> list[str]:
    return [word for key in keys for word in words_of(facts.get(key))]


def _names(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [name.strip() for name in values[:MAX_VALUES] if isinstance(name, str)]


def _title(facts: Mapping[str, object], headings: list[_Heading]) -> tuple[str, str]:
    title = facts.get("title")
    if isinstance(title, str | int | float) and has_words(str(title)):
        return str(title), "frontmatter"
    first = next((heading for heading in headings if heading.level == 1), None)
    return (first.title, "heading") if first else ("", "")


def _headings(tokens: list[Token], offset: int) -> list[_Heading]:
    """Return the headings that stand on their own, not in a list or a quotation."""
    return [
        _Heading(
            token.map[0] + offset,
            token.map[1] + offset,
            int(token.tag[1:]),
            one_line(_ATTRIBUTES.sub("", _text(tokens[at + 1].children))),
        )
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def _text(children: list[Token] | None) -> str:
    said = {"text", "code_inline", "image", "text_special"}
    return "".join(
        child.content if child.type in said else " "
        for child in children or ()
        if child.type in said or child.type in {"softbreak", "hardbreak"}
    )


def _sections(
    lines: list[str], headings: list[_Heading], links: list[tuple[int, Link]]
) -> list[Section]:
    """Return a section a heading; every line of the source is in exactly one."""
    stretches = _stretches(lines, headings)
    starts = [stretch.start for stretch in stretches]
    found: list[list[Link]] = [[] for _ in stretches]
    for line, link in links:
        found[max(0, bisect_right(starts, line) - 1)].append(link)
    return [
        Section(
            stretch.title,
            _trimmed(lines[stretch.start : stretch.end]),
            stretch.path,
            tuple(found[at]),
        )
        for at, stretch in enumerate(stretches)
    ]


def _stretches(lines: list[str], headings: list[_Heading]) -> list[_Stretch]:
    """Return the stretches between headings.

    What has no words of its own (a heading right above a deeper one, rules before the
    first heading) opens the next stretch, at the end of the file it closes the last.
    """
    stretches: list[_Stretch] = []
    above: list[_Heading] = []
    start = 0
    for at, heading in enumerate([None, *headings]):
        following = headings[at] if at < len(headings) else None
        end = following.line if following else len(lines)
        if heading:
            above = [item for item in above if item.level < heading.level]
        if not (following and _opens(lines[start:end], heading, following)):
            title = heading.title if heading else ""
            path = tuple(item.title for item in above if item.title)
            stretches.append(_Stretch(start, end, title, path))
            start = end
        if heading:
            above = [*above, heading]
    if len(stretches) > 1 and not has_words("\n".join(lines[stretches[-1].start :])):
        last = stretches.pop()
        stretches[-1].end = last.end
    return stretches


def _opens(lines: list[str], heading: _Heading | None, following: _Heading) -> bool:
    if heading is None or not has_words("\n".join(lines)):
        return not has_words("\n".join(lines))
    body = lines[len(lines) - (following.line - heading.end) :]
    return following.level > heading.level and not has_words("\n".join(body))


def _trimmed(lines: list[str]) -> str:
    kept = [at for at, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[kept[0] : kept[-1] + 1]) if kept else ""


def _inlines(tokens: list[Token]) -> Iterator[tuple[int, list[Token]]]:
    for token in tokens:
        if token.type == "inline" and token.map and token.children:
            yield token.map[0], token.children


def _links(tokens: list[Token], offset: int) -> list[tuple[int, Link]]:
    """Return the links with the line of the block that each stands in."""
    found: list[tuple[int, Link]] = []
    for line, children in _inlines(tokens):
        for at, child in enumerate(children):
            if child.type == "link_open":
                label = [*_until_close(children[at + 1 :])]
                link = Link(str(child.attrGet("href") or ""), _text(label))
                found.append((line + offset, link))
    return found


def _until_close(children: list[Token]) -> Iterator[Token]:
    for child in children:
        if child.type == "link_close":
            return
        yield child


def _tags(tokens: list[Token]) -> tuple[str, ...]:
    """Return the #labels of the running text, so none of code or of link targets."""
    said = (
        "".join(child.content if child.type == "text" else " " for child in children)
        for _, children in _inlines(tokens)
    )
    return text_tags("\n".join(said))
