"""What a question asks to see: columns, counts, sums, and by what they are grouped."""

from __future__ import annotations

import re
from functools import partial
from typing import cast

from connections.databases.base import Table
from memory.sql.translator.base import (
    Aggregate,
    Filter,
    NotUnderstood,
    Order,
    Output,
    Ref,
)
from memory.sql.translator.conditions import is_numeric
from memory.sql.translator.lexicon import key_columns, naming_columns
from memory.sql.translator.linking import Item
from memory.sql.translator.ranking import BY, is_measure
from memory.sql.translator.reading import Reading
from memory.sql.translator.resolving import shown_columns

SUMMED: dict[str, str] = {"number": "avg sum min max", "date": "min max"}
SUMMED |= {"timestamp": "min max", "time": "min max", "text": "avg sum min max"}


def read_groups(reading: Reading) -> None:
    """Move "per city", "for each customer", "by status" into the plan."""
    reading.each(r"e[,pf]*(?P<x>[ct])", partial(_group, reading))
    reading.each(
        r"(?<=[tc])(?P<by>p)(?P<x>[ct])(?P<rest>(?:&[ct])*)", partial(_by, reading)
    )


def _group(reading: Reading, match: re.Match[str]) -> bool:
    item = reading.of(match, "x")
    _add_group(reading, item)
    reading.items[match.start() : match.end()] = [
        Item("_", item.text, item.place, "group", item.columns, item.tables)
    ]
    return True


def _by(reading: Reading, match: re.Match[str]) -> bool:
    """Read "orders by status", where something is counted or added up."""
    if reading.of(match, "by").text.lower() not in BY:
        return False
    if not re.search("[#a]", reading.codes[: match.start()]):
        return False
    places = range(
        reading.items[match.start() - 1].place, reading.of(match, "by").place
    )
    if any(light.place in places for light in reading.light):  # "written by"
        return False
    for item in (reading.of(match, "x"), *reading.all_of(match, "rest", "ct")):
        _add_group(reading, item)
    reading.done(match.start(), match.end(), "_")
    return True


def _add_group(reading: Reading, item: Item) -> None:
    if item.kind == "t":
        table = reading.resolver.table(item)
        beside = [
            r for r, s in item.columns if s >= 0.95 and r.table.path != table.path
        ]
        said = {t.path for t in reading.tables()} - {table.path}
        near = [r for r in beside if r.table.path in said and not r.column.is_key]
        if near and not reading.lexicon.schema.by_path:
            return
        refs = [Ref(table, column) for column in shown_columns(table)]
        reading.plan.groups.extend(refs)
        reading.plan.anchor = reading.plan.anchor or table
        return
    reading.plan.groups.append(reading.resolver.column(item))


def read_outputs(reading: Reading) -> None:
    """Move what is left of the question, all that is asked for, into the plan."""
    _only_last_request(reading)
    plan = reading.plan
    if any(item.kind == "*" for item in reading.items):
        return _everything(reading)
    head = True
    place = 0
    while place < len(reading.items):
        item = reading.items[place]
        if item.kind in "w" and (plan.outputs or plan.anchor):
            head = False
        elif item.kind in "L,":
            head = True if item.kind == "L" or item.value == "end" else head
        elif item.kind == "u":
            place += _distinct(reading, place)
            continue
        elif item.kind == "#":
            place += _count(reading, place)
            continue
        elif item.kind == "a":
            place += _aggregated(reading, place)
            continue
        elif item.kind == "c":
            _plain_column(reading, place, head=head)
        elif item.kind == "t":
            _table(reading, place, head=head)
        elif item.kind not in "pwh,&BfL_W":
            raise NotUnderstood(f"“{item.text}” was not understood")
        place += 1


def _only_last_request(reading: Reading) -> None:
    """Where a second sentence says what to list, show nothing else of the first."""
    codes = reading.codes
    place = codes.rfind("L")
    if place <= 0 or not re.search("[ct#a]", codes[place:]):
        return
    if not re.search("[ct#]", codes[:place]):
        return
    second = codes[place:]
    counts = "#" in second
    for item in reading.items[:place]:
        if item.kind == "c":
            item.kind = "f"
        elif item.kind == "t":
            # Still tells which rows are meant, unless it is counted.
            before = reading.items[max(0, reading.items.index(item) - 1)]
            if before.kind != "#":
                if reading.plan.anchor is None:
                    reading.plan.anchor = reading.resolver.table(item)
                item.kind = "f"
    if counts:
        for item in reading.items[place:]:
            if item.kind == "#" and "#" in codes[:place]:
                item.kind = "_"
                after = reading.items[reading.items.index(item) + 1 :][:1]
                for counted in after:
                    counted.kind = "_" if counted.kind == "t" else counted.kind


def _everything(reading: Reading) -> None:
    tables = [i for i in reading.items if i.kind == "t"]
    if len(tables) != 1 or any(i.kind in "c#ae" for i in reading.items):
        raise NotUnderstood("all details of what?")
    table = reading.resolver.table(tables[0])
    reading.plan.outputs.extend(
        Output(ref=Ref(table, column))
        for column in table.columns
        if column.exposure != "aggregate"
    )
    reading.plan.anchor = table


