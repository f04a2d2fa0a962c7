"""A folder or a zip, read without trusting it: nothing is unpacked or followed."""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from connections.records import Failure
from connections.sources.base import SourceError

MIB = 1024 * 1024
_LITTER = {"__MACOSX", "Thumbs.db", "desktop.ini"}
_DRIVE = re.compile(r"[A-Za-z]:")
_READ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError)
# What zipfile says of a method it lacks and of a password.
_OPEN_ERRORS = (*_READ_ERRORS, NotImplementedError, RuntimeError, ValueError)


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may hold, in entries and bytes once unpacked.

    A `ratio` of unpacked to packed size only counts from `ratio_from` bytes on: long
    member lists pack well, and a small file harms nobody. Deflate ends near 1,030.
    """

    entries: int = 1_000_000
    entry_bytes: int = 2048 * MIB
    total_bytes: int = 65_536 * MIB
    ratio: int = 250
    ratio_from: int = 16 * MIB


LIMITS = Limits()


class UnreadableEntry(Exception):
    """One entry that cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of an archive: its path from the root, with "/", and its size."""

    name: str
    size: int
    packed: int
    source: zipfile.ZipInfo | Path

    @property
    def parts(self) -> tuple[str, ...]:
        return PurePosixPath(self.name).parts


@dataclass(frozen=True, slots=True)
class Archive:
    """The readable entries of a folder, a zip or a file, by name, and the refused."""

    label: str
    entries: tuple[Entry, ...]
    refused: tuple[Failure, ...]
    _open: Callable[[Entry], IO[bytes]]

    @contextmanager
    def open(self, entry: Entry) -> Iterator[IO[bytes]]:
        """Open one entry; raises `UnreadableEntry` there and while it is read."""
        try:
            stream = self._open(entry)
        except _OPEN_ERRORS as error:
            raise UnreadableEntry(f"It cannot be opened: {error}.") from error
        try:
            with stream:
                yield stream
        except _READ_ERRORS as error:
            raise UnreadableEntry(f"It is damaged: {error}.") from error

    def read(self, entry: Entry, limit: int) -> bytes:
        """Return an entry's bytes; raises `UnreadableEntry`, also past `limit`."""
        with self.open(entry) as stream:
            raw = stream.read(limit + 1)
        if len(raw) > limit:
            raise UnreadableEntry(f"It is larger than {limit // MIB:,} MB.")
        return raw


@contextmanager
def open_archive(location: Path, limits: Limits | None = None) -> Iterator[Archive]:
    """Open a folder, a zip or a single file; raises `SourceError` with what to do.

    Names that leave the archive, links, devices, encrypted and oversized entries are
    refused one by one; too many entries, or too much in them, refuse it as a whole.
    """
    limits = limits or LIMITS
    try:
        if location.is_dir():
            yield _folder(location, limits)
        elif location.is_file() and _looks_like_zip(location):
            with _opened_zip(location) as packed:
                yield _zip(location, packed, limits)
        elif location.is_file():
            yield _single(location)
        else:
            raise SourceError(f"{location} is no file or folder that can be read.")
    except PermissionError as error:
        raise SourceError(f"{location} may not be read: {error.strerror}.") from error


def _looks_like_zip(location: Path) -> bool:
    with location.open("rb") as stream:
        return stream.read(2) == b"PK" or location.suffix.lower() == ".zip"


