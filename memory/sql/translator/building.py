"""A plan as a statement: a tree of sqlglot's, rendered in the schema's dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from connections.databases.base import Column, Schema, Table
from memory.sql.translator.base import (
    Absent,
    Filter,
    Having,
    NotUnderstood,
    Order,
    Output,
    Plan,
    Ref,
)
from memory.sql.translator.conditions import condition, is_numeric, measured
from memory.sql.translator.lexicon import key_columns
from memory.sql.translator.links import Link, Links
from memory.sql.translator.nodes import column_of, count_all, table_node
from memory.sql.translator.resolving import shown_columns

AGGREGATES: dict[str, type[exp.Func]] = {
    "sum": exp.Sum,
    "avg": exp.Avg,
    "min": exp.Min,
    "max": exp.Max,
}


class Builder:
    """Builds the statement of one plan."""

    def __init__(self, plan: Plan, schema: Schema, links: Links) -> None:
        self.plan, self.schema, self.links = plan, schema, links
        self.used: dict[str, Table] = {}

    @staticmethod
    def everything(table: Table, schema: Schema) -> exp.Select:
        """Return all rows of a table with all its columns."""
        columns = [column_of(Ref(table, column)) for column in table.columns]
        return exp.select(*columns).from_(table_node(table, schema))

    def build(self) -> exp.Select:
        """Return the statement; raises `NotUnderstood` where nothing sensible is."""
        plan = self.plan
        self.base = self._base()
        self.joins = self.links.tree(self.base)
        joined = {t.path: t for t in self.base}
        for link in self.joins:
            joined |= {link.many.path: link.many, link.one.path: link.one}
        self.joined = list(joined.values())
        outside = self._join_filters()
        self._check_fan_out()
        select = exp.select(*self._selected())
        select = self._from(select, self.base[0], self.joins)
        for where in [
            *self._conditions(outside),
            *self._absences(),
            *self._presences(),
        ]:
            select = select.where(where, copy=False)
        groups = self._groups()
        if groups:
            select = select.group_by(*groups, copy=False)
        for having in plan.havings if not self.counted else ():
            left = self._value(having.output)
            right = exp.convert(having.number)
            select = select.having(_compared(left, having.operator, right), copy=False)
        return self._finish(select)

    def _finish(self, select: exp.Select) -> exp.Select:
        plan = self.plan
        if plan.distinct and not plan.groups and not self._is_total():
            if any(order.output not in plan.outputs for order in plan.orders):
                raise NotUnderstood("different rows cannot be put in that order")
            select = select.distinct(copy=False)
        for order in plan.orders:
            select = select.order_by(self._ordered(order), copy=False)
        for tie in self._ties() if plan.orders else ():
            select = select.order_by(tie, copy=False)
        if plan.limit is not None and plan.picked is None:
            select = select.limit(plan.limit, copy=False)
        return select

    def _ties(self) -> list[exp.Expr]:
        """Return what makes an order the same each time: keys, or what is grouped."""
        plan = self.plan
        told = [order.output.ref for order in plan.orders if not order.output.aggregate]
        if plan.groups:
            return [
                g for g in self._groups() if g not in [column_of(r) for r in told if r]
            ]
        if plan.distinct:
            return []
        keys = key_columns(self.base[0])
        return [self._column(Ref(self.base[0], key)) for key in keys[:2]]

    def _is_total(self) -> bool:
        return all(output.aggregate for output in self.plan.outputs)

    def _base(self) -> list[Table]:
        """Return the tables that rows are made of, the first shown first."""
        plan = self.plan
        # "How many customers have more than 3 orders": a condition on each.
        self.counted = bool(plan.havings) and not plan.groups and self._is_total()
        havings = [] if self.counted else plan.havings
        outputs = [
            *plan.outputs,
            *(order.output for order in plan.orders),
            *(having.output for having in havings),
        ]
        tables = [o.ref.table if o.ref else o.table for o in outputs]
        tables += [ref.table for ref in plan.groups]
        found = {table.path: table for table in tables if table is not None}
        if not found:
            raise NotUnderstood("what is asked for?")
        return list(found.values())

    def _join_filters(self) -> list[Filter]:
        """Join tables of conditions that each row has just one of; return the rest."""
        outside = []
        for found in self.plan.filters:
            table = found.ref.table
            if self._has(table):
                continue
            way = self.links.path(self.joined, table)
            if _is_upward(self.joined, way):
                self.joins.extend(way)
                for link in way:
                    for one in (link.many, link.one):
                        if not self._has(one):
                            self.joined.append(one)
            else:
                outside.append(found)
        return outside

    def _has(self, table: Table) -> bool:
        return any(one.path == table.path for one in self.joined)

    def _check_fan_out(self) -> None:
        """Refuse to add up rows that the joins would repeat."""
        summed = {
            output.ref.table.path: output.ref.table
            for output in [
                *self.plan.outputs,
                *(o.output for o in self.plan.orders),
            ]
            if output.ref and output.aggregate in ("sum", "avg")
        }
        counted = {
            output.table.path
            for output in [
                *self.plan.outputs,
                *(h.output for h in ([] if self.counted else self.plan.havings)),
                *(o.output for o in self.plan.orders),
            ]
            if output.table
        }
        if len(summed) > 1 or len(counted) > 1:
            raise NotUnderstood("totals over several tables at once")
        for table in summed.values():
            if not self._is_single(table) and not self._through_bridge(table):
                raise NotUnderstood(f"joins would count rows of {table.name} twice")

    def _is_single(self, table: Table) -> bool:
        """Whether a row of the joins holds each row of `table` just once."""
        reached, waiting = {table.path}, list(self.joins)
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

    def _through_bridge(self, table: Table) -> bool:
        """Whether what repeats a table's rows is a bridge to what they are grouped by."""
        return bool(self.plan.groups) and all(
            link.one.path == table.path or link.many.path != table.path
            for link in self.joins
        )

    def _selected(self) -> list[exp.Expr]:
        names: list[str] = []
        selected: list[exp.Expr] = []
        shown = [o.ref.column.name.lower() for o in self.plan.outputs if o.ref]
        for output in self.plan.outputs:
            value = self._value(output)
            name = _label(output)
            if output.ref and not output.aggregate and shown.count(name.lower()) > 1:
                name = f"{output.ref.table.name}_{name}"
            while name in names:
                name += "_2"
            names.append(name)
            plain = output.ref and not output.aggregate
            if plain and output.ref and name == output.ref.column.name:
                selected.append(value)
            else:
                selected.append(exp.alias_(value, name[:60], quoted=True))
        return selected

    def _value(self, output: Output) -> exp.Expr:
        """Return what an output shows, as an expression."""
        if output.table is not None:
            return self._count(output.table)
        if output.ref is None:
            raise NotUnderstood("what is asked for?")
        column = self._column(output.ref)
        if output.aggregate is None:
            return column
        if output.aggregate == "count":
            inner = exp.Distinct(expressions=[column]) if output.distinct else column
            return exp.Count(this=inner)
        number = measured(output.ref, column)
        if output.aggregate in ("sum", "avg") and not is_numeric(output.ref.column):
            raise NotUnderstood(f"{output.ref.shown} holds no numbers")
        return AGGREGATES[output.aggregate](this=number)

    def _count(self, table: Table) -> exp.Expr:
        if self._is_single(table):
            return count_all()
        keys = key_columns(table)
        if len(keys) != 1:
            # A bridge's row is told by what it joins.
            if self.joins and any(link.many.path == table.path for link in self.joins):
                return count_all()
            raise NotUnderstood(f"nothing tells rows of {table.name} apart")
        column = self._column(Ref(table, keys[0]))
        return exp.Count(this=exp.Distinct(expressions=[column]))

    def _column(self, ref: Ref) -> exp.Expr:
        self.used[ref.table.path] = ref.table
        return column_of(ref)

    def _from(
        self, select: exp.Select, first: Table, joins: Iterable[Link]
    ) -> exp.Select:
        select = select.from_(self._table(first), copy=False)
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
                self._table(both[0]), on=_on(link), join_type="inner", copy=False
            )
        return select

    def _table(self, table: Table) -> exp.Expr:
        self.used[table.path] = table
        return table_node(table, self.schema)

    def _conditions(self, outside: Sequence[Filter]) -> list[exp.Expr]:
        plan = self.plan
        inner = [f for f in plan.filters if f not in outside]
        found = [condition(f, self.schema) for f in inner]
        branches: dict[tuple[Link, int], list[Filter]] = {}
        for one in outside:
            way = self.links.path(self.joined, one.ref.table)
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
        if self.counted:
            found += [self._enough(having) for having in plan.havings]
        return found

    def _enough(self, having: Having) -> exp.Expr:
        """Return the condition that a row has so many of another table's."""
        table = having.output.table
        if table is None or self._has(table):
            raise NotUnderstood("how many of what?")
        exists = self._exists(table, ())
        select = exists.this.select(count_all(), append=False)
        number = exp.convert(having.number)
        return _compared(select.subquery(copy=False), having.operator, number)

    def _both(self) -> list[exp.Expr]:
        """Return a condition for each value that rows beside must hold."""
        both = self.plan.both
        if not both:
            return []
        table = both[0].ref.table
        if self._has(table):
            values = tuple(value for one in both for value in one.values)
            self.plan.assume("rows with either value are meant", 0.8)
            merged = Filter(ref=both[0].ref, values=values)
            return [condition(merged, self.schema)]
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
        chosen = exp.select(key).from_(self._table(ref.table))
        chosen = chosen.order_by(self._ordered(order)).limit(self.plan.limit or 1)
        if any(f.ref.table.path == ref.table.path for f in self.plan.filters):
            raise NotUnderstood("a superlative over some rows only")
        if self.plan.limit not in (None, 1):
            raise NotUnderstood("totals over the first few rows")
        if not self._has(ref.table):
            way = self.links.path(self.joined, ref.table)
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
        if self._has(absent.table):
            raise NotUnderstood(f"without {absent.table.name} of what?")
        return self._exists(absent.table, absent.filters)

    def _presences(self) -> list[exp.Expr]:
        """Return conditions for tables that are only named: "who have orders"."""
        told = {f.ref.table.path for f in (*self.plan.filters, *self.plan.both)}
        found = []
        implied = [
            table
            for table in self.plan.implied
            if not self._has(table)
            and not _is_upward(self.joined, self.links.path(self.joined, table))
        ]
        for table in {t.path: t for t in [*self.plan.present, *implied]}.values():
            if self._has(table) or table.path in told:
                continue
            if any(table.path == absent.table.path for absent in self.plan.absent):
                continue
            picked = self.plan.picked.output.ref if self.plan.picked else None
            if picked is not None and picked.table.path == table.path:
                continue
            way = self.links.path(self.joined, table)
            if self._covered(way, told) or self._denied(way):
                continue
            found.append(self._exists(table, ()))
        return found

    def _covered(self, way: Sequence[Link], told: set[str]) -> bool:
        """Whether a table lies between what is asked and another condition's table."""
        goal = way[-1]
        names = {goal.many.path, goal.one.path}
        for path in told:
            table = next(t for t in self.schema.tables if t.path == path)
            if self._has(table):
                continue
            for link in self.links.path(self.joined, table):
                if {link.many.path, link.one.path} == names:
                    return True
        return False

    def _denied(self, way: Sequence[Link]) -> bool:
        """Whether a way leads over what there must not be."""
        absent = {one.table.path for one in self.plan.absent}
        for one in self.plan.absent:
            for link in self.links.path(self.joined, one.table):
                absent |= {link.many.path, link.one.path}
        absent -= {table.path for table in self.joined}
        return any({link.many.path, link.one.path} & absent for link in way)

    def _exists(self, table: Table, filters: Iterable[Filter]) -> exp.Expr:
        """Return that the way from a row joined leads to some row that fulfils all."""
        filters = list(filters)
        way = self.links.path(self.joined, table)
        first = way[0]
        start = first.many if not self._has(first.many) else first.one
        inner, reached = list(way[1:]), [start]
        for link in inner:
            reached += [link.many, link.one]
        for one in filters:
            if one.ref.table.path not in {t.path for t in reached}:
                for link in self.links.path(reached, one.ref.table):
                    inner.append(link)
                    reached += [link.many, link.one]
        if any(self._has(t) for t in reached):
            raise NotUnderstood("a condition that leads back to what is asked")
        select = self._from(exp.select(exp.Literal.number(1)), start, inner)
        select = select.where(_on(first), copy=False)
        for one in filters:
            select = select.where(condition(one, self.schema), copy=False)
        return exp.Exists(this=select)

    def _groups(self) -> list[exp.Expr]:
        plan = self.plan
        if not plan.groups or (self._is_total() and not plan.groups):
            return []
        refs = list(dict.fromkeys(plan.groups))
        for output in plan.outputs:
            if output.ref and not output.aggregate and output.ref not in refs:
                refs.append(output.ref)
        keys = [Ref(t, c) for t, c in self._keys(refs)]
        return [self._column(ref) for ref in dict.fromkeys([*keys, *refs])]

    def _keys(self, refs: Sequence[Ref]) -> Iterable[tuple[Table, Column]]:
        """Yield the keys of tables whose rows are grouped one by one."""
        for ref in refs:
            try:
                naming = shown_columns(ref.table)
            except NotUnderstood:
                continue
            if ref.column in naming:
                for key in key_columns(ref.table):
                    if len(key_columns(ref.table)) == 1:
                        yield ref.table, key

    def _ordered(self, order: Order) -> exp.Ordered:
        value = self._value(order.output)
        if order.output.ref and not order.output.aggregate:
            value = measured(order.output.ref, value)
        return exp.Ordered(
            this=value, desc=order.direction == "desc", nulls_first=False
        )


def _is_value(found: Filter) -> bool:
    return (
        found.operator == "="
        and bool(found.values)
        and found.match is None
        and not found.negated
    )


def _label(output: Output) -> str:
    if output.table is not None:
        return f"count_{output.table.name}"
    if output.ref is None:
        return "value"
    name = output.ref.column.name
    return f"{output.aggregate}_{name}" if output.aggregate else name


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


def _compared(left: exp.Expr, operator: str, right: exp.Expr) -> exp.Expr:
    from_operator = {
        "=": exp.EQ,
        "<>": exp.NEQ,
        "<": exp.LT,
        "<=": exp.LTE,
        ">": exp.GT,
        ">=": exp.GTE,
    }
    return from_operator[operator](this=left, expression=right)


def _on(link: Link) -> exp.Expr:
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


def _is_upward(joined: Sequence[Table], way: Sequence[Link]) -> bool:
    """Whether each row has at most one row at the end of the way."""
    here = {table.path for table in joined}
    for link in way:
        if link.many.path not in here:
            return False
        here.add(link.one.path)
    return True