def _distinct(reading: Reading, place: int) -> int:
    if re.match("[ct]", reading.codes[place + 1 :]):
        reading.plan.distinct = True
    return 1


def _count(reading: Reading, place: int) -> int:
    """Read "number of orders", "number of different cities"."""
    match = re.match(r"#[#p,h_f]*(?P<u>u?)f?(?P<x>[ct]?)", reading.codes[place:])
    if match is None or not match.group("x"):
        return _bare_count(reading)
    item = reading.items[place + match.start("x")]
    is_distinct = bool(match.group("u"))
    if item.kind == "t" and not (is_distinct and _has_own_column(reading, item)):
        table = reading.resolver.table(item)
        following = reading.codes[place + match.end() :]
        column = re.match(r"(c)", following)
        if column and is_distinct:
            ref = reading.resolver.column(reading.items[place + match.end()])
            reading.plan.outputs.append(
                Output(ref=ref, aggregate="count", distinct=True)
            )
            return match.end() + 1
        reading.plan.outputs.append(Output(table=table, aggregate="count"))
        if reading.plan.anchor is None and not reading.plan.groups:
            reading.plan.anchor = table
        return match.end()
    ref = reading.resolver.column(item)
    if ref.column.family == "number" and not is_distinct and not ref.column.is_key:
        # "number of passengers", where a column holds just that
        apart = any(group.table.path != ref.table.path for group in reading.plan.groups)
        is_total = apart or "total" in reading.items[place].text.lower()
        way: Aggregate | None = "sum" if is_total else None
        reading.plan.outputs.append(Output(ref=ref, aggregate=way))
        return match.end()
    if not is_distinct:
        reading.plan.assume(f"“{item.text}” counted as different {ref.shown}", 0.8)
    reading.plan.outputs.append(Output(ref=ref, aggregate="count", distinct=True))
    return match.end()


def _has_own_column(reading: Reading, item: Item) -> bool:
    return False


def _bare_count(reading: Reading) -> int:
    """Read "and the number" of what was said before."""
    if any(o.aggregate == "count" for o in reading.plan.outputs):
        return 1
    raise NotUnderstood("the number of what?")


def _aggregated(reading: Reading, place: int) -> int:
    """Read "average, minimum and maximum age", "average age and weight"."""
    pattern = r"a(?:[,&]+a)*[p,]*(?P<n>#?)p*(?P<u>u?)(?P<x>[ctf]?)(?P<also>(?:[,&]+c)*)"
    match = re.match(pattern, reading.codes[place:])
    if match is None or match.group("x") not in ("c", "t"):
        raise NotUnderstood(f"“{reading.items[place].text}” of what?")
    ways = [i for i in reading.items[place : place + match.start("x")] if i.kind == "a"]
    item = reading.items[place + match.start("x")]
    if match.group("n") or item.kind == "t":
        if len(ways) == 1 and ways[0].value == "sum" and item.kind == "t":
            return _total(reading, item, match.end("x"))
        if item.kind == "t" and not item.columns:
            raise NotUnderstood(f"“{reading.items[place].text}” of {item.text}?")
    also = [
        i
        for i in reading.items[place + match.end("x") : place + match.end("also")]
        if i.kind == "c"
    ]
    for one in (item, *also):
        ref = reading.resolver.column(one)
        if one is not item and (
            ref in reading.plan.groups or not is_numeric(ref.column)
        ):
            reading.plan.outputs.append(Output(ref=ref))
            continue
        for way in ways:
            _add_aggregate(reading, ref, str(way.value))
    return match.end()


def _total(reading: Reading, item: Item, length: int) -> int:
    table = reading.resolver.table(item)
    reading.plan.assume(f"“{item.text}” are counted", 0.75)
    reading.plan.outputs.append(Output(table=table, aggregate="count"))
    return length


def _add_aggregate(reading: Reading, ref: Ref, way: str) -> None:
    if way not in SUMMED.get(ref.column.family, ""):
        raise NotUnderstood(f"{way} of {ref.shown} makes no sense")
    if way in ("sum", "avg") and not is_measure(ref.column):
        raise NotUnderstood(f"{ref.shown} only tells rows apart")
    reading.plan.outputs.append(Output(ref=ref, aggregate=cast(Aggregate, way)))


def _plain_column(reading: Reading, place: int, *, head: bool) -> None:
    item = reading.items[place]
    ref = reading.resolver.column(item)
    plan = reading.plan
    if not head and plan.outputs:
        if ref.column.family == "boolean":
            plan.filters.append(Filter(ref=ref, values=(1,)))
            return
        raise NotUnderstood(f"“{item.text}” was not understood where it stands")
    if plan.outputs and reading.codes[:place].endswith(("p", "h")):
        raise NotUnderstood(f"“{item.text}” was not understood where it stands")
    output = Output(ref=ref)
    if output not in plan.outputs:
        plan.outputs.append(output)


