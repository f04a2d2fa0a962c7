"""The protocol of a connector: a location in, records out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from connections.records import PUBLIC, AudienceDraft, Failure, Record
from connections.registry import Registry


class SourceError(Exception):
    """A source that cannot be read at all; the message says what to do about it."""


class SourceBusy(SourceError):
    """Another run of this source is still at work."""


@dataclass(frozen=True, slots=True)
class Pull:
    """What a connector is asked to read.

    `location` is a file or folder. `source` is the source's name in its project.
    `file_prefix` goes between "file:" and a relative path: empty for the first folder
    source of a project, "{source}/" for others. `audience` is what the operator or
    the source's owner decided for all of it; None leaves it to the source (a private
    channel stays private).
    """

    location: Path
    source: str
    file_prefix: str = ""
    audience: AudienceDraft | None = None

    def audience_or(self, found: AudienceDraft = PUBLIC) -> AudienceDraft:
        """Return the audience that was decided, else the one found in the source."""
        return self.audience if self.audience is not None else found


class Connector(Protocol):
    """Reads one kind of source.

    `complete` says that a finished pull saw everything there is, so that what it did
    not see has vanished; one that is `certain` of it, which few are, says so in a class
    variable of that name. `personal` says that the source belongs to one person, so
    that it is closed to others unless somebody opens it.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    source_kind: ClassVar[str]
    complete: ClassVar[bool]
    personal: ClassVar[bool]

    def pull(self, request: Pull) -> Iterator[Record | Failure]:
        """Yield what the source says, item by item, in constant memory.

        An unreadable item is yielded as a `Failure` and never ends the walk; a
        source that cannot be read at all raises `SourceError`.
        """
        ...


connectors: Registry[type[Connector]] = Registry("connector")
