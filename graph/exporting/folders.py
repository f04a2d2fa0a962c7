"""A folder written beside the one it replaces, and put in its place in one step.

A process that dies leaves the folder before as it was, and at most a hidden one beside
it, which the next run clears away. What begins with a dot in the folder, such as `.git`,
is not the export's and stays.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from graph.exporting.errors import FolderError

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
# What an export has at its top; nothing else of anybody's is ever replaced.
TOP = frozenset({MANIFEST, SUMS, "README.md", "data", "nodes", "tags"})
_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE, AT_FDCWD of Linux


@dataclass(frozen=True, slots=True)
class Written:
    """A file as it was written."""

    lines: int
    size: int
    sha256: str


@dataclass(slots=True)
class Writer:
    """Writes files into a folder, each once, and keeps their sums."""

    folder: Path
    pages: int = 0
    _sums: BinaryIO | None = None
    _made: set[str] = field(default_factory=set)

    def page(self, path: str, text: str) -> None:
        """Write one small file, and its sum into SHA256SUMS."""
        content = text.encode("utf-8", "replace")
        target = self.folder / path
        parent = path.rpartition("/")[0]
        if parent not in self._made:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._made.add(parent)
        try:
            with target.open("xb") as file:
                file.write(content)
        except FileExistsError:
            raise FolderError(f"Two nodes have the same page: {path}.") from None
        self.note(path, hashlib.sha256(content).hexdigest())

    def note(self, path: str, sha256: str) -> None:
        """Put the sum of a file into SHA256SUMS."""
        if self._sums is None:
            self._sums = (self.folder / SUMS).open("xb")
        self._sums.write(f"{sha256}  {path}\n".encode())
        self.pages += 1

    def stream(self, path: str, chunks: Iterable[bytes | memoryview]) -> Written:
        """Write a large file, chunk by chunk, and return its sum."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        digest, lines, size = hashlib.sha256(), 0, 0
        with target.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
                digest.update(chunk)
                lines += bytes(chunk).count(b"\n")
                size += len(chunk)
            file.flush()
            os.fsync(file.fileno())
        return Written(lines, size, digest.hexdigest())

    def finish(self) -> Written:
        """Close SHA256SUMS and return its own sum."""
        if self._sums is None:
            self._sums = (self.folder / SUMS).open("xb")
        self._sums.flush()
        os.fsync(self._sums.fileno())
        self._sums.close()
        whole = (self.folder / SUMS).read_bytes() if self.pages < 1 else None
        if whole is not None:
            return Written(0, 0, hashlib.sha256(whole).hexdigest())
        return measure(self.folder / SUMS)


def measure(path: Path) -> Written:
    """Return the sum of a file, read piece by piece."""
    digest, lines, size = hashlib.sha256(), 0, 0
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
            lines += piece.count(b"\n")
            size += len(piece)
    return Written(lines, size, digest.hexdigest())


@contextmanager
def replacing(folder: Path) -> Iterator[Writer]:
    """Give a writer of a new folder; it takes the place of `folder` at the end.

    Raises `FolderError` where `folder` holds something that is no export.
    """
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            recover(folder)
            _check(folder)
            fresh = _beside(folder, "writing")
            fresh.mkdir()
            try:
                yield Writer(fresh)
                _swap(fresh, folder)
            finally:
                _clear(fresh, folder)
    except OSError as error:
        said = error.strerror or str(error)
        raise FolderError(f"{error.filename or folder}: {said}.") from error


def recover(folder: Path) -> None:
    """Put back what a killed run had moved aside, and clear away what it has left."""
    folder = folder.absolute()
    before = _beside(folder, "before")
    if before.is_dir() and not folder.exists():
        before.rename(folder)
    for leftover in (before, _beside(folder, "writing")):
        _clear(leftover, folder)


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f".{folder.name}.{what}")


def _check(folder: Path) -> None:
    if folder.is_symlink():
        raise FolderError(f"{folder} is a link: name the folder that it leads to.")
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FolderError(f"{folder}: Not a directory.")
    names = {entry.name for entry in folder.iterdir()}
    others = sorted(n for n in names if n not in TOP and not n.startswith("."))
    own = sorted(n for n in names if not n.startswith("."))
    if others or (own and MANIFEST not in own):
        named = (others or own)[0]
        raise FolderError(
            f"{folder} holds {named}, which is no export's: name another folder, or "
            "move that away. Nothing was changed."
        )


def _swap(fresh: Path, folder: Path) -> None:
    if not folder.exists():
        fresh.rename(folder)
    elif not _exchange(fresh, folder):
        before = _beside(folder, "before")
        folder.rename(before)
        fresh.rename(folder)
        _clear(before, folder)
    _settle(folder.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, where the system can; say whether it did."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    return rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0


def _clear(leftover: Path, folder: Path) -> None:
    """Delete a folder beside `folder`, once its dotted entries are safe in that."""
    if not leftover.is_dir() or leftover.is_symlink():
        return
    for entry in leftover.iterdir():
        if entry.name.startswith(".") and folder.is_dir():
            kept = folder / entry.name
            if kept.exists():
                raise FolderError(
                    f"{entry} and {kept} are both there: keep one of them, then run "
                    "this again."
                )
            entry.rename(kept)
    shutil.rmtree(leftover)


def _settle(parent: Path) -> None:
    handle = os.open(parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder against a second export at the same time."""
    path = _beside(folder, "lock")
    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(lock.fileno()), os.stat(path))
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise FolderError(f"Another export is being written to {folder}.")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