def _opened_zip(location: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(location)
    except (*_OPEN_ERRORS, UnicodeDecodeError) as error:
        size = location.stat().st_size
        raise SourceError(
            f"{location.name} ({size:,} bytes) is no complete zip: {error}. It was "
            "probably cut short on its way; fetch it again, or unpack what there is "
            "and give the folder."
        ) from error


def _zip(location: Path, packed: zipfile.ZipFile, limits: Limits) -> Archive:
    infos = [info for info in packed.infolist() if not info.is_dir()]
    found: list[Entry] = []
    refused: list[Failure] = []
    for info in infos:
        name = info.filename.replace("\\", "/")
        entry = Entry(_tidy(name), info.file_size, info.compress_size, info)
        if _is_litter(name):
            continue
        if (
            reason := _unsafe_name(name)
            or _unsafe_info(info)
            or _oversize(entry, limits)
        ):
            refused.append(Failure(name[:300], reason))
        else:
            found.append(entry)

    def opened(entry: Entry) -> IO[bytes]:
        return packed.open(cast("zipfile.ZipInfo", entry.source))

    return _archive(location, found, refused, opened, limits)


def _folder(location: Path, limits: Limits) -> Archive:
    found: list[Entry] = []
    refused: list[Failure] = []
    for item in _walk(location, location, limits.entries):
        if isinstance(item, Failure):
            refused.append(item)
        elif reason := _oversize(item, limits):
            refused.append(Failure(item.name, reason))
        else:
            found.append(item)
    return _archive(location, found, refused, _open_file, limits)


def _single(location: Path) -> Archive:
    size = location.stat().st_size
    entry = Entry(location.name, size, size, location.resolve())
    return Archive(location.name, (entry,), (), _open_file)


def _archive(
    location: Path,
    found: list[Entry],
    refused: list[Failure],
    opened: Callable[[Entry], IO[bytes]],
    limits: Limits,
) -> Archive:
    total, packed = sum(e.size for e in found), sum(e.packed for e in found)
    if len(found) + len(refused) > limits.entries:
        raise SourceError(
            f"{location.name} holds more than {limits.entries:,} files; split it."
        )
    if total > limits.total_bytes:
        raise SourceError(
            f"{location.name} unpacks to {total // MIB:,} MB, more than the "
            f"{limits.total_bytes // MIB:,} MB that are read at once; split it."
        )
    if total > limits.ratio_from and total > limits.ratio * max(packed, 1):
        raise SourceError(
            f"{location.name} unpacks to more than {limits.ratio} times its size: it "
            "looks like a zip bomb and was not read. If it is sound, unpack it and "
            "give the folder."
        )
    found.sort(key=lambda entry: entry.name)
    refused.sort(key=lambda failure: failure.item)
    return Archive(location.name, tuple(found), tuple(refused), opened)


def _open_file(entry: Entry) -> IO[bytes]:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(str(entry.source), flags), "rb")


def _walk(root: Path, folder: Path, most: int) -> Iterator[Entry | Failure]:
    waiting = [folder]
    while waiting and most >= 0:
        current = waiting.pop()
        try:
            items = sorted(os.scandir(current), key=lambda item: item.name)
        except OSError as error:
            name = _relative(current, root)
            yield Failure(name, f"The folder cannot be listed: {error.strerror}.")
            continue
        for item in items:
            if _is_litter(item.name):
                continue
            if item.is_dir(follow_symlinks=False):
                waiting.append(Path(item.path))
                continue
            most -= 1
            yield _file_entry(item, root)


def _file_entry(item: os.DirEntry[str], root: Path) -> Entry | Failure:
    path = Path(item.path)
    name = _relative(path, root)
    if item.is_symlink():
        return Failure(name, "A symbolic link, which is not followed.")
    if not item.is_file(follow_symlinks=False):
        return Failure(name, "Neither a file nor a folder.")
    size = item.stat(follow_symlinks=False).st_size
    return Entry(name, size, size, path)


def _relative(path: Path, root: Path) -> str:
    shown = path.relative_to(root).as_posix()
    return shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _tidy(name: str) -> str:
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _is_litter(name: str) -> bool:
    parts: Iterable[str] = name.replace("\\", "/").split("/")
    return any(
        part in _LITTER or (part.startswith(".") and part not in (".", ".."))
        for part in parts
    )


def _unsafe_name(name: str) -> str:
    if name.startswith("/") or _DRIVE.match(name) or ".." in name.split("/"):
        return "Refused: its name leads out of the archive."
    return ""


def _unsafe_info(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "Refused: a link or a device."
    if info.flag_bits & 0x1:
        return "Refused: it is encrypted; unpack the archive with its password first."
    return ""


def _oversize(entry: Entry, limits: Limits) -> str:
    if entry.size > limits.entry_bytes:
        return f"Refused: larger than {limits.entry_bytes // MIB:,} MB."
    bomb = entry.size > limits.ratio * max(entry.packed, 1)
    if bomb and entry.size > limits.ratio_from:
        return f"Refused: it unpacks to more than {limits.ratio} times its size."
    return ""
