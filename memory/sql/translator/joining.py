"""The tables of a statement, and how they are joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from connections.databases.base import Schema, Table
from memory.sql.translator.base import Filter, NotUnderstood, Ref
from memory.sql.translator.links import Link, Links
from memory.sql.translator.nodes import column_of, table_node


class Joins:
    """Joins that connect `base`; what is read of them later is noted in `used`."""

    def __init__(self, base: Sequence[Table], schema: Schema, links: Links) -> None:
        self.schema, self.links = schema, links
        self.links_used = links.tree(base)
        self.used: dict[str, Table] = {}
        joined = {table.path: table for table in base}
        for link in self.links_used:
            joined |= {link.many.path: link.many, link.one.path: link.one}
        self.joined = list(joined.values())

    def add_upward(self, filters: Iterable[Filter]) -> list[Filter]:
        """Join tables of conditions that each row has just one of; return the rest."""
        outside = []
        for found in filters:
            table = found.ref.table
            if self.has(table):
                continue
            way = self.links.path(self.joined, table)
            if is_upward(self.joined, way):
                self.links_used.extend(way)
                for link in way:
                    for one in (link.many, link.one):
                        if not self.has(one):
                            self.joined.append(one)
            else:
                outside.append(found)
        return outside

    def has(self, table: Table) -> bool:
        return any(one.path == table.path for one in self.joined)

    def is_single(self, table: Table) -> bool:
        """Whether a row of the joins holds each row of `table` just once."""
        reached, waiting = {table.path}, list(self.links_used)
        while waiting:
            for link in waiting:
                if link.many.path in reached:
                    reached.add(link.one.path)
                    waiting.remove(link)
                    break
                if link.one.path in reached:
                    return False
            else:
                return True
        return True

    def through_bridge(self, table: Table) -> bool:
        """Whether what repeats a table's rows is a bridge to what they are grouped by."""
        return all(
            link.one.path == table.path or link.many.path != table.path
            for link in self.links_used
        )

    def from_(
        self, select: exp.Select, first: Table, joins: Iterable[Link]
    ) -> exp.Select:
        select = select.from_(self.table(first), copy=False)
        here = {first.path}
        waiting = list(joins)
        while waiting:
            link = next((w for w in waiting if {w.many.path, w.one.path} & here), None)
            if link is None:
                raise NotUnderstood("the tables cannot be joined")
            waiting.remove(link)
            both = [t for t in (link.one, link.many) if t.path not in here]
            if len(both) != 1:
                continue
            here.add(both[0].path)
            select = select.join(
                self.table(both[0]), on=on(link), join_type="inner", copy=False
            )
        return select

    def table(self, table: Table) -> exp.Expr:
        self.used[table.path] = table
        return table_node(table, self.schema)


def on(link: Link) -> exp.Expr:
    """Return the condition of a join; as text where the two types do not compare."""
    pairs = []
    for column, target in zip(link.columns, link.targets, strict=True):
        left, right = (
            column_of(Ref(link.many, column)),
            column_of(Ref(link.one, target)),
        )
        if column.family != target.family:
            left, right = exp.cast(left, "text"), exp.cast(right, "text")
        pairs.append(exp.EQ(this=left, expression=right))
    return exp.and_(*pairs)


def is_upward(joined: Sequence[Table], way: Sequence[Link]) -> bool:
    """Whether each row has at most one row at the end of the way."""
    here = {table.path for table in joined}
    for link in way:
        if link.many.path not in here:
            return False
        here.add(link.one.path)
    return True
