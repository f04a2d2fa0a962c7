"""A schema for prompts: paths along foreign keys, and tables as compact DDL."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from connections.databases.base import Column, ForeignKey, Schema, Table

Path = tuple[str, str]
# A longer detour between two tables is seldom what was meant.
MOST_STEPS = 4
VALUES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Join:
    """A step along a foreign key: the columns of both tables that are equal, pairwise.

    `left` is where the step begins; the key may be of either table.
    """

    left: Path
    right: Path
    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]

    @property
    def condition(self) -> str:
        """Return the condition in words of SQL, names as they are."""
        left, right = ".".join(self.left), ".".join(self.right)
        pairs = zip(self.left_columns, self.right_columns, strict=True)
        return " AND ".join(f"{left}.{a} = {right}.{b}" for a, b in pairs)

    @property
    def turned(self) -> Join:
        """Return the same step from the other end."""
        return Join(self.right, self.left, self.right_columns, self.left_columns)


@dataclass(frozen=True, slots=True)
class JoinPath:
    """The shortest way between two tables; `bridges` are the tables on the way."""

    steps: tuple[Join, ...]

    @property
    def ends(self) -> tuple[Path, Path]:
        return self.steps[0].left, self.steps[-1].right

    @property
    def bridges(self) -> tuple[Path, ...]:
        return tuple(step.right for step in self.steps[:-1])


def join_paths(
    schema: Schema, tables: Sequence[Path], *, most_steps: int = MOST_STEPS
) -> tuple[JoinPath, ...]:
    """Return the shortest paths between each two of `tables`, in their order.

    Where several are equally short, as with two keys to one table, all are returned:
    which one is meant, the names of the columns say. Without a way there is none.
    """
    steps = _steps(schema)
    wanted = [table for table in dict.fromkeys(tables) if table in schema.by_path]
    return tuple(
        JoinPath(found)
        for first, second in combinations(wanted, 2)
        for found in _shortest(steps, first, second, most_steps)
    )


def _steps(schema: Schema) -> Mapping[Path, list[Join]]:
    steps: dict[Path, list[Join]] = {path: [] for path in schema.by_path}
    for path, table in schema.by_path.items():
        for key in table.foreign_keys:
            target = (key.target_schema, key.target_table)
            if target not in steps:
                continue
            join = Join(path, target, key.columns, key.target_columns)
            steps[path].append(join)
            if target != path:
                steps[target].append(join.turned)
    return steps


def _shortest(
    steps: Mapping[Path, list[Join]], start: Path, end: Path, most: int
) -> list[tuple[Join, ...]]:
    """Return every shortest path: breadth first, keeping all ways into a table."""
    distance = {start: 0}
    arrivals: dict[Path, list[Join]] = {}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        if here == end or distance[here] == most:
            continue
        for step in steps[here]:
            if step.right not in distance:
                distance[step.right] = distance[here] + 1
                queue.append(step.right)
            if distance[step.right] == distance[here] + 1:
                arrivals.setdefault(step.right, []).append(step)
    return _unwound(arrivals, start, end) if end in distance else []


def _unwound(
    arrivals: Mapping[Path, list[Join]], start: Path, end: Path
) -> list[tuple[Join, ...]]:
    if start == end:
        return [()]
    return [
        (*before, step)
        for step in arrivals[end]
        for before in _unwound(arrivals, start, step.left)
    ]


def with_bridges(schema: Schema, tables: Sequence[Path]) -> tuple[Path, ...]:
    """Return `tables` and the tables that join them, those asked for first."""
    bridges = [bridge for path in join_paths(schema, tables) for bridge in path.bridges]
    known = [table for table in tables if table in schema.by_path]
    return tuple(dict.fromkeys([*known, *bridges]))


def as_ddl(table: Table, full: bool = True) -> str:
    """Return a table as compact DDL; without `full`, names and keys only.

    Comments and values are a stranger's text: fence them. Of masked and aggregate-only
    columns it says so, and no values.
    """
    name = f"{_quoted(table.schema)}.{_quoted(table.name)}"
    if not full:
        columns = ", ".join(_quoted(column.name) for column in table.columns)
        return f"{name}({columns})"
    lines = [_column_ddl(column) for column in table.columns]
    keys = [column.name for column in table.columns if column.is_key]
    if keys:
        lines.append((f"PRIMARY KEY ({_listed(keys)})", ""))
    lines += [(_key_ddl(key), "") for key in table.foreign_keys]
    head = f"CREATE {'VIEW' if table.kind == 'view' else 'TABLE'} {name} ("
    about = [_one_line(table.comment)] if table.comment else []
    if table.rows:
        about.append(f"about {table.rows} rows")
    body = [
        f"  {line}{',' if place < len(lines) else ''}{f'  -- {note}' if note else ''}"
        for place, (line, note) in enumerate(lines, start=1)
    ]
    noted = f"{head}  -- {'; '.join(about)}" if about else head
    return "\n".join([noted, *body, ");"])


def _column_ddl(column: Column) -> tuple[str, str]:
    line = f"{_quoted(column.name)} {column.data_type}"
    if not column.nullable:
        line += " NOT NULL"
    notes = [_one_line(column.comment)] if column.comment else []
    if column.exposure == "masked":
        notes.append("masked: only in the output list, as itself")
    elif column.exposure == "aggregate":
        notes.append("only inside count, sum and avg")
    if column.values and column.exposure == "visible":
        shown = ", ".join(_literal(value) for value in column.values[:VALUES_SHOWN])
        more = len(column.values) - VALUES_SHOWN
        notes.append(f"values: {shown}{f' and {more} more' if more > 0 else ''}")
    return line, "; ".join(notes)


def _key_ddl(key: ForeignKey) -> str:
    target = f"{_quoted(key.target_schema)}.{_quoted(key.target_table)}"
    return (
        f"FOREIGN KEY ({_listed(key.columns)})"
        f" REFERENCES {target} ({_listed(key.target_columns)})"
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(_quoted(name) for name in names)


def _quoted(name: str) -> str:
    """Return the name as it is where it is plain, else in double quotes."""
    if name.isascii() and name.isidentifier() and name == name.lower():
        return name
    return '"' + _one_line(name).replace('"', '""') + '"'


def _literal(value: str) -> str:
    return "'" + _one_line(value).replace("'", "''") + "'"


def _one_line(text: str) -> str:
    """Return text that cannot end a line, and with it the comment that it stands in."""
    return " ".join(text.split())


def names_only(schema: Schema, *, besides: Iterable[Path] = ()) -> str:
    """Return a line a table with the names of its columns, without those `besides`."""
    left_out = set(besides)
    return "\n".join(
        as_ddl(table, full=False)
        for table in schema.tables
        if (table.schema, table.name) not in left_out
    )
