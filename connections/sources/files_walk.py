"""Which files of a folder are read, and their bytes: no escape, no loop, no device."""

from __future__ import annotations

import fnmatch
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from connections.records import Failure

MAX_FILE_BYTES = 100 * 2**20
MAX_DEPTH = 100

# Hidden names (a leading dot) are ignored besides.
IGNORED = (
    "__MACOSX",
    "__pycache__",
    "node_modules",
    "bower_components",
    "venv",
    "lost+found",
    "@eaDir",
    "#recycle",
    "$RECYCLE.BIN",
    "System Volume Information",
    "Thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "Icon\r",
    "~$*",
    "*~",
    "*.pyc",
    "*.pyo",
    "*.swp",
    "*.crdownload",
    "*.part",
)
_IGNORED = re.compile("|".join(fnmatch.translate(name) for name in IGNORED), re.I)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class NotRead(Exception):
    """A file whose bytes cannot be had; the message says why."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file or folder of the walk: `path` is clean and relative, `real` is on disk."""

    path: str
    real: str
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """A file's bytes, and when it was last modified (seconds since 1970)."""

    data: bytes
    modified: float


def ignored(name: str) -> bool:
    """Return whether a file or folder of this name is none of a person's documents."""
    return name.startswith(".") or bool(_IGNORED.fullmatch(name))


def clean_name(name: str) -> str:
    """Return a name as it goes into a key: bytes that are no UTF-8 as "\\xe9".

    Control characters are escaped in the same way, so that a key is one line.
    """
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def walk(root: str) -> Iterator[Found | Failure]:
    """Yield what is under `root` in sorted order, a folder before what it holds.

    What cannot be entered or leads outside is yielded as a failure. A link to a
    folder inside is not followed: the folder is read under its own name.
    """
    yield from _folder(root, root, "", MAX_DEPTH)


def _folder(root: str, real: str, path: str, depth: int) -> Iterator[Found | Failure]:
    try:
        with os.scandir(real) as found:
            entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        yield Failure(path or ".", f"the folder cannot be read: {error.strerror}")
        return
    for entry in entries:
        if ignored(entry.name):
            continue
        below = f"{path}/{clean_name(entry.name)}" if path else clean_name(entry.name)
        if not entry.is_dir(follow_symlinks=False):
            yield from _file(root, entry, below)
        elif depth:
            yield Found(below, entry.path, is_folder=True)
            yield from _folder(root, entry.path, below, depth - 1)
        else:
            yield Failure(below, f"folders are nested more than {MAX_DEPTH} deep")


def _file(root: str, entry: os.DirEntry[str], path: str) -> Iterator[Found | Failure]:
    if not entry.is_symlink():
        # Devices, sockets and pipes hold no document.
        if entry.is_file(follow_symlinks=False):
            yield Found(path, entry.path)
        return
    try:
        real = os.path.realpath(entry.path, strict=True)
        mode = os.stat(real).st_mode
    except OSError as error:
        yield Failure(path, f"the link leads nowhere: {error.strerror}")
        return
    if not Path(real).is_relative_to(root):
        yield Failure(path, "the link leads out of the folder; it is not followed")
    elif stat.S_ISREG(mode):
        yield Found(path, real)


def contents(real: str) -> Contents:
    """Return a file's bytes; raise `NotRead` if it is too large or cannot be opened."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(real, flags), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise NotRead("it is no longer a regular file")
            data = (
                b""
                if status.st_size > MAX_FILE_BYTES
                else stream.read(MAX_FILE_BYTES + 1)
            )
    except OSError as error:
        raise NotRead(f"the file cannot be read: {error.strerror}") from error
    if max(status.st_size, len(data)) > MAX_FILE_BYTES:
        raise NotRead(
            f"the file is too large: {max(status.st_size, len(data)):,} bytes; "
            f"up to {MAX_FILE_BYTES:,} are read"
        )
    return Contents(data, status.st_mtime)
