"""What a document is, whatever its format: a title, sections, tags and a date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from connections.records import JSON
from connections.sources.text import find_tags

# A file with more headings than this is a dump; its sections are joined, none is lost.
MAX_SECTIONS = 2_000
# Longer text is a data set, not a document; what is left out is named in a warning.
MAX_CHARACTERS = 50_000_000
MAX_TITLE = 300
MAX_VALUES = 50

_WORD = re.compile(r"\w")
# What programs put for want of a title: the name of a file, or of their own kind.
_NOTHING = re.compile(
    r"\.\w{2,5}$|^microsoft (word|powerpoint|excel)\b"
    r"|^(untitled|(word |new )?document|(powerpoint )?presentation|book|slide)[\s\d]*$",
    re.IGNORECASE,
)
_URL = re.compile(r"\b\w+://\S+")
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")

# ISO 639-1 codes and the text-search configurations that PostgreSQL 15 and later have.
_LANGUAGES = {
    "ar": "arabic",
    "hy": "armenian",
    "eu": "basque",
    "ca": "catalan",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "ga": "irish",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nb": "norwegian",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "es": "spanish",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


class Unreadable(Exception):
    """A file whose text cannot be had; the message says why in plain words."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as the text has it: where it points, and the words it stands under."""

    target: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document in its own words; `path` is the headings above it."""

    title: str
    content: str
    path: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says; `title` is empty where the file names none.

    `metadata` may hold `title_source`, `author`, `url`, `frontmatter` and `warnings`
    (a list of what could not be read). `language` is the name of a PostgreSQL
    text-search configuration or empty. `occurred_at` is the document's own date.
    """

    title: str
    sections: tuple[Section, ...]
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    language: str = ""
    occurred_at: datetime | None = None

    @property
    def text(self) -> str:
        """The whole text, its sections in order with an empty line between them."""
        return "\n\n".join(section.content for section in self.sections)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read though the rest could."""
        said = self.metadata.get("warnings")
        return tuple(map(str, said)) if isinstance(said, list | tuple) else ()


def has_words(text: str) -> bool:
    """Return whether there is a letter or a digit in `text`."""
    return bool(_WORD.search(text))


def names_nothing(title: str) -> bool:
    """Return whether a stated title is none: a program's filling, a file's name."""
    return not has_words(title) or bool(_NOTHING.search(title))


def one_line(text: str) -> str:
    """Return `text` as a title: on one line, at most 300 characters."""
    line = " ".join(_UNSTORABLE.sub("\ufffd", text).split())
    return line if len(line) <= MAX_TITLE else line[: MAX_TITLE - 1] + "…"


def storable(text: str) -> str:
    """Return `text` with what PostgreSQL cannot store replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def text_tags(text: str) -> tuple[str, ...]:
    """Return the #labels of running text; those inside addresses do not count."""
    return find_tags(_URL.sub(" ", text))


def language_name(code: str) -> str:
    """Return the text-search configuration of "de", "de-AT" or "german", else ""."""
    code = code.strip().lower()
    if code in _LANGUAGES.values():
        return code
    return _LANGUAGES.get(re.split(r"[-_]", code)[0], "")


def moment(value: object) -> datetime | None:
    """Return a date, time or ISO 8601 text as a time in UTC, None for anything else."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        if isinstance(value, datetime):
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return aware.astimezone(UTC)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return None


def words_of(value: object) -> tuple[str, ...]:
    """Return labels given as a list or as "a, b; c", lower-cased and sorted."""
    if isinstance(value, str):
        value = re.split(r"[,;]", value)
    if not isinstance(value, list | tuple):
        return ()
    plain = [
        one_line(str(item)).lstrip("#").lower()
        for item in value[:MAX_VALUES]
        if isinstance(item, str | int | float)
    ]
    return tuple(sorted({word for word in plain if word}))


def build(
    *,
    title: str = "",
    title_source: str = "",
    sections: Iterable[Section],
    tags: Iterable[str] = (),
    metadata: Mapping[str, JSON] | None = None,
    warnings: Iterable[str] = (),
    language: str = "",
    occurred_at: datetime | None = None,
) -> Document:
    """Return the document: wordless sections dropped, one at least, all storable."""
    kept = [_clean(section) for section in sections]
    kept = [section for section in kept if has_words(section.content)] or kept[:1]
    kept, said = _bounded(_joined(kept, MAX_SECTIONS))
    title = one_line(title)
    facts = dict(metadata or {})
    if title:
        facts["title_source"] = title_source
    if said := [*warnings, *said]:
        facts["warnings"] = [one_line(warning) for warning in said[:MAX_VALUES]]
    return Document(
        title=title,
        sections=tuple(kept or [Section("", "")]),
        tags=tuple(sorted(set(tags))),
        metadata=facts,
        language=language,
        occurred_at=occurred_at,
    )


def _clean(section: Section) -> Section:
    return replace(
        section,
        title=one_line(section.title),
        content=storable(section.content),
        path=tuple(one_line(heading) for heading in section.path),
        links=tuple(
            Link(storable(link.target), one_line(link.text)) for link in section.links
        ),
    )


def _joined(sections: list[Section], limit: int) -> list[Section]:
    """Return at most `limit` sections: neighbours joined, the first's title kept."""
    size = -(-len(sections) // limit)
    if size <= 1:
        return sections
    groups = (sections[at : at + size] for at in range(0, len(sections), size))
    return [
        replace(
            group[0],
            content="\n\n".join(section.content for section in group),
            links=tuple(link for section in group for link in section.links),
        )
        for group in groups
    ]


def _bounded(sections: list[Section]) -> tuple[list[Section], list[str]]:
    left, kept = MAX_CHARACTERS, []
    for section in sections:
        if len(section.content) > left:
            kept.append(replace(section, content=section.content[:left]))
            total = sum(len(section.content) for section in sections)
            return kept, [
                f"only the first {MAX_CHARACTERS:,} of {total:,} characters were read"
            ]
        left -= len(section.content)
        kept.append(section)
    return kept, []
