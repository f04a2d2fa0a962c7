"""The folder connector: each file of a folder with its sections, links and date."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from connections.records import (
    JSON,
    EdgeDraft,
    Failure,
    NodeDraft,
    Record,
    clean_key,
)
from connections.sources.base import Pull, SourceError, connectors
from connections.sources.documents import Document, Section, Unreadable, read_document
from connections.sources.documents_base import moment, one_line
from connections.sources.documents_kinds import suffix_of
from connections.sources.files_links import resolve
from connections.sources.files_walk import (
    Contents,
    Found,
    NotRead,
    clean_name,
    contents,
    walk,
)
from connections.sources.text import day_in_words

# A name like "2024-09-12 minutes.md" states its day; the years keep out serial numbers.
_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d-\d\d-\d\d(?!\d)")


@connectors.register("folder")
class FolderConnector:
    """Reads a folder, or one file, of documents in any format."""

    kind: ClassVar[str] = "folder"
    label: ClassVar[str] = "Folder of files"
    source_kind: ClassVar[str] = "folder"
    complete: ClassVar[bool] = True
    personal: ClassVar[bool] = False

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        """Return the folders, each before what it holds, and the files, in order."""
        root = _root(request.location)
        if os.path.isfile(root):
            found: list[Found | Failure] = [
                Found(clean_name(os.path.basename(root)), root)
            ]
            return _Reading(request, found, alone=True).records()
        found = list(walk(root))
        _check(request.location, found)
        return _Reading(request, found).records()


def _check(location: Path, found: list[Found | Failure]) -> None:
    for item in found:
        if isinstance(item, Failure) and item.item == ".":
            raise SourceError(f"{location}: {item.error}.")
    if not any(isinstance(item, Failure) or not item.is_folder for item in found):
        # An unmounted drive looks like this; nothing must vanish because of it.
        raise SourceError(
            f"{location} holds no files to read. If it is a drive, is it mounted?"
        )


def _root(location: Path) -> str:
    try:
        root = os.path.realpath(location, strict=True)
    except (OSError, ValueError) as error:
        raise SourceError(f"{location} does not exist.") from error
    if not os.path.isdir(root) and not os.path.isfile(root):
        raise SourceError(f"{location} is not a folder, nor a file.")
    return root


@dataclass(frozen=True, slots=True)
class _File:
    """One file as it was read: its bytes, and what they say."""

    path: str
    contents: Contents
    document: Document
    warnings: tuple[str, ...]

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def title(self) -> str:
        return self.document.title or one_line(self.name)

    @property
    def stated(self) -> datetime | None:
        """The document's own date, else the day that its name states."""
        if self.document.occurred_at:
            return self.document.occurred_at
        days = (moment(match[0]) for match in _DAY.finditer(self.name))
        return next(filter(None, days), None)

    @property
    def day(self) -> str:
        """The stated day in words; that of a copy on disk says nothing."""
        return day_in_words(self.stated) if self.stated else ""

    @property
    def occurred_at(self) -> datetime | None:
        return self.stated or self.modified

    @property
    def modified(self) -> datetime | None:
        try:
            return datetime.fromtimestamp(self.contents.modified, UTC).replace(
                microsecond=0
            )
        except (ValueError, OverflowError, OSError):
            return None


