"""A plan as a statement: a tree of sqlglot's, rendered in the schema's dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from connections.databases.base import Column, Schema, Table
from memory.sql.translator.base import (
    NotUnderstood,
    Order,
    Output,
    Plan,
    Ref,
)
from memory.sql.translator.conditions import compared, is_numeric, measured
from memory.sql.translator.joining import Joins
from memory.sql.translator.lexicon import key_columns
from memory.sql.translator.links import Links
from memory.sql.translator.nodes import column_of, count_all, table_node
from memory.sql.translator.resolving import shown_columns
from memory.sql.translator.restricting import Restrictions

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

    @staticmethod
    def everything(table: Table, schema: Schema) -> exp.Select:
        """Return all rows of a table with all its columns."""
        columns = [column_of(Ref(table, column)) for column in table.columns]
        return exp.select(*columns).from_(table_node(table, schema))

    def build(self) -> exp.Select:
        """Return the statement; raises `NotUnderstood` where nothing sensible is."""
        plan = self.plan
        self.base = self._base()
        self.joins = Joins(self.base, self.schema, self.links)
        outside = self.joins.add_upward(plan.filters)
        self._check_fan_out()
        select = exp.select(*self._selected())
        select = self.joins.from_(select, self.base[0], self.joins.links_used)
        restrictions = Restrictions(plan, self.joins, self.counted, self._ordered)
        for where in restrictions.all(outside):
            select = select.where(where, copy=False)
        groups = self._groups()
        if groups:
            select = select.group_by(*groups, copy=False)
        for having in plan.havings if not self.counted else ():
            left = self._value(having.output)
            right = exp.convert(having.number)
            select = select.having(compared(left, having.operator, right), copy=False)
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
            if not self.joins.is_single(table) and not self._grouped_by_bridge(table):
                raise NotUnderstood(f"joins would count rows of {table.name} twice")

    def _grouped_by_bridge(self, table: Table) -> bool:
        return bool(self.plan.groups) and self.joins.through_bridge(table)

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
        if self.joins.is_single(table):
            return count_all()
        keys = key_columns(table)
        if len(keys) != 1:
            # A bridge's row is told by what it joins.
            if any(link.many.path == table.path for link in self.joins.links_used):
                return count_all()
            raise NotUnderstood(f"nothing tells rows of {table.name} apart")
        column = self._column(Ref(table, keys[0]))
        return exp.Count(this=exp.Distinct(expressions=[column]))

    def _column(self, ref: Ref) -> exp.Expr:
        self.joins.used[ref.table.path] = ref.table
        return column_of(ref)

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


def _label(output: Output) -> str:
    if output.table is not None:
        return f"count_{output.table.name}"
    if output.ref is None:
        return "value"
    name = output.ref.column.name
    return f"{output.aggregate}_{name}" if output.aggregate else name
