"""Orders and the most and least of something: "sorted by age", "the 3 oldest"."""

from __future__ import annotations

import re
from functools import partial
from typing import cast

from connections.databases.base import Column, Table
from memory.sql.translator.base import (
    Aggregate,
    Direction,
    NotUnderstood,
    Order,
    Output,
    Ref,
)
from memory.sql.translator.conditions import is_numeric
from memory.sql.translator.language import Hinted
from memory.sql.translator.linking import Item
from memory.sql.translator.reading import Reading, hint_of
from memory.sql.translator.resolving import shown_columns
from memory.sql.translator.words import parts_of, stem

BY = frozenset(("by", "nach"))
OPPOSITE: dict[str, Direction] = {"asc": "desc", "desc": "asc"}


def read_orders(reading: Reading) -> None:
    """Move what is said of the order of rows into the plan."""
    key = r"(?P<e>e?)(?P<a>[#a]?)u?p?(?:t(?=c))?(?P<x>[ct])"
    rules = (
        rf"o[op]*(?P<r>r?)[p]*{key}[,p]*(?P<after>r?)",
        rf"(?P<r>r)[op]*{key}(?P<after>)",
    )
    for pattern in rules:
        reading.each(pattern, partial(_order, reading))
    reading.each(r",?o?p*(?P<r>r)", partial(_plain_order, reading))


def _order(reading: Reading, match: re.Match[str]) -> bool:
    said = [reading.of(match, n) for n in ("r", "after") if match.group(n)]
    output = _measure(reading, match)
    direction = _direction(said[0]) if said else "asc"
    start = match.start()
    # "Sort employee names by age": what is sorted comes between.
    if reading.codes[start] == "o" and _is_object(reading, match):
        return False
    reading.plan.orders.append(Order(output, direction))
    reading.done(start, match.end(), "_")
    return True


def _is_object(reading: Reading, match: re.Match[str]) -> bool:
    """Whether "sort" is followed by what is sorted and only then by what it goes by."""
    word = reading.items[match.start()].text.lower()
    if not word.endswith(("sort", "order", "sortiere", "ordne")):
        return False
    for item in reading.items[match.end("x") :]:
        if item.kind == "p" and item.text.lower() in BY:
            item.kind = "o"
            reading.items.pop(match.start())
            return True
    return False


def _plain_order(reading: Reading, match: re.Match[str]) -> bool:
    """Read "alphabetically", "descending": by what is shown first."""
    item = reading.of(match, "r")
    direction = _direction(item)
    if reading.plan.orders:
        last = reading.plan.orders[-1]
        reading.plan.orders[-1] = Order(last.output, direction)
    else:
        reading.plan.orders.append(Order(Output(), direction))
    reading.done(match.start(), match.end(), "_")
    return True


def _direction(item: Item) -> Direction:
    return "desc" if str(item.value).endswith("desc") else "asc"


def _measure(reading: Reading, match: re.Match[str]) -> Output:
    """Return what rows are ordered by: a column, an aggregate or a count."""
    item = reading.of(match, "x")
    before = reading.of(match, "a") if match.group("a") else None
    if before is not None and before.kind == "#":
        if item.kind == "t":
            table = reading.resolver.table(item)
            return Output(table=table, aggregate="count")
        ref = reading.resolver.column(item)
        return Output(ref=ref, aggregate="count", distinct=True)
    ref = _ref(reading, item)
    if before is not None:
        return Output(ref=ref, aggregate=cast(Aggregate, before.value))
    return Output(ref=ref)


def _ref(reading: Reading, item: Item) -> Ref:
    if item.kind == "t":
        table = reading.resolver.table(item)
        return Ref(table, shown_columns(table)[0])
    return reading.resolver.column(item)


