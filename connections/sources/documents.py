"""Text from documents of any format: `read_document(name, bytes)`.

Plain text is read in this process; formats with a structure are read by a process of
its own under limits of time and memory (`sandbox.py`), for their bytes come from
strangers.
"""

from __future__ import annotations

from connections.sources import documents_text as plain
from connections.sources import sandbox
from connections.sources.documents_base import (
    Document,
    Link,
    Section,
    Unreadable,
    language_name,
)
from connections.sources.documents_kinds import Kind, kind_of

__all__ = [
    "Document",
    "Link",
    "Section",
    "Unreadable",
    "language_name",
    "read_document",
    "readable",
]


def readable(name: str) -> bool:
    """Return whether a file of this name is of a format whose text can be read.

    A name without a known suffix may still be text: `read_document` looks.
    """
    return kind_of(name) is not Kind.UNKNOWN


def read_document(name: str, data: bytes) -> Document:
    """Return what the file says; raise `Unreadable` with the reason, nothing else."""
    kind = kind_of(name)
    if not kind.structured:
        return plain.read_plain(name, kind, data)
    try:
        return sandbox.read(name, data)
    except Unreadable as reason:
        if kind is not Kind.MARKDOWN:
            raise
        # Markdown is its own plain text, so a file too odd to parse loses no word.
        return plain.read_plain(
            name, Kind.TEXT, data, warning=f"read as text: {reason}"
        )
