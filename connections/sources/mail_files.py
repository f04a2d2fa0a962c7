"""The mails of a file or folder as bytes: mbox, Maildir, .eml, folders of them."""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from zlib import error as ZlibError

from connections.records import Failure
from connections.sources.base import SourceError

MAX_MAIL_BYTES = 64 * 1024 * 1024
_CHUNK = 256 * 1024
_BLANK_LINES = (b"\n", b"\r\n")

_HEADER = re.compile(rb"[\x21-\x39\x3b-\x7e]{1,200}[ \t]*:")
_CLOCK = re.compile(rb"\d{1,2}:\d\d")
_YEAR = re.compile(rb"(?:19|20)\d\d")
_ASCTIME = re.compile(
    rb"From .*(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d{1,2} \d\d:\d\d"
)
_ADDRESS_ALONE = re.compile(rb"From (?:-|\S+@\S+)\s*")
_GAP = re.compile(rb"\n\r?\n")
_QUOTED_FROM = re.compile(rb"(?m)^>(>*From )")

# What mail programs keep beside their mailboxes: no mail is in it.
_SIDECARS = (".msf", ".lock")


@dataclass(frozen=True, slots=True)
class RawMail:
    """A mail's bytes, where they were found, and the "From " line before them."""

    item: str
    data: bytes
    envelope: str = ""


@dataclass(frozen=True, slots=True)
class _Slice:
    """The mail of one "From " line: its bytes, None where there are too many."""

    offset: int
    size: int
    data: bytes | None
    envelope: str


def read_mails(location: Path) -> Iterator[RawMail | Failure]:
    """Yield the mails of a file, a Maildir or a folder of any of these, one at a time.

    Files are taken in the order of their names. Raises `SourceError` where there is
    nothing to read.
    """
    if location.is_dir():
        yield from _read_folder(location)
    elif location.is_file():
        yield from _read_file(location, location.name)
    else:
        raise SourceError(
            f"There is no mail at {location}: name an mbox file, a Maildir, "
            "an .eml file or a folder of these."
        )


def _read_folder(root: Path) -> Iterator[RawMail | Failure]:
    unread: list[Failure] = []

    def note(error: OSError) -> None:
        name = os.path.relpath(str(error.filename or root), root)
        unread.append(Failure(name, f"cannot open this folder: {error.strerror}"))

    inside = root.resolve()
    for folder, names, files in os.walk(root, onerror=note):
        is_maildir = {"cur", "new"} <= set(names)
        names[:] = sorted(n for n in names if _enters(Path(folder), n, is_maildir))
        yield from unread
        unread.clear()
        if is_maildir:
            continue
        for name in sorted(files):
            path = Path(folder, name)
            if not name.startswith(".") and path.suffix.lower() not in _SIDECARS:
                item = path.relative_to(root).as_posix()
                yield from _read_inside(path, item, inside)
    yield from unread


def _enters(folder: Path, name: str, is_maildir: bool) -> bool:
    """Return whether a folder may hold mail: not a Maildir's `tmp`, nothing hidden.

    A Maildir's own subfolders are hidden by design.
    """
    if is_maildir and name == "tmp":
        return False
    return not name.startswith(".") or (folder / name / "cur").is_dir()


def _read_inside(path: Path, item: str, root: Path) -> Iterator[RawMail | Failure]:
    try:
        resolved = path.resolve(strict=True)
        regular = stat.S_ISREG(resolved.stat().st_mode)
    except (OSError, RuntimeError) as error:
        yield Failure(item, f"cannot be opened: {error}")
        return
    if not resolved.is_relative_to(root):
        yield Failure(item, "is a link that leaves the folder; it was not followed")
    elif not regular:
        yield Failure(item, "is no regular file")
    else:
        yield from _read_file(path, item)


def _read_file(path: Path, item: str) -> Iterator[RawMail | Failure]:
    try:
        with closing(_open(path)) as stream:
            start = stream.readline(_CHUNK)
            following = stream.readline(_CHUNK)
            stream.seek(0)
            if not start:
                yield from _empty(path, item)
            elif start.startswith(b"From ") and _is_header(following):
                yield from _read_mbox(stream, item)
            else:
                yield _read_single(stream, item)
    except (OSError, EOFError, ZlibError) as error:
        yield Failure(item, f"cannot be read to its end: {error}")