def read_ranks(reading: Reading) -> None:
    """Move "the 10 largest", "top 5 by", "most common" into the plan."""
    if len(re.findall("[smk]", re.sub("k(?=n?s)", "", reading.codes))) > 1:
        raise NotUnderstood("more than one superlative")
    rules = (
        (r"(?P<k>k?)(?P<n>n?)m(?P<more>n?)(?P<c>[ct])", _common),
        (r"(?P<k>k)(?P<n>n?)(?P<t>[tc])(?P<mid>.*?)(?P<s>s)(?P<x>[#]?[tc]?)", _top),
        (r"(?P<k>k)(?P<n>n?)(?P<t>t)(?P<mid>.*?)(?P<by>[po])(?P<m>[#a]?[ct])", _top_by),
        (r"(?P<w>[wh]+)(?P<x>c)h?(?P<s>s)(?![#tcp])", _last_superlative),
        (r"(?P<n>n)(?P<t>t)(?=[wh].*s)", _first_few),
        (r"(?P<k>k?)(?P<n>n?)(?P<s>s)(?P<more>n?)f?(?P<x>[#p]*[ct]?)", _superlative),
        (r"[wh]+(?P<s>a)(?P<x>p?c|#t)(?!.*[wh]a)", _aggregate_as_rank),
    )
    for pattern, handler in rules:
        reading.each(pattern, partial(handler, reading))


def _limit(reading: Reading, match: re.Match[str]) -> int | None:
    for name in ("n", "more"):
        if name in match.re.groupindex and match.group(name):
            number = reading.of(match, name).number
            if isinstance(number, int) and number > 0:
                return number
            raise NotUnderstood(f"how many are {reading.of(match, name).text}?")
    return None


def _common(reading: Reading, match: re.Match[str]) -> bool:
    """Read "the most common hometown of teachers": by how many rows have it."""
    item = reading.of(match, "c")
    direction = cast(Direction, reading.items[match.end() - 2].value)
    if not isinstance(direction, str):
        direction = cast(
            Direction, next(i.value for i in reading.items if i.kind == "m")
        )
    if item.kind == "t" and not _columns_beside(reading, item):
        raise NotUnderstood(f"by what is a {item.text} common?")
    ref = reading.resolver.column(item)
    plan = reading.plan
    plan.outputs.append(Output(ref=ref))
    plan.groups.append(ref)
    counted = Output(table=ref.table, aggregate="count")
    plan.orders.append(Order(counted, direction))
    plan.limit = _limit(reading, match) or 1
    reading.done(match.start(), match.end(), "_")
    return True


def _columns_beside(reading: Reading, item: Item) -> bool:
    tables = [
        t for t in reading.tables() if t.path != reading.resolver.table(item).path
    ]
    return (
        any(ref.table.path in {t.path for t in tables} for ref, _ in item.columns)
        or not item.tables
    )


def _top(reading: Reading, match: re.Match[str]) -> bool:
    """Read "top 5 domains with the highest number of authors": leave the rest."""
    reading.plan.limit = _limit(reading, match) or 1
    end = match.start("t")
    reading.items[match.start() : end] = []
    return True


def _top_by(reading: Reading, match: re.Match[str]) -> bool:
    """Read "top 10 customers by revenue", "top 5 authors by number of books"."""
    by = reading.of(match, "by")
    if by.kind == "p" and by.text.lower() not in BY:
        return False
    plan, subject = reading.plan, reading.of(match, "t")
    table = reading.resolver.table(subject)
    item = reading.items[match.end() - 1]
    aggregate = reading.items[match.end() - 2]
    output = _top_measure(reading, table, aggregate, item)
    way = cast(Direction, str(reading.of(match, "k").value))
    plan.orders.append(Order(output, way))
    plan.limit = _limit(reading, match) or 10
    plan.outputs.extend(Output(ref=Ref(table, c)) for c in shown_columns(table))
    plan.outputs.append(output)
    plan.anchor = table
    if output.aggregate:
        plan.groups.extend(Ref(table, c) for c in shown_columns(table))
    reading.done(match.start("by"), match.end(), "_")
    reading.done(match.start(), match.start("t") + 1, "_")
    return True


def _top_measure(reading: Reading, table: Table, aggregate: Item, item: Item) -> Output:
    if aggregate.kind == "#" and item.kind == "t":
        return Output(table=reading.resolver.table(item), aggregate="count")
    if item.kind == "t" and aggregate.kind != "a":
        return Output(table=reading.resolver.table(item), aggregate="count")
    ref = reading.resolver.column(item, among=[table])
    if aggregate.kind == "a":
        same = ref.table.path == table.path
        way = cast(Aggregate, aggregate.value)
        return Output(ref=ref, aggregate=None if same and way == "sum" else way)
    if ref.table.path == table.path:
        return Output(ref=ref)
    if ref.column.family != "number":
        raise NotUnderstood(f"{ref.shown} cannot be added up")
    reading.plan.assume(f"“{item.text}” read as sum({ref.shown})", 0.9)
    return Output(ref=ref, aggregate="sum")


