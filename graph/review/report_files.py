"""The report as a file to fill in, and what was filled in: CSV, JSON lines, Markdown."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from connections.refusals import Refused
from connections.spreadsheet import lines_of_cells
from graph.review.report import ReportRow

COLUMNS = tuple(field.name for field in fields(ReportRow))
# What people fill in; `until` is for a snooze.
ANSWERS = ("decision", "reason", "until")
_HEAD = """# Review of what may be out of date

Fill in the line "decision" with keep, prune or snooze, and say why; a snooze needs a
day such as 2027-01-31 in "until". What is left empty stays as it is.
"""
_ITEM = re.compile(r"## Item (\d+), version (\d+)(?: .*)?")
_ANSWER = re.compile(r"- (decision|reason|until):(.*)")


class ReportError(Refused):
    """A report cannot be written or read; the message names the line."""

    code = "bad_report"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A decision as somebody filled it in, in that line of the file."""

    line: int
    item: int
    version: int
    decision: str
    reason: str
    until: str


def write_report(path: Path, rows: Iterable[ReportRow], form: str) -> int:
    """Write the report whole, or leave the file as it was; return how many items."""
    count = 0

    def counted() -> Iterator[ReportRow]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_WRITERS[form](counted()))
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except OSError as error:
        raise ReportError(f"{error.filename or path}: {error.strerror}.") from error
    finally:
        fresh.unlink(missing_ok=True)
    return count


def read_report(path: Path) -> list[Filled]:
    """Return the rows of a report that somebody has filled in.

    Raises `ReportError`, which names the line, for what is no report.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise ReportError(f"{path.name} is none of {', '.join(sorted(_READERS))}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"{path} cannot be read: {error}.") from error
    rows = [_filled(path.name, line, said) for line, said in read(path.name, text)]
    seen: dict[int, int] = {}
    for row in rows:
        if row.item in seen:
            raise _wrong(
                path.name, row.line, f"item {row.item} is in line {seen[row.item]} too"
            )
        seen[row.item] = row.line
    return [row for row in rows if row.decision]


def _as_csv(rows: Iterable[ReportRow]) -> Iterator[str]:
    names = (*COLUMNS, *ANSWERS)
    cells = ([*(_cell(getattr(r, name)) for name in COLUMNS), "", "", ""] for r in rows)
    return lines_of_cells(chain([names], cells))


def _as_jsonl(rows: Iterable[ReportRow]) -> Iterator[str]:
    for row in rows:
        said = asdict(row) | dict.fromkeys(ANSWERS, "")
        yield json.dumps(said, ensure_ascii=False, default=_cell) + "\n"


def _as_markdown(rows: Iterable[ReportRow]) -> Iterator[str]:
    yield _HEAD
    for row in rows:
        yield f"\n## Item {row.item}, version {row.version} ({row.kind})\n\n"
        # Quoted line by line, so that no words of a source pass for an answer.
        for name in COLUMNS[3:]:
            value = _cell(getattr(row, name))
            if value:
                quoted = "\n> ".join(value.splitlines())
                yield f"> **{name.replace('_', ' ')}**: {quoted}\n>\n"
        yield "\n" + "".join(f"- {name}:\n" for name in ANSWERS)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds")
    if isinstance(value, list | tuple):
        return "\n".join(value)
    return str(value)


Said = tuple[int, Mapping[str, Any]]


def _from_csv(name: str, text: str) -> Iterator[Said]:
    csv.field_size_limit(sys.maxsize)
    head = text.partition("\n")[0]
    # Spreadsheets write what the country of their user has between cells.
    between = max(",;\t", key=head.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=between)
    missing = {"item", "version", *ANSWERS} - set(reader.fieldnames or ())
    if missing:
        raise _wrong(name, 1, f"the column {min(missing)} is missing")
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise _wrong(name, reader.line_num, str(error)) from None


def _from_jsonl(name: str, text: str) -> Iterator[Said]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise _wrong(name, number, "it is no JSON") from None
        if not isinstance(row, dict):
            raise _wrong(name, number, "it is no JSON object")
        yield number, row


def _from_markdown(name: str, text: str) -> Iterator[Said]:
    row: dict[str, str] = {}
    at = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if found := _ITEM.fullmatch(line.rstrip()):
            if row:
                yield at, row
            at, row = number, {"item": found[1], "version": found[2]}
        elif row and (found := _ANSWER.fullmatch(line.rstrip())):
            row[found[1]] = found[2]
    if row:
        yield at, row


def _filled(name: str, line: int, said: Mapping[str, Any]) -> Filled:
    def answer(column: str) -> str:
        return str(said.get(column) or "").strip()

    try:
        item, version = int(said["item"]), int(said["version"])
    except (KeyError, TypeError, ValueError):
        raise _wrong(name, line, "it does not say which item it is about") from None
    return Filled(
        line=line,
        item=item,
        version=version,
        decision=answer("decision").lower(),
        reason=answer("reason"),
        until=answer("until"),
    )


def _wrong(name: str, line: int, why: str) -> ReportError:
    return ReportError(f"{name}, line {line}: {why}.")


_WRITERS: Mapping[str, Callable[[Iterable[ReportRow]], Iterator[str]]] = {
    "csv": _as_csv,
    "jsonl": _as_jsonl,
    "md": _as_markdown,
}
_READERS: Mapping[str, Callable[[str, str], Iterator[Said]]] = {
    ".csv": _from_csv,
    ".jsonl": _from_jsonl,
    ".md": _from_markdown,
}
FORMS = tuple(_WRITERS)
