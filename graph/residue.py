"""What is left of something in the database: every table, column and vector read.

Nothing is assumed of the schema: tables and columns are what PostgreSQL says there
are, so that a table added tomorrow is read tomorrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import connection, connections, transaction
from psycopg import sql

from connections.models import Project
from graph import residue_sql
from graph.copying import fetch

BLOCK = 1 << 20
VECTORS = ("vector", "halfvec")
PROJECT = "project_id"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its columns and types, and how its rows hang on a project."""

    oid: int
    schema: str
    name: str
    columns: tuple[tuple[str, str], ...]

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(self.schema, self.name)

    @property
    def texts(self) -> list[str]:
        """Return the columns that are read as text: all but vectors."""
        return [name for name, kind in self.columns if kind not in VECTORS]

    @property
    def vectors(self) -> list[tuple[str, str]]:
        return [(name, kind) for name, kind in self.columns if kind in VECTORS]


@dataclass(slots=True)
class Scanned:
    """How much was read, and in which columns something was found, rows each."""

    tables: int = 0
    columns: int = 0
    rows: int = 0
    vectors: int = 0
    found: dict[str, int] = field(default_factory=dict)

    @property
    def left(self) -> int:
        return sum(self.found.values())


def tables() -> list[Table]:
    """Return every table that this login may read, of every schema but the system's."""
    grouped: dict[tuple[int, str, str], list[tuple[str, str]]] = {}
    for oid, schema, name, column, kind in fetch(residue_sql.COLUMNS, []):
        grouped.setdefault((oid, schema, name), []).append((column, kind))
    return [Table(*key, tuple(columns)) for key, columns in grouped.items()]


def scan(
    probes: Collection[str],
    *,
    vectors: Sequence[str] = (),
    project: Project | None = None,
    skip: Collection[str] = (),
) -> Scanned:
    """Look for `probes`, in any case, in every column of every table, and for
    `vectors` in every column of vectors.

    With `project`, rows that hang on another project are left out; `skip` are names
    of tables. Probes hold no quotes, backslashes or line ends.
    """
    wanted = sorted({probe.casefold() for probe in probes if probe})
    done = Scanned()
    with transaction.atomic():
        known = tables()
        scopes = Scopes(known, project)
        for table in known:
            if table.name not in skip:
                _scan_table(table, scopes.of(table), wanted, vectors, done)
    return done


def _scan_table(
    table: Table,
    where: sql.Composable,
    probes: Sequence[str],
    vectors: Sequence[str],
    done: Scanned,
) -> None:
    done.tables += 1
    done.columns += len(table.columns)
    hit = False
    for rows in _blocks(table, where, table.texts):
        done.rows += len(rows)
        hit = hit or _holds(rows, probes)
    for column in table.texts if hit else ():
        if count := _count(table, where, column, probes):
            done.found[f"{table.name}.{column}"] = count
    for column, kind in table.vectors:
        done.vectors += _filled(table, where, column)
        if vectors and (count := _equal(table, where, column, kind, vectors)):
            done.found[f"{table.name}.{column}"] = count


def _blocks(
    table: Table, where: sql.Composable, columns: Sequence[str]
) -> Iterator[list[str]]:
    """Yield the rows of columns as text, in blocks."""
    statement = sql.SQL("COPY (SELECT {} FROM {} AS t WHERE {}) TO STDOUT").format(
        sql.SQL(", ").join(sql.Identifier("t", name) for name in columns),
        table.identifier,
        where,
    )
    rows: list[str] = []
    size = 0
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in copy:
            rows.append(bytes(row).decode("utf-8", "replace").casefold())
            size += len(rows[-1])
            if size >= BLOCK:
                yield rows
                rows, size = [], 0
    yield rows


def _holds(rows: Sequence[str], probes: Sequence[str]) -> bool:
    block = "".join(rows)
    return any(probe in block for probe in probes)


def _count(
    table: Table, where: sql.Composable, column: str, probes: Sequence[str]
) -> int:
    return sum(
        any(probe in row for probe in probes)
        for rows in _blocks(table, where, [column])
        if _holds(rows, probes)
        for row in rows
    )