def _aggregate_as_rank(reading: Reading, match: re.Match[str]) -> bool:
    """Read "with the maximum capacity", where something else is asked for."""
    item = reading.of(match, "s")
    if item.value not in ("min", "max"):
        return False
    if not re.search("[ct]", reading.codes[: match.start()]):
        return False
    hinted = Hinted("desc" if item.value == "max" else "asc")
    return _ranked(reading, match, hinted)


def _last_superlative(reading: Reading, match: re.Match[str]) -> bool:
    """Read "whose capacity is the largest"."""
    return _ranked(reading, match, hint_of(reading.of(match, "s")))


def _first_few(reading: Reading, match: re.Match[str]) -> bool:
    """Read "the 10 customers with the highest revenue": how many are meant."""
    reading.plan.limit = _limit(reading, match)
    reading.items.pop(match.start("n"))
    return True


def _superlative(reading: Reading, match: re.Match[str]) -> bool:
    return _ranked(reading, match, hint_of(reading.of(match, "s")))


def _ranked(reading: Reading, match: re.Match[str], hinted: Hinted) -> bool:
    """Order by what a superlative is about, or show its least or largest value."""
    plan = reading.plan
    limit = plan.limit or _limit(reading, match)
    said = reading.items[match.start("x") : match.end("x")]
    item = said[-1] if said else None
    way = cast(Direction, hinted.way)
    end, keep = match.end(), False
    if item is not None and item.kind == "c":
        counted_first = any(i.kind == "#" for i in said)
        if counted_first:
            return False
        ref = reading.resolver.column(item)
        if not hinted.hints and not is_measure(ref.column):
            raise NotUnderstood(
                f"“{reading.of(match, 's').text} {item.text}” is not clear"
            )
        if not _asked_before(reading, match.start()) and limit is None:
            return _extreme(reading, match, ref, way)
        output = Output(ref=ref)
    elif item is not None and item.kind == "t":
        found = _of_table(reading, match, item, hinted)
        output, way, keep = found
        end = match.end() - 1 if keep else match.end()
    else:
        found_ref = reading.hinted(
            hinted, reading.resolver.nearest(reading.of(match, "s"))
        )
        if found_ref is None:
            raise NotUnderstood(f"“{reading.of(match, 's').text}” by what?")
        output, way = Output(ref=found_ref[0]), cast(Direction, found_ref[1])
        end = match.end("s")
    plan.limit = limit or 1
    plan.orders.append(Order(output, way))
    reading.done(match.start(), end, "_")
    return True


def is_measure(column: Column) -> bool:
    """Whether "the highest" of a column's values makes sense."""
    if column.family in ("date", "timestamp", "time"):
        return True
    words = [stem(part) for part in parts_of(column.name)]
    return is_numeric(column) and not column.is_key and words[-1:] != ["id"]


def _asked_before(reading: Reading, place: int) -> bool:
    """Whether something to show is said before a place, or after a new request."""
    codes = reading.codes
    return bool(re.search("[ct#a]", codes[:place])) or bool(
        re.search("L.*[ct]", codes[place:])
    )


def _extreme(reading: Reading, match: re.Match[str], ref: Ref, way: Direction) -> bool:
    """Read "the highest capacity of all stadiums": just that value."""
    if re.match("[,p&]*t", reading.codes[match.end() :]) is None and re.search(
        "t", reading.codes[match.end() :]
    ):
        return False
    aggregate: Aggregate = "max" if way == "desc" else "min"
    reading.plan.outputs.append(Output(ref=ref, aggregate=aggregate))
    reading.done(match.start(), match.end(), "_")
    return True


def _of_table(
    reading: Reading, match: re.Match[str], item: Item, hinted: Hinted
) -> tuple[Output, Direction, bool]:
    """Read "the oldest singer" by a column, "the most orders" by how many there are.

    The last value says whether the table is still to be read as what is asked for.
    """
    table = reading.resolver.table(item)
    named = reading.hinted(hinted, [table])
    if named is not None and not item.columns:
        return Output(ref=named[0]), cast(Direction, named[1]), True
    if named is not None:
        return Output(ref=named[0]), cast(Direction, named[1]), True
    if hinted.hints:
        raise NotUnderstood(f"“{reading.of(match, 's').text}” by what?")
    counted = Output(table=table, aggregate="count")
    return counted, cast(Direction, hinted.way), False
