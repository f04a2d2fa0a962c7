"""What can go wrong with an export, told to the operator."""

from __future__ import annotations


class ExportingError(Exception):
    """An export or import cannot go on; the message says what to do."""


class FolderError(ExportingError):
    """A folder is not what an export is written to or read from."""


class BadExport(ExportingError):
    """An export is damaged, changed or not ours; names the file and the line."""

    def __init__(self, file: str, why: str, *, line: int | None = None) -> None:
        where = file if line is None else f"{file}, line {line}"
        super().__init__(f"{where}: {why}")


class NotEmpty(ExportingError):
    """A project holds something else than the export."""