def _open(path: Path) -> io.BufferedIOBase:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rb")
    return path.open("rb")


def _empty(path: Path, item: str) -> Iterator[Failure]:
    # A mailbox without mail is no mishap; a mail without a byte is.
    if path.suffix.lower() not in ("", ".mbox", ".mbx"):
        yield Failure(item, "the file is empty")


def _read_single(stream: io.BufferedIOBase, item: str) -> RawMail | Failure:
    data = stream.read(MAX_MAIL_BYTES + 1)
    if len(data) > MAX_MAIL_BYTES:
        return Failure(item, _too_large(f"more than {MAX_MAIL_BYTES}"))
    return RawMail(item, data)


def _read_mbox(stream: io.BufferedIOBase, item: str) -> Iterator[RawMail | Failure]:
    for ordinal, found in enumerate(_slices(stream), start=1):
        name = f"{item}#{ordinal} (byte {found.offset})"
        if found.data is None:
            yield Failure(name, _too_large(str(found.size)))
        else:
            yield RawMail(name, _unquoted(found.data), found.envelope)


def _too_large(size: str) -> str:
    return f"the mail has {size} bytes; at most {MAX_MAIL_BYTES} of one mail are read"


def _slices(stream: io.BufferedIOBase) -> Iterator[_Slice]:
    """Yield the mails of an mbox; at no time is more than one of them in memory."""
    lines: list[bytes] = []
    size = offset = position = 0
    envelope = ""
    after_blank = at_line_start = True
    for line, following in _with_next(stream):
        starts = at_line_start and _starts_mail(
            line, following, after_blank, first=position == 0
        )
        if starts:
            if position:
                yield _slice(lines, offset, size, envelope)
            lines, size, offset = [], 0, position
            envelope = line.decode("latin-1").strip()
        else:
            size += len(line)
            if size <= MAX_MAIL_BYTES:
                lines.append(line)
            else:
                lines = []
        after_blank = at_line_start and line in _BLANK_LINES
        at_line_start = line.endswith(b"\n")
        position += len(line)
    yield _slice(lines, offset, size, envelope)


def _slice(lines: list[bytes], offset: int, size: int, envelope: str) -> _Slice:
    data = b"".join(lines) if size <= MAX_MAIL_BYTES else None
    # The empty line before a "From " line is the format's, not the mail's.
    for end in _BLANK_LINES:
        if data and data.endswith(end * 2):
            data = data[: -len(end)]
    return _Slice(offset, size, data, envelope)


def _with_next(stream: io.BufferedIOBase) -> Iterator[tuple[bytes, bytes]]:
    """Yield each line with the one after it; a longer line comes in chunks."""
    line = stream.readline(_CHUNK)
    while line:
        following = stream.readline(_CHUNK)
        yield line, following
        line = following


def _starts_mail(
    line: bytes, following: bytes, after_blank: bool, *, first: bool
) -> bool:
    """Return whether a "From " line begins a mail, not a sentence of a body.

    It does where a header follows and it ends in a time, or is but an address; in
    the middle of a paragraph only in the one form that every mail program writes.
    """
    if not line.startswith(b"From ") or not _is_header(following):
        return False
    if first or _ASCTIME.match(line):
        return True
    if not after_blank:
        return False
    dated = _CLOCK.search(line) and _YEAR.search(line)
    return bool(dated or _ADDRESS_ALONE.fullmatch(line))


def _is_header(line: bytes) -> bool:
    return bool(_HEADER.match(line) or line.startswith(b">From "))


def _unquoted(data: bytes) -> bytes:
    """Return a mail without the ">" that mbox puts before its lines of "From "."""
    gap = _GAP.search(data)
    if gap is None or b">From " not in data:
        return data
    return data[: gap.end()] + _QUOTED_FROM.sub(rb"\1", data[gap.end() :])
