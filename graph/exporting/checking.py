"""Whether a folder is an export, whole and as it was written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.exporting import vectors
from graph.exporting.errors import BadExport, ExportingError, FolderError
from graph.exporting.export import FORMAT, MOST_LINE, VERSION, held_parts
from graph.exporting.folders import MANIFEST, SUMS, TOP, Written, measure
from graph.exporting.parts import Part
from graph.exporting.values import LineReader, parse

_MOST_MANIFEST = 1 << 20
_SUM = re.compile(r"([0-9a-f]{64})  ([^\x00-\x1f\\]+)\n")
_VECTOR = {"node", "provider", "name", "dimensions", "vector"}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an export says that it holds."""

    folder: Path
    with_memory: bool
    with_vectors: bool
    files: Mapping[str, Written]
    sums: str
    pages: int

    def held(self) -> list[Part]:
        return held_parts(with_memory=self.with_memory)

    def path(self, part: Part) -> Path:
        return self.folder / part.file


def read_manifest(folder: Path) -> Manifest:
    """Return what the export in `folder` holds; raises `ExportingError`."""
    if not folder.is_dir():
        raise FolderError(f"{folder} is no folder; unpack an archive first.")
    said = _said(folder)
    if said.get("format") != FORMAT:
        raise BadExport(MANIFEST, "this is no export of Fabric")
    if said.get("version") != VERSION:
        raise BadExport(
            MANIFEST,
            f"its format is of version {said.get('version')!r:.40}; this program reads "
            f"version {VERSION}: export again with the program it came from, brought "
            "up to date",
        )
    try:
        manifest = _manifest(folder, said)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadExport(MANIFEST, f"it is damaged ({error!r:.80})") from None
    _check_names(manifest)
    return manifest


def verify(manifest: Manifest) -> None:
    """Raise `BadExport` unless every file is there as it was written, and no other."""
    for path, file in manifest.files.items():
        _check_file(manifest, path, file)
    sums = measure(_plain_file(manifest.folder, SUMS))
    if sums.sha256 != manifest.sums:
        raise BadExport(SUMS, "it was changed since the export was written")
    listed = _check_pages(manifest.folder)
    _refuse_foreign(manifest, listed)


def lines_of(folder: Path, file: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; no longer ones than may be."""
    with _plain_file(folder, file).open("rb") as opened:
        number = 0
        while line := opened.readline(MOST_LINE + 1):
            number += 1
            if len(line) > MOST_LINE:
                raise BadExport(
                    file, f"it is longer than {MOST_LINE:,} bytes", line=number
                )
            if not line.endswith(b"\n"):
                raise BadExport(file, "the file is cut off here", line=number)
            try:
                yield number, line[:-1].decode()
            except UnicodeDecodeError:
                raise BadExport(file, "it is no UTF-8", line=number) from None


def _said(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise FolderError(f"{folder} has no {MANIFEST}: it is no export of Fabric.")
    if path.stat().st_size > _MOST_MANIFEST:
        raise BadExport(MANIFEST, "it is far too large")
    try:
        return parse(_plain_file(folder, MANIFEST).read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadExport(MANIFEST, str(error)) from None


def _manifest(folder: Path, said: Mapping[str, Any]) -> Manifest:
    holds = said["holds"]
    if not holds["data"]:
        raise ExportingError(
            f"{folder} was exported as of {holds['as_of']}: it is for reading. Export "
            "without --as-of to import elsewhere."
        )
    files = {
        str(path): Written(int(f["lines"]), int(f["size"]), str(f["sha256"]))
        for path, f in said["files"].items()
    }
    return Manifest(
        folder=folder,
        with_memory=holds["memory"] is True,
        with_vectors=holds["vectors"] is True,
        files=files,
        sums=str(said["pages"]["sums"]),
        pages=int(said["pages"]["count"]),
    )


def _check_names(manifest: Manifest) -> None:
    """Files are known by name: none of another name is ever opened."""
    wanted = {part.file for part in manifest.held()}
    if manifest.with_vectors:
        wanted.add(vectors.FILE)
    for name in sorted(manifest.files.keys() - wanted):
        raise BadExport(MANIFEST, f"it names {name!r:.120}, which no export has")
    for name in sorted(wanted - manifest.files.keys()):
        raise BadExport(MANIFEST, f"it does not name {name}")


def _plain_file(folder: Path, file: str) -> Path:
    """Return the path of a file that is one, and no link to somewhere else."""
    path = folder / file
    if path.is_symlink() or path.parent.is_symlink():
        raise BadExport(file, "it is a link; an export has plain files alone")
    if not path.is_file():
        raise BadExport(file, "the file is missing")
    return path


def _check_file(manifest: Manifest, file: str, written: Written) -> None:
    found = measure(_plain_file(manifest.folder, file))
    if found == written:
        return
    _find_damage(manifest, file)
    if found.lines < written.lines:
        why = f"it ends here; the export has {written.lines:,} lines"
        raise BadExport(file, why, line=found.lines)
    raise BadExport(
        file,
        f"it was changed since the export was written: {found.lines:,} lines, all of "
        f"which can be read, where the export has {written.lines:,}",
    )


def _find_damage(manifest: Manifest, file: str) -> None:
    """Raise `BadExport` for the first line that cannot be read, if there is one."""
    reader = next((LineReader(p) for p in manifest.held() if p.file == file), None)
    for number, line in lines_of(manifest.folder, file):
        try:
            reader.read(line) if reader else parse(line)
        except ValueError as error:
            raise BadExport(file, str(error), line=number) from None


def _check_pages(folder: Path) -> int:
    """Check every page that SHA256SUMS lists; return how many it lists."""
    count = 0
    with (folder / SUMS).open(encoding="utf-8", newline="\n") as sums:
        for count, line in enumerate(sums, start=1):
            found = _SUM.fullmatch(line)
            if not found or not _is_within(found[2]):
                raise BadExport(SUMS, "it names no page of an export", line=count)
            if measure(_plain_file(folder, found[2])).sha256 != found[1]:
                raise BadExport(found[2], "it was changed since the export was written")
    return count


def _is_within(path: str) -> bool:
    parts = path.split("/")
    is_named = parts[0] in ("nodes", "tags", "README.md")
    return is_named and not {"", ".", ".."} & set(parts)


def _refuse_foreign(manifest: Manifest, listed: int) -> None:
    """Refuse files that the export did not write; what begins with a dot is not its."""
    for entry in sorted(manifest.folder.iterdir()):
        if entry.name not in TOP and not entry.name.startswith("."):
            raise BadExport(entry.name, "no export has this; move it away")
    for entry in sorted((manifest.folder / "data").iterdir()):
        if f"data/{entry.name}" not in manifest.files:
            raise BadExport(f"data/{entry.name}", "no export has this; move it away")
    there = (manifest.folder / "README.md").is_file() + sum(
        len(files)
        for top in ("nodes", "tags")
        for _, _, files in os.walk(manifest.folder / top)
    )
    if there != listed:
        raise BadExport(
            SUMS,
            f"it lists {listed:,} pages, and there are {there:,}: move away what "
            "is not the export's",
        )


def read_vector(line: str) -> Mapping[str, Any]:
    """Return a line of vectors; raises `ValueError`."""
    row = parse(line)
    if row.keys() != _VECTOR:
        raise ValueError("it is no vector of a node")
    numbers = json.loads(str(row["vector"]))
    is_vector = isinstance(numbers, list) and all(
        type(number) in (int, float) for number in numbers
    )
    if not is_vector or len(numbers) != row["dimensions"]:
        raise ValueError("its vector has not as many numbers as it says")
    return row
