"""Which columns join which tables, and the shortest way from one table to others."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from connections.databases.base import Column, Schema, Table
from memory.sql.translator.base import NotUnderstood
from memory.sql.translator.conditions import is_numeric
from memory.sql.translator.lexicon import key_columns
from memory.sql.translator.words import parts_of, stem

# What a column that names another table's row ends with.
KEY_WORDS = ("id", "code", "key", "no", "number", "nr", "uuid")
MOST_JOINS = 6


@dataclass(frozen=True, slots=True)
class Link:
    """Columns of `many` that name a row of `one`; `told` by the schema or by names."""

    many: Table
    columns: tuple[Column, ...]
    one: Table
    targets: tuple[Column, ...]
    told: bool = True

    def other(self, table: Table) -> Table:
        return self.one if table.path == self.many.path else self.many


class Links:
    """The links of a schema: its foreign keys, and what names make plain besides."""

    def __init__(self, schema: Schema, hinted: Iterable[Table] = ()) -> None:
        self.schema = schema
        self.hinted = {table.path for table in hinted}

    @cached_property
    def of(self) -> dict[str, list[Link]]:
        """Return the links at each table, by its path."""
        found: dict[str, list[Link]] = defaultdict(list)
        taken: set[tuple[str, tuple[str, ...]]] = set()
        told = [link for t in self.schema.tables for link in self._told(t)]
        for link in told:
            taken.add((link.many.path, tuple(c.name for c in link.columns)))
        guessed = [link for t in self.schema.tables for link in self._guessed(t)]
        for link in guessed:
            if (link.many.path, tuple(c.name for c in link.columns)) in taken:
                continue
            told.append(link)
        for link in told:
            found[link.many.path].append(link)
            if link.one.path != link.many.path:
                found[link.one.path].append(link)
        return found

    def path(self, start: Iterable[Table], goal: Table) -> list[Link]:
        """Return the shortest way from any of `start` to `goal`.

        Raises `NotUnderstood` where there is none, or two that mean different things.
        """
        reached: dict[str, list[list[Link]]] = {t.path: [[]] for t in start}
        edge = deque(start)
        while edge and goal.path not in reached:
            following: dict[str, list[list[Link]]] = defaultdict(list)
            for table in edge:
                for link in self.of[table.path]:
                    other = link.other(table)
                    if other.path not in reached:
                        ways = reached[table.path]
                        following[other.path].extend([*way, link] for way in ways)
            edge = deque(
                table for table in self.schema.tables if table.path in following
            )
            reached.update(following)
            if edge and len(reached[edge[0].path][0]) >= MOST_JOINS:
                break
        ways = reached.get(goal.path, [])
        if not ways:
            raise NotUnderstood(f"nothing joins {goal.name} to what else is asked")
        if len(ways) > 1:
            ways = [way for way in ways if self._is_hinted(way)] or ways
        if len(ways) > 1:
            raise NotUnderstood(
                f"there are several ways to join {goal.name} to what else is asked"
            )
        return ways[0]

    def _is_hinted(self, way: Sequence[Link]) -> bool:
        """Whether a way leads over a table that a verb of the question names."""
        return any({link.many.path, link.one.path} & self.hinted for link in way)

    def tree(self, tables: Sequence[Table]) -> list[Link]:
        """Return joins that connect all of `tables`, from the first on."""
        joined = [tables[0]]
        links: list[Link] = []
        # The nearest first, so that bridges serve those behind them.
        waiting = [t for t in tables[1:] if t.path != tables[0].path]
        while waiting:
            waiting = [t for t in waiting if t.path not in {j.path for j in joined}]
            if not waiting:
                break
            way = min((self.path(joined, t) for t in waiting), key=len)
            here = {table.path for table in joined}
            for link in way:
                links.append(link)
                for table in (link.many, link.one):
                    if table.path not in here:
                        here.add(table.path)
                        joined.append(table)
        return links

    def _told(self, table: Table) -> Iterable[Link]:
        for key in table.foreign_keys:
            one = self.schema.by_path.get((key.target_schema, key.target_table))
            if one is None:
                continue
            columns = [table.by_name.get(name) for name in key.columns]
            targets = [one.by_name.get(name) for name in key.target_columns]
            if all(columns) and all(targets):
                yield Link(
                    table,
                    tuple(c for c in columns if c),
                    one,
                    tuple(c for c in targets if c),
                )

    def _guessed(self, table: Table) -> Iterable[Link]:
        for column in table.columns:
            owner = self._owner(table, column)
            if owner is not None:
                one, target = owner
                yield Link(table, (column,), one, (target,), told=False)

    @cached_property
    def _keyed(self) -> dict[str, list[tuple[Table, Column]]]:
        """Return tables with keys of one column by the names they are referred by."""
        found: dict[str, list[tuple[Table, Column]]] = defaultdict(list)
        others: dict[str, list[tuple[Table, Column]]] = defaultdict(list)
        for table in self.schema.tables:
            key = _single_key(table)
            if key is None:
                continue
            own = "".join(stem(part) for part in parts_of(table.name))
            last = stem((parts_of(table.name) or ("",))[-1])
            name = "".join(stem(part) for part in parts_of(key.name))
            own_names = {f"{base}{word}" for base in (own, last) for word in KEY_WORDS}
            for word in own_names | {own, last}:
                found[word].append((table, key))
            if name not in KEY_WORDS and name not in own_names:
                others[name].append((table, key))
        # A key's own name only counts where no table is called so.
        for word, some in others.items():
            found.setdefault(word, some)
        return found

    def _owner(self, table: Table, column: Column) -> tuple[Table, Column] | None:
        """Return the key that a column's name refers to, if just one."""
        words = [stem(part) for part in parts_of(column.name)]
        if not words or "".join(words) in KEY_WORDS:
            return None
        is_key_like = any("".join(words).endswith(word) for word in KEY_WORDS)
        if not is_key_like and not is_numeric(column):
            return None
        others = [
            (one, key)
            for one, key in self._keyed.get("".join(words), ())
            if one.path != table.path
        ]
        if len(others) != 1:
            return None
        if not is_key_like and not is_numeric(others[0][1]):
            return None
        own = _single_key(table)
        if own is not None and own.name == column.name and own.is_key:
            mine = "".join(stem(part) for part in parts_of(table.name))
            if "".join(words).startswith(mine[:3]):
                return None
        return others[0]


def _single_key(table: Table) -> Column | None:
    keys = key_columns(table)
    if len(keys) == 1:
        return keys[0]
    if keys or not table.columns:
        return None
    # Without keys told: the first column, where its name abbreviates the table's.
    first = table.columns[0]
    name, own = first.name.lower(), table.name.lower()
    for word in ("id", "code"):
        head = name.removesuffix(word).rstrip("_")
        if head != name and head and own.startswith(head) and not first.nullable:
            return first
    return None
