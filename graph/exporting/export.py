"""A project written as a folder: pages for people, lines for machines, sums for both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from connections.models import Project, User, record_audit
from connections.registry import Registry
from graph.copying import execute
from graph.exporting import graph_parts, vectors  # noqa: F401 - its parts register
from graph.exporting.errors import ExportingError
from graph.exporting.folders import MANIFEST, Writer, Written, replacing
from graph.exporting.pages import Shown, write_pages
from graph.exporting.parts import Part, ordered_parts, referred_to
from graph.exporting.readme import readme
from graph.exporting.selecting import (
    LINES,
    Scope,
    addresses_statement,
    lines_statement,
    out_table,
)

FORMAT, VERSION = "fabric-export", 1
# No reader takes a longer one.
MOST_LINE = 64 << 20
# Two exports are the same bytes whatever a session is set to.
SETTINGS = (
    "SET LOCAL TimeZone TO 'UTC'",
    "SET LOCAL DateStyle TO 'ISO'",
    "SET LOCAL extra_float_digits TO 1",
    "SET LOCAL jit TO off",
    "SET LOCAL work_mem TO '64MB'",
)

Progress = Callable[[str], None]
# Writes further pages of a project, such as an index of its tags.
PageWriter = Callable[[Project, Shown, Writer], None]
page_writers: Registry[PageWriter] = Registry("writer of pages of an export")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What goes into an export. As of a moment it is for reading: pages alone."""

    with_memory: bool = True
    with_vectors: bool = False
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds: lines of each part, and pages."""

    lines: Mapping[str, int]
    pages: int
    files: int


@dataclass(slots=True)
class _Run:
    project: Project
    options: Options
    writer: Writer
    progress: Progress
    files: dict[str, Written] = field(default_factory=dict)


def export_graph(
    project: Project,
    folder: Path,
    options: Options = Options(),
    *,
    actor: User | None = None,
    progress: Progress = lambda _: None,
) -> Exported:
    """Write the whole project into `folder`, which is replaced in one step.

    An operator's read: closed channels, private memories and all. Raises
    `ExportingError`; then the folder is as it was.
    """
    with replacing(folder) as writer, snapshot():
        run = _Run(project, options, writer, progress)
        if options.as_of is None:
            _write_parts(run)
        _write_pages(run)
        exported = _write_manifest(run)
        record_audit(
            "export.graph",
            target=str(folder),
            project=project,
            actor=actor,
            with_memory=options.with_memory,
            with_vectors=options.with_vectors,
            as_of=options.as_of.isoformat() if options.as_of else "",
            pages=exported.pages,
            lines=dict(exported.lines),
        )
    return exported


@contextmanager
def snapshot() -> Iterator[None]:
    """Read one state of the database, whatever others write meanwhile."""
    is_outer = not connection.in_atomic_block
    with transaction.atomic():
        if is_outer:
            execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", [])
        for setting in SETTINGS:
            execute(setting, [])
        yield


def part_lines(part: Part, scope: Scope) -> Iterator[bytes]:
    """Yield the lines of a part; the tables of addresses must be there."""
    yield from _copied(lines_statement(part, scope), part.file)


def name_rows(project: Project, scope: Scope) -> None:
    """Make the tables of ids and addresses that the lines are read with."""
    named = referred_to()
    for part in ordered_parts():
        execute(f"DROP TABLE IF EXISTS {out_table(part)}", [])
        if part.prepare is not None:
            part.prepare(project)
        elif part.name in named:
            with connection.cursor() as cursor:
                cursor.execute(addresses_statement(part, scope))
                cursor.execute(f"CREATE INDEX ON {out_table(part)} (id)")
        else:
            continue
        execute(f"ANALYZE {out_table(part)}", [])


def held_parts(*, with_memory: bool) -> list[Part]:
    return [p for p in ordered_parts() if with_memory or not p.is_memory]


def _write_parts(run: _Run) -> None:
    options = run.options
    scope = Scope(run.project.tenant_id, run.project.pk, options.with_memory)
    run.progress("naming rows")
    name_rows(run.project, scope)
    for part in held_parts(with_memory=options.with_memory):
        run.progress(part.file)
        run.files[part.file] = run.writer.stream(part.file, part_lines(part, scope))
    if options.with_vectors:
        lines = _copied(vectors.LINES, vectors.FILE)
        run.files[vectors.FILE] = run.writer.stream(vectors.FILE, lines)


def _copied(statement: str, file: str) -> Iterator[bytes]:
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(LINES.format(query=statement)) as copy,
    ):
        for line in copy:
            if len(line) > MOST_LINE:
                raise ExportingError(
                    f"{file}: a line of {len(line):,} bytes; the most is {MOST_LINE:,}."
                )
            yield bytes(line)


def _write_pages(run: _Run) -> None:
    shown = Shown(run.options.with_memory, run.options.as_of)
    for done in write_pages(run.project, shown, run.writer):
        run.progress(f"{done} pages")
    for write in page_writers.values():
        write(run.project, shown, run.writer)
    run.writer.page("README.md", readme(shown, has_data=run.options.as_of is None))


def _write_manifest(run: _Run) -> Exported:
    sums = run.writer.finish()
    options = run.options
    said: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "holds": {
            "data": options.as_of is None,
            "memory": options.with_memory,
            "vectors": options.with_vectors,
            "as_of": _moment(options.as_of),
        },
        "pages": {"count": run.writer.pages, "sums": sums.sha256},
        "files": {path: asdict(file) for path, file in sorted(run.files.items())},
    }
    content = json.dumps(said, indent=1).encode() + b"\n"
    run.writer.stream(MANIFEST, [content])
    lines = {Path(path).stem: f.lines for path, f in sorted(run.files.items())}
    return Exported(lines, run.writer.pages, len(run.files) + run.writer.pages + 2)


def _moment(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None
