"""Portability: a project out and in again, beside a bare COPY of the same tables."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from django.db import connection

from benchmarks.corpus import texts
from benchmarks.load import fill
from benchmarks.report import Table, progress
from connections.management.base import create_project
from connections.models import Project, Source
from graph.exporting.export import export_graph
from graph.exporting.restore import import_graph
from graph.models import Node

SIZE, EVERY = 20_000, 0.05
_RECORDS = """
    INSERT INTO graph_records (tenant_id, project_id, source_id, audience_id, key, kind,
                               body, content_hash, raw_sha256, permalink, version,
                               counted, moved_to, first_fetched_at)
    SELECT n.tenant_id, n.project_id, %s, n.audience_id, n.key, n.node_type, n.content,
           encode(sha256(convert_to(n.content, 'UTF8')), 'hex'), '', '', 0, true, '',
           now()
      FROM graph_nodes n WHERE n.project_id = %s
"""
_PROOFS = """
    INSERT INTO graph_evidence (tenant_id, project_id, record_id, node_id)
    SELECT n.tenant_id, n.project_id, r.id, n.id
      FROM graph_nodes n
      JOIN graph_records r ON r.project_id = n.project_id AND r.key = n.key
     WHERE n.project_id = %s
"""
_EDGE_PROOFS = """
    INSERT INTO graph_evidence (tenant_id, project_id, record_id, edge_id)
    SELECT e.tenant_id, e.project_id, r.id, e.id
      FROM graph_edges e JOIN graph_nodes n ON n.id = e.source_id
      JOIN graph_records r ON r.project_id = n.project_id AND r.key = n.key
     WHERE e.project_id = %s
"""
TABLES = ("graph_records", "graph_nodes", "graph_edges", "graph_evidence")


@dataclass(slots=True)
class Took:
    """Seconds, and by how many MB the process grew at most."""

    seconds: float = 0
    grown: float = 0


def run() -> list[Table]:
    """Export, import, export again, and compare both exports file by file."""
    project = _filled(int(os.environ.get("FABRIC_BENCH_SIZE", "").strip() or SIZE))
    folder = Path(tempfile.mkdtemp(prefix="fabric-portability-"))
    try:
        return [_measure(project, folder)]
    finally:
        shutil.rmtree(folder)


def _measure(project: Project, folder: Path) -> Table:
    progress("export")
    with _watched() as out:
        exported = export_graph(project, folder / "one")
    with _watched() as bare_out:
        _copy_out(project, folder)
    copy = create_project("bench/restored")
    progress("import")
    with _watched() as back:
        import_graph(copy, folder / "one")
    progress("COPY in")
    with _watched() as bare_in:
        _copy_in(folder)
    progress("second export")
    with _watched() as again:
        export_graph(copy, folder / "two")
    compared, different = _compare(folder / "one", folder / "two")
    lines = sum(exported.lines.values())
    rows = f"{Node.objects.filter(project=project).count():,} nodes, {lines:,} lines"
    table = Table("x COPY", "measure", "seconds", "MB grown", "COPY, seconds", "what")
    pairs = (
        ("export, pages and lines", out, bare_out, f"{rows}, {exported.pages:,} pages"),
        ("import, all checks", back, bare_in, "indexes and foreign keys in both"),
        ("second export", again, bare_out, f"{compared:,} files, {different} differ"),
    )
    for name, took, bare, what in pairs:
        table.add(
            f"{took.seconds / max(bare.seconds, 0.001):.1f}",
            name,
            f"{took.seconds:.1f}",
            f"{took.grown:.0f}",
            f"{bare.seconds:.1f}",
            what,
        )
    return table


def _filled(count: int) -> Project:
    (project,) = fill({"bench/portable": (count, texts("portable", count))})
    source = Source.objects.create(
        tenant_id=project.tenant_id, project=project, kind="slack", name="made-up"
    )
    with connection.cursor() as cursor:
        for statement, values in (
            (_RECORDS, [source.pk, project.pk]),
            ("ANALYZE graph_records", []),
            (_PROOFS, [project.pk]),
            (_EDGE_PROOFS, [project.pk]),
            ("ANALYZE", []),
        ):
            progress("records and evidence")
            cursor.execute(statement, values)
    return project


def _copy_out(project: Project, folder: Path) -> None:
    """Write the same tables as pg_dump does."""
    for table in TABLES:
        statement = (
            f"SELECT {_columns(table)} FROM {table} WHERE project_id = {project.pk}"  # noqa: S608
        )
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY ({statement}) TO STDOUT") as copy,
            (folder / f"{table}.copy").open("wb") as file,
        ):
            for chunk in copy:
                file.write(chunk)


def _columns(table: str) -> str:
    """Return the columns of a table but vectors, which an import leaves to be made."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(cursor, table)
    return ", ".join(f'"{c.name}"' for c in found if not c.name.startswith("embedding"))


def _copy_in(folder: Path) -> None:
    """Read them into tables of the same columns, indexes and all, as pg_restore does."""
    for table in TABLES:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE TEMPORARY TABLE bare (LIKE {table} INCLUDING ALL)")
            with (
                cursor.copy(f"COPY bare ({_columns(table)}) FROM STDIN") as copy,
                (folder / f"{table}.copy").open("rb") as file,
            ):
                while piece := file.read(1 << 20):
                    copy.write(piece)
            cursor.execute("DROP TABLE bare")


def _compare(one: Path, other: Path) -> tuple[int, int]:
    names = {str(p.relative_to(one)) for p in one.rglob("*") if p.is_file()}
    theirs = {str(p.relative_to(other)) for p in other.rglob("*") if p.is_file()}
    different = sum(
        name not in theirs or (one / name).read_bytes() != (other / name).read_bytes()
        for name in names
    )
    return len(names | theirs), different + len(theirs - names)


@contextmanager
def _watched() -> Iterator[Took]:
    """Measure how long a block takes, and how much the process grows meanwhile."""
    took, process, done = Took(), psutil.Process(os.getpid()), threading.Event()
    before = process.memory_info().rss

    def watch() -> None:
        while not done.wait(EVERY):
            grown = (process.memory_info().rss - before) / 1e6
            took.grown = max(took.grown, grown)

    thread = threading.Thread(target=watch)
    thread.start()
    began = time.perf_counter()
    try:
        yield took
    finally:
        took.seconds = time.perf_counter() - began
        done.set()
        thread.join()
