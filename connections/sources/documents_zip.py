"""Zip containers from strangers: what they hold is of a sane size; their properties."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from datetime import datetime

from lxml import etree

from connections.sources.documents_base import (
    Unreadable,
    language_name,
    moment,
    names_nothing,
    one_line,
)

MAX_ENTRIES = 20_000
MAX_UNPACKED_BYTES = 512 * 2**20
# XML of real files packs about 10 to 60 times; below the floor a ratio says nothing.
MAX_RATIO = 250
RATIO_FLOOR_BYTES = 16 * 2**20

MAX_PROPERTIES_BYTES = 2**20

_PROPERTIES_PATH = "docProps/core.xml"
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def checked_zip(data: bytes, what: str) -> zipfile.ZipFile:
    """Return the container opened; `Unreadable` if it is damaged, locked or a bomb.

    The sizes it declares can be trusted: zipfile never unpacks more than those.
    """
    if not data:
        raise Unreadable("empty: the file has no bytes")
    if data.startswith(_OLE_MAGIC):
        raise Unreadable(f"locked by a password, or of a format older than the {what}")
    try:
        container = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"damaged: not a {what} ({error})") from error
    entries = container.infolist()
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise Unreadable(f"locked: the {what} is encrypted")
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED_BYTES:
        raise Unreadable(
            f"too large: the {what} unpacks to {unpacked:,} bytes in {len(entries):,} "
            f"parts; up to {MAX_UNPACKED_BYTES:,} bytes in {MAX_ENTRIES:,} are read"
        )
    if unpacked > RATIO_FLOOR_BYTES and unpacked > MAX_RATIO * len(data):
        raise Unreadable(
            f"too dense: {len(data):,} bytes would unpack to {unpacked:,}, "
            f"more than {MAX_RATIO} times"
        )
    return container


@dataclass(frozen=True, slots=True)
class Properties:
    """What an Office file says of itself; empty where it says nothing."""

    title: str = ""
    author: str = ""
    keywords: str = ""
    language: str = ""
    modified: datetime | None = None


def office_properties(data: bytes, what: str) -> Properties:
    """Return the core properties that the container states.

    The Office libraries fill in the present day where a file states none, so that
    the same bytes would give another document tomorrow.
    """
    with checked_zip(data, what) as container:
        try:
            with container.open(_PROPERTIES_PATH) as part:
                source = part.read(MAX_PROPERTIES_BYTES)
            root = etree.fromstring(source, etree.XMLParser(resolve_entities=False))
        except (KeyError, OSError, zipfile.BadZipFile, etree.XMLSyntaxError):
            return Properties()
    said = {
        etree.QName(node).localname: node.text or "" for node in root.iterchildren("*")
    }
    title = one_line(said.get("title", ""))
    return Properties(
        title="" if names_nothing(title) else title,
        author=one_line(said.get("creator", "")),
        keywords=said.get("keywords", ""),
        language=language_name(said.get("language", "")),
        modified=moment(said.get("modified", "")) or moment(said.get("created", "")),
    )