def _table(reading: Reading, place: int, *, head: bool) -> None:
    """Read a table as what is asked for, or as where the rest is to be found."""
    item, plan, codes = reading.items[place], reading.plan, reading.codes
    table = reading.resolver.table(item)
    before = codes[:place].rstrip("_")
    if item.value == "verb":
        plan.implied.append(table)
        return
    if plan.anchor is None:
        plan.anchor = table
    columns_follow = bool(re.match(r"[c]", codes[place + 1 :]))
    is_first = not plan.outputs and not plan.groups and item.value != "verb"
    listed = bool(re.search(r"[,&]$", before)) and head and bool(plan.outputs)
    follows_of = bool(re.search(r"[p]$", before)) and bool(plan.outputs)
    later = bool(re.search(r"^[^wL]*?[,&]?[,&p]*[#a]|^L*c", codes[place + 1 :]))
    if is_first and not columns_follow and not _named_later(reading, place):
        plan.outputs.extend(Output(ref=Ref(table, c)) for c in shown_columns(table))
        if later:
            plan.groups.extend(Ref(table, c) for c in shown_columns(table))
        return
    if listed and not follows_of and not columns_follow and head:
        ahead = [o.ref.table.path for o in plan.outputs if o.ref]
        if table.path not in ahead:
            plan.outputs.extend(Output(ref=Ref(table, c)) for c in shown_columns(table))
            return
    plan.present.append(table)


def _named_later(reading: Reading, place: int) -> bool:
    """Whether columns to show are said in a later sentence or after a table."""
    rest = reading.codes[place + 1 :]
    return bool(re.search(r"L.*[ct]", rest))


def complete(reading: Reading) -> None:
    """Add what goes without saying: what groups are, what is ordered by."""
    plan = reading.plan
    aggregated = [o for o in plan.outputs if o.aggregate]
    plain = [o for o in plan.outputs if not o.aggregate]
    if aggregated and plain:
        for output in plain:
            if output.ref and output.ref not in plan.groups:
                plan.groups.append(output.ref)
    if plan.groups and aggregated:
        _show_groups(reading)
    elif plan.groups and not _ranked_by_count(reading) and not plan.havings:
        shown = {o.ref.table.path for o in plan.outputs if o.ref}
        if shown and shown >= {ref.table.path for ref in plan.groups}:
            told = [Output(ref=ref) for ref in plan.groups if not _names(ref)]
            plan.outputs[:0] = [o for o in told if o not in plan.outputs]
            plan.groups = []
        else:
            raise NotUnderstood("what is asked for of each?")
    if not plan.outputs:
        _show_subject(reading)
    _ranks(reading)


def _show_groups(reading: Reading) -> None:
    plan = reading.plan
    shown = {o.ref for o in plan.outputs if o.ref and not o.aggregate}
    tables = {ref.table.path for ref in shown}
    missing = [
        ref
        for ref in dict.fromkeys(plan.groups)
        if ref not in shown and (ref.table.path not in tables or not _names(ref))
    ]
    plan.outputs[:0] = [Output(ref=ref) for ref in missing]


def _names(ref: Ref) -> bool:
    """Whether a column just names its table's rows, as another shown may do."""
    return ref.column in (naming_columns(ref.table) or key_columns(ref.table))


def _ranked_by_count(reading: Reading) -> bool:
    return any(order.output.aggregate for order in reading.plan.orders)


def _show_subject(reading: Reading) -> None:
    plan = reading.plan
    if plan.groups:
        plan.outputs.extend(Output(ref=ref) for ref in dict.fromkeys(plan.groups))
        return
    if plan.anchor is None:
        raise NotUnderstood("what is asked for?")
    plan.outputs.extend(
        Output(ref=Ref(plan.anchor, column)) for column in shown_columns(plan.anchor)
    )


def _ranks(reading: Reading) -> None:
    """Turn ranks over counts into groups, and ranks beside totals into a choice."""
    plan = reading.plan
    for place, order in enumerate(plan.orders):
        if order.output == Output():
            plan.orders[place] = Order(plan.outputs[0], order.direction)
    plain = [o for o in plan.outputs if o.ref and not o.aggregate]
    counts = any(o.output.aggregate for o in plan.orders) or bool(plan.havings)
    if plan.havings and not plain and not plan.groups and not plan.orders:
        return
    if counts and not plan.groups:
        if not plain:
            raise NotUnderstood("the most of what?")
        plan.groups.extend(o.ref for o in plain if o.ref)
    if plan.limit and plan.orders and not plan.groups:
        totals = [o for o in plan.outputs if o.aggregate]
        if totals and not plain:
            _pick(reading)


def _pick(reading: Reading) -> None:
    """Read "orders of the oldest customer": totals over the rows of those picked."""
    plan = reading.plan
    order = plan.orders.pop()
    if order.output.ref is None or not key_columns(order.output.ref.table):
        raise NotUnderstood("the most of what?")
    plan.picked = order


def subject_of(reading: Reading) -> Table | None:
    """Return the table whose rows the answer is about."""
    plan = reading.plan
    for output in plan.outputs:
        if output.ref and not output.aggregate:
            return output.ref.table
    return plan.anchor