class _Reading:
    """One pull: what the walk found, turned into records."""

    def __init__(
        self, request: Pull, found: list[Found | Failure], *, alone: bool = False
    ) -> None:
        self.request = request
        self.found = found
        self.alone = alone
        self.paths = {
            item.path
            for item in found
            if isinstance(item, Found) and not item.is_folder
        }
        self.taken: dict[str, str] = {}

    def records(self) -> Iterator[Record | Failure]:
        """Yield a record or a failure for the root and each thing found."""
        if not self.alone:
            name = Path(os.path.realpath(self.request.location)).name
            yield self.folder(".", clean_name(name) or "/")
        for item in self.found:
            yield self.record(item) if isinstance(item, Found) else self.unread(item)

    def record(self, found: Found) -> Record | Failure:
        """Return what one file or folder says, or why it cannot be read."""
        key = (self.folder_key if found.is_folder else self.file_key)(found.path)
        if other := self.taken.get(key):
            # Names that differ only in a blank at the end, or past 512 bytes.
            return Failure(found.path, f"its key is already that of {other!r}")
        self.taken[key] = found.path
        if found.is_folder:
            return self.folder(found.path, posixpath.basename(found.path))
        try:
            return self.file(_read(found))
        except NotRead as reason:
            return self.unread(Failure(found.path, str(reason)))

    def unread(self, failure: Failure) -> Failure:
        """Return it with the keys of what is there, though it could not be read."""
        path = failure.item
        return replace(failure, keys=(self.file_key(path), self.folder_key(path)))

    def folder_key(self, path: str) -> str:
        """Return the key of the folder at a relative path, "." for the root."""
        return clean_key(f"folder:{self.request.file_prefix}{path}")

    def file_key(self, path: str) -> str:
        """Return the key of the file at a relative path."""
        return clean_key(f"file:{self.request.file_prefix}{path}")

    def in_folder(self, key: str, path: str) -> tuple[EdgeDraft, ...]:
        if self.alone or path == ".":
            return ()
        parent = self.folder_key(posixpath.dirname(path) or ".")
        return (EdgeDraft(source=key, relation="in_folder", target=parent),)

    def folder(self, path: str, name: str) -> Record:
        """Return the record of a folder, which is not counted."""
        key = self.folder_key(path)
        node = NodeDraft(
            key=key,
            node_type="folder",
            title=one_line(name),
            context="" if path == "." else _spoken(path),
            metadata={"path": path},
        )
        return Record(
            key=key,
            kind="folder",
            body="",
            nodes=(node,),
            edges=self.in_folder(key, path),
            audience=self.request.audience_or(),
            counted=False,
        )

    def file(self, file: _File) -> Record:
        """Return the record of a file: its node, and one for each section."""
        key = self.file_key(file.path)
        sections = file.document.sections
        nodes = [_section(file, key, n, section) for n, section in enumerate(sections)]
        edges = [*self.in_folder(key, file.path)]
        for node, section in zip(nodes, sections, strict=True):
            edges.append(EdgeDraft(source=node.key, relation="part_of", target=key))
            edges += self.mentions(file.path, node.key, section)
        return Record(
            key=key,
            kind="file",
            body=file.document.text,
            nodes=(_file(file, key), *nodes),
            edges=tuple(edges),
            raw_sha256=hashlib.sha256(file.contents.data).hexdigest(),
            permalink=str(file.document.metadata.get("url") or ""),
            occurred_at=file.occurred_at,
            audience=self.request.audience_or(),
            warnings=file.warnings,
        )

    def mentions(self, path: str, key: str, section: Section) -> Iterator[EdgeDraft]:
        """Yield an edge to each file of the folder that the section links to."""
        times: Counter[str] = Counter()
        quotes: dict[str, str] = {}
        for link in section.links:
            if target := resolve(link.target, path, self.paths):
                times[target] += 1
                quotes.setdefault(target, link.text)
        for target, weight in sorted(times.items()):
            yield EdgeDraft(
                source=key,
                relation="mentions",
                target=self.file_key(target),
                weight=float(weight),
                quote=quotes[target],
            )


def _read(found: Found) -> _File:
    """Return the file as read once; what is no text leaves its name to be found by."""
    bytes_read = contents(found.real)
    try:
        document = read_document(posixpath.basename(found.path), bytes_read.data)
        return _File(found.path, bytes_read, document, document.warnings)
    except Unreadable as reason:
        nothing = Document(title="", sections=(Section("", ""),))
        return _File(found.path, bytes_read, nothing, (f"not read as text: {reason}",))


def _file(file: _File, key: str) -> NodeDraft:
    document = file.document
    own = {
        name: value for name, value in document.metadata.items() if name != "warnings"
    }
    metadata: dict[str, JSON] = {
        **own,
        "path": file.path,
        "size": len(file.contents.data),
        "type": suffix_of(file.path),
        "modified": file.modified.isoformat() if file.modified else None,
        "title_source": document.metadata.get("title_source") or "file name",
    }
    author = str(document.metadata.get("author") or "")
    return NodeDraft(
        key=key,
        node_type="file",
        title=file.title,
        context=_joined(_place(file), author, file.day),
        language=document.language,
        tags=document.tags,
        metadata=metadata,
        occurred_at=file.occurred_at,
    )


def _section(file: _File, key: str, number: int, section: Section) -> NodeDraft:
    path = section.path[1:] if section.path[:1] == (file.title,) else section.path
    metadata: dict[str, JSON] = {
        "part": number,
        "position": number,
        "heading_path": list(section.path),
    }
    return NodeDraft(
        key=f"{key}#{number}",
        node_type="section",
        title=section.title or file.title,
        content=section.content,
        context=_joined(file.document.title, " / ".join(path), _place(file), file.day),
        language=file.document.language,
        metadata=metadata,
        occurred_at=file.occurred_at,
        part=True,
    )


def _place(file: _File) -> str:
    """Return the path in words, and the words of a name that is all the title there is.

    A text search takes "on-call-rota.md" for the name of a host: one word.
    """
    words = re.split(r"[\W_]+", posixpath.splitext(file.name)[0])
    return _joined(_spoken(file.path), "" if file.document.title else " ".join(words))


def _spoken(path: str) -> str:
    return " / ".join(path.split("/"))


def _joined(*parts: str) -> str:
    return " · ".join(part.strip() for part in parts if part.strip())