def _filled(table: Table, where: sql.Composable, column: str) -> int:
    statement = sql.SQL("SELECT count({}) FROM {} AS t WHERE {}").format(
        sql.Identifier("t", column), table.identifier, where
    )
    return _one(statement)


def _equal(
    table: Table,
    where: sql.Composable,
    column: str,
    kind: str,
    vectors: Sequence[str],
) -> int:
    statement = sql.SQL(
        "SELECT count(*) FROM {} AS t WHERE {} AND {} IN (SELECT v::{}"
        " FROM unnest({}::text[]) AS v)"
    ).format(
        table.identifier,
        where,
        sql.Identifier("t", column),
        sql.SQL(kind),
        sql.Literal(list(vectors)),
    )
    return _one(statement)


def _one(statement: sql.Composable) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return int(cursor.fetchone()[0])


def vacuum(names: Collection[str]) -> None:
    """Take what was deleted of these tables, and of the graph's, out of their indexes.

    An index keeps what it pointed to until then; a vector index even the vector.
    """
    _maintain("VACUUM (ANALYZE) {}", {*names})


def analyze() -> None:
    """Let the server count all tables that rows are about to be deleted from.

    What follows a row by a foreign key is found by a plan of its own; of a table that
    was just filled and not counted yet, the server reads all of it for every row.
    """
    _maintain("ANALYZE {}", {table.name for table in tables()})


def _maintain(statement: str, names: Collection[str]) -> None:
    if connection.in_atomic_block:
        return
    with connections["owner"].cursor() as cursor:
        for table in tables():
            if table.name in names or table.name.startswith(("graph_", "retrieval_")):
                # Our own words, and names as the server quotes them.
                cursor.execute(sql.SQL(statement).format(table.identifier).as_string())  # type: ignore[arg-type] # a constant of ours


class Scopes:
    """Which rows of a table hang on a project: by a column of theirs, or by keys.

    What hangs on no project (users, sessions) is everybody's and read whole.
    """

    def __init__(self, known: Sequence[Table], project: Project | None) -> None:
        self.project = project
        self.by_oid = {table.oid: table for table in known}
        self.keys: dict[int, list[tuple[str, int, str]]] = {}
        for oid, column, other, its in fetch(residue_sql.KEYS, []):
            self.keys.setdefault(oid, []).append((column, other, its))
        self._paths: dict[int, list[tuple[str, int, str]] | None] = {}

    def of(self, table: Table) -> sql.Composable:
        """Return the condition on the rows `t` of `table`."""
        path = self.path(table) if self.project else None
        if self.project is None or path is None:
            return sql.SQL("true")
        return self._condition(table, path)

    def path(self, table: Table) -> list[tuple[str, int, str]] | None:
        """Return the shortest way by foreign keys to a table with a project."""
        if table.oid not in self._paths:
            self._paths[table.oid] = self._shortest(table)
        return self._paths[table.oid]

    def _shortest(self, table: Table) -> list[tuple[str, int, str]] | None:
        ways: list[tuple[Table, list[tuple[str, int, str]]]] = [(table, [])]
        seen = Counter({table.oid: 1})
        while ways:
            here, way = ways.pop(0)
            if PROJECT in dict(here.columns) or here.name == "connections_project":
                return way
            for key in self.keys.get(here.oid, ()):
                if key[1] in self.by_oid and not seen[key[1]]:
                    seen[key[1]] += 1
                    ways.append((self.by_oid[key[1]], [*way, key]))
        return None

    def _condition(
        self, table: Table, path: Sequence[tuple[str, int, str]], name: str = "t"
    ) -> sql.Composable:
        assert self.project is not None  # noqa: S101 # the caller's condition
        if not path:
            own = PROJECT if PROJECT in dict(table.columns) else "id"
            return sql.SQL("{} = {}").format(
                sql.Identifier(name, own), sql.Literal(self.project.pk)
            )
        (column, other, its), *rest = path
        there, alias = self.by_oid[other], f"{name}u"
        return sql.SQL("{} IN (SELECT {} FROM {} AS {} WHERE {})").format(
            sql.Identifier(name, column),
            sql.Identifier(alias, its),
            there.identifier,
            sql.Identifier(alias),
            self._condition(there, rest, alias),
        )
