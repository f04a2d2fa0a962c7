"""Conditions on the rows of a statement, with those that other tables decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from connections.databases.base import Table
from memory.sql.translator.base import (
    Absent,
    Filter,
    Having,
    NotUnderstood,
    Order,
    Plan,
    Ref,
)
from memory.sql.translator.conditions import compared, condition
from memory.sql.translator.joining import Joins, is_upward, on
from memory.sql.translator.lexicon import key_columns
from memory.sql.translator.links import Link
from memory.sql.translator.nodes import column_of, count_all


@dataclass
class Restrictions:
    """What a plan asks of rows; `per_row` counts stand for each row by itself."""

    plan: Plan
    joins: Joins
    per_row: bool
    ordered: Callable[[Order], exp.Ordered]

    def all(self, outside: Sequence[Filter]) -> list[exp.Expr]:
        """Return all conditions; the tables of `outside` are not joined."""
        return [*self.conditions(outside), *self._absences(), *self._presences()]

    def conditions(self, outside: Sequence[Filter]) -> list[exp.Expr]:
        plan = self.plan
        inner = [f for f in plan.filters if f not in outside]
        found = [condition(f, self.joins.schema) for f in inner]
        branches: dict[tuple[Link, int], list[Filter]] = {}
        for one in outside:
            way = self.joins.links.path(self.joins.joined, one.ref.table)
            # Two values of one column cannot both be in one row.
            again = sum(
                f.ref == one.ref and _is_value(f) for f in outside[: outside.index(one)]
            )
            rank = again if _is_value(one) else 0
            branches.setdefault((way[0], rank), []).append(one)
        for one in inner:
            if sum(f.ref == one.ref and _is_value(f) for f in inner) > 1:
                raise NotUnderstood(f"{one.ref.shown} cannot have two values at once")
        for filters in branches.values():
            negated = all(f.negated for f in filters)
            plain = [_positive(f) if negated else f for f in filters]
            exists = self._exists(plain[0].ref.table, plain)
            found.append(exp.not_(exists) if negated else exists)
        found += self._both()
        if plan.picked is not None:
            found.append(self._picked(plan.picked))
        if self.per_row:
            found += [self._enough(having) for having in plan.havings]
        return found

    def _enough(self, having: Having) -> exp.Expr:
        """Return the condition that a row has so many of another table's."""
        table = having.output.table
        if table is None or self.joins.has(table):
            raise NotUnderstood("how many of what?")
        exists = self._exists(table, ())
        select = exists.this.select(count_all(), append=False)
        number = exp.convert(having.number)
        return compared(select.subquery(copy=False), having.operator, number)

    def _both(self) -> list[exp.Expr]:
        """Return a condition for each value that rows beside must hold."""
        both = self.plan.both
        if not both:
            return []
        table = both[0].ref.table
        if self.joins.has(table):
            values = tuple(value for one in both for value in one.values)
            self.plan.assume("rows with either value are meant", 0.8)
            merged = Filter(ref=both[0].ref, values=values)
            return [condition(merged, self.joins.schema)]
        return [self._exists(table, [one]) for one in both]

    def _picked(self, order: Order) -> exp.Expr:
        """Return the condition that rows belong to those first in an order."""
        ref = order.output.ref
        if ref is None:
            raise NotUnderstood("the most of what?")
        keys = key_columns(ref.table)
        if len(keys) != 1:
            raise NotUnderstood(f"nothing tells rows of {ref.table.name} apart")
        key = column_of(Ref(ref.table, keys[0]))
        left: exp.Expr = key.copy()
        chosen = exp.select(key).from_(self.joins.table(ref.table))
        chosen = chosen.order_by(self.ordered(order)).limit(self.plan.limit or 1)
        if any(f.ref.table.path == ref.table.path for f in self.plan.filters):
            raise NotUnderstood("a superlative over some rows only")
        if self.plan.limit not in (None, 1):
            raise NotUnderstood("totals over the first few rows")
        if not self.joins.has(ref.table):
            way = self.joins.links.path(self.joins.joined, ref.table)
            if len(way) != 1 or len(way[0].columns) != 1 or way[0].one is not ref.table:
                raise NotUnderstood("too far a superlative")
            left = column_of(Ref(way[0].many, way[0].columns[0]))
            if way[0].columns[0].family != keys[0].family:
                left = exp.cast(left, "text")
                chosen = chosen.select(exp.cast(key.copy(), "text"), append=False)
        return exp.EQ(this=left, expression=chosen.subquery(copy=False))

    def _absences(self) -> list[exp.Expr]:
        return [exp.not_(self._absence(absent)) for absent in self.plan.absent]

    def _absence(self, absent: Absent) -> exp.Expr:
        if self.joins.has(absent.table):
            raise NotUnderstood(f"without {absent.table.name} of what?")
        return self._exists(absent.table, absent.filters)

    def _presences(self) -> list[exp.Expr]:
        """Return conditions for tables that are only named: "who have orders"."""
        told = {f.ref.table.path for f in (*self.plan.filters, *self.plan.both)}
        found = []
        implied = [
            table
            for table in self.plan.implied
            if not self.joins.has(table)
            and not is_upward(
                self.joins.joined, self.joins.links.path(self.joins.joined, table)
            )
        ]
        for table in {t.path: t for t in [*self.plan.present, *implied]}.values():
            if self.joins.has(table) or table.path in told:
                continue
            if any(table.path == absent.table.path for absent in self.plan.absent):
                continue
            picked = self.plan.picked.output.ref if self.plan.picked else None
            if picked is not None and picked.table.path == table.path:
                continue
            way = self.joins.links.path(self.joins.joined, table)
            if self._covered(way, told) or self._denied(way):
                continue
            found.append(self._exists(table, ()))
        return found

    def _covered(self, way: Sequence[Link], told: set[str]) -> bool:
        """Whether a table lies between what is asked and another condition's table."""
        goal = way[-1]
        names = {goal.many.path, goal.one.path}
        for path in told:
            table = next(t for t in self.joins.schema.tables if t.path == path)
            if self.joins.has(table):
                continue
            for link in self.joins.links.path(self.joins.joined, table):
                if {link.many.path, link.one.path} == names:
                    return True
        return False

    def _denied(self, way: Sequence[Link]) -> bool:
        """Whether a way leads over what there must not be."""
        absent = {one.table.path for one in self.plan.absent}
        for one in self.plan.absent:
            for link in self.joins.links.path(self.joins.joined, one.table):
                absent |= {link.many.path, link.one.path}
        absent -= {table.path for table in self.joins.joined}
        return any({link.many.path, link.one.path} & absent for link in way)

    def _exists(self, table: Table, filters: Iterable[Filter]) -> exp.Expr:
        """Return that the way from a row joined leads to some row that fulfils all."""
        filters = list(filters)
        way = self.joins.links.path(self.joins.joined, table)
        first = way[0]
        start = first.many if not self.joins.has(first.many) else first.one
        inner, reached = list(way[1:]), [start]
        for link in inner:
            reached += [link.many, link.one]
        for one in filters:
            if one.ref.table.path not in {t.path for t in reached}:
                for link in self.joins.links.path(reached, one.ref.table):
                    inner.append(link)
                    reached += [link.many, link.one]
        if any(self.joins.has(t) for t in reached):
            raise NotUnderstood("a condition that leads back to what is asked")
        select = self.joins.from_(exp.select(exp.Literal.number(1)), start, inner)
        select = select.where(on(first), copy=False)
        for one in filters:
            select = select.where(condition(one, self.joins.schema), copy=False)
        return exp.Exists(this=select)


def _is_value(found: Filter) -> bool:
    return (
        found.operator == "="
        and bool(found.values)
        and found.match is None
        and not found.negated
    )


def _positive(found: Filter) -> Filter:
    return Filter(
        ref=found.ref,
        operator=found.operator,
        values=found.values,
        match=found.match,
        period=found.period,
        average=found.average,
        is_null=found.is_null,
    )
