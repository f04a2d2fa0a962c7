"""The floor of ingest: the same rows by bare COPY into tables with the same indexes."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from benchmarks.database import server
from connections.models import Project

TABLES = ("graph_records", "graph_nodes", "graph_edges", "graph_evidence")
ALIKE = """
    CREATE TABLE floor.{table} (LIKE public.{table}
    INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)
"""
VECTOR_INDEXES = """
    SELECT indexname FROM pg_indexes
     WHERE schemaname = 'floor' AND indexdef LIKE '%hnsw%'
"""
OUT = """
    COPY (SELECT * FROM public.{table}
           WHERE tenant_id = {tenant} AND project_id = {project})
    TO STDOUT (FORMAT BINARY)
"""
INTO = "COPY floor.{table} FROM STDIN (FORMAT BINARY)"
BUILD = "CREATE INDEX ON floor.graph_nodes USING hnsw (embedding vector_cosine_ops)"
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Floor:
    """Seconds of copying a project's rows, and of building the vector index."""

    copy: float
    build: float


def measure(project: Project) -> Floor:
    """Copy the rows of `project` into a schema of their own, then drop it."""
    with server() as owner:
        owner.execute("CREATE SCHEMA floor")
        try:
            for table in TABLES:
                owner.execute(SQL(ALIKE).format(table=Identifier(table)))
            for (index,) in owner.execute(VECTOR_INDEXES).fetchall():
                owner.execute(SQL("DROP INDEX floor.{}").format(Identifier(index)))
            copied = sum(_copy(owner, table, project) for table in TABLES)
            started = time.perf_counter()
            owner.execute(BUILD)
            return Floor(copied, time.perf_counter() - started)
        finally:
            owner.execute("DROP SCHEMA floor CASCADE")


def _copy(owner: Connection, table: str, project: Project) -> float:
    """Return the seconds that writing took; reading goes by a file."""
    out = SQL(OUT).format(
        table=Identifier(table), tenant=project.tenant_id, project=project.pk
    )
    with tempfile.TemporaryFile() as file:
        with owner.cursor() as cursor, cursor.copy(out) as rows:
            for data in rows:
                file.write(data)
        file.seek(0)
        started = time.perf_counter()
        into = SQL(INTO).format(table=Identifier(table))
        with owner.cursor() as cursor, cursor.copy(into) as rows:
            while data := file.read(CHUNK):
                rows.write(data)
        return time.perf_counter() - started
