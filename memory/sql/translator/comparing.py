"""Comparisons with numbers, days and averages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from memory.sql.translator.base import (
    Filter,
    Literals,
    NotUnderstood,
    Operator,
    Period,
    Ref,
)
from memory.sql.translator.linking import Item, period_of
from memory.sql.translator.periods import year_period
from memory.sql.translator.reading import Reading, hint_of, is_year


def add(reading: Reading, match: re.Match[str], found: Filter) -> bool:
    place = reading.items[match.start()].place
    reading.plan.filters.append(replace(found, place=place))
    reading.done(match.start(), match.end())
    return True


def column(reading: Reading, match: re.Match[str], *names: str) -> Ref | None:
    """Return the column of the first group that matched one."""
    for name in names:
        if match.group(name):
            return reading.resolver.column(reading.of(match, name))
    return None


def average(reading: Reading, match: re.Match[str]) -> bool:
    """Read "weight below the average", "older than the average"."""
    place = match.start("op") + 1
    average = next(i for i in reading.items[place:] if i.kind == "a")
    if average.value != "avg":
        return False
    hinted = hint_of(reading.of(match, "op"))
    ref = column(reading, match, "c")
    if ref is None:
        near = reading.resolver.nearest(reading.of(match, "op"))
        found = reading.hinted(hinted, near[:1])
        if found is None:
            return False
        ref = found[0]
    operator = cast(Operator, hinted.way)
    return add(reading, match, Filter(ref=ref, operator=operator, average=True))


def between(reading: Reading, match: re.Match[str]) -> bool:
    first, last = reading.of(match, "n"), reading.of(match, "m")
    ref = column(reading, match, "c", "after")
    if first.kind == "d" and last.kind == "d":
        ref = ref or reading.date_column(first)
        period = Period(first=period_of(first).first, end=period_of(last).end)
        return add(reading, match, Filter(ref=ref, period=period))
    if first.kind != "n" or last.kind != "n":
        return False
    if ref is None:
        ref = reading.year_column(first) if is_year(first) else None
    if ref is None and is_year(first) and is_year(last):
        ref = reading.date_column(first)
    if ref is None:
        raise NotUnderstood(f"what lies between {first.text} and {last.text}?")
    if ref.column.family in ("date", "timestamp"):
        begin, end = (year_period(year_in(item)) for item in (first, last))
        period = Period(first=begin.first, end=end.end)
        return add(reading, match, Filter(ref=ref, period=period))
    add(reading, match, Filter(ref=ref, operator=">=", values=(number_in(first),)))
    reading.plan.filters.append(
        replace(reading.plan.filters[-1], operator="<=", values=(number_in(last),))
    )
    return True


def compare(reading: Reading, match: re.Match[str]) -> bool:
    number = reading.of(match, "n")
    hinted = hint_of(reading.of(match, "op"))
    operator = cast(Operator, hinted.way)
    return _compared(reading, match, column(reading, match, "c"), operator, number)


def either(reading: Reading, match: re.Match[str]) -> bool:
    """Read "aged 32 or 33"."""
    hinted = hint_of(reading.of(match, "op"))
    said = reading.all_of(match, "n", "n")
    found = reading.hinted(hinted, reading.resolver.nearest(said[0])[:1])
    if hinted.way != "=" or found is None:
        return False
    values: Literals = tuple(number_in(item) for item in said)
    return add(reading, match, Filter(ref=found[0], values=values))


def compare_after(reading: Reading, match: re.Match[str]) -> bool:
    number, operator = reading.of(match, "n"), reading.of(match, "g").value
    ref = column(reading, match, "c", "after")
    return _compared(reading, match, ref, cast(Operator, operator), number)


def _compared(
    reading: Reading,
    match: re.Match[str],
    ref: Ref | None,
    operator: Operator,
    number: Item,
) -> bool:
    if ref is None and "op" in match.re.groupindex:
        hinted = hint_of(reading.of(match, "op"))
        near = reading.resolver.nearest(number)
        named = [hint for hint in hinted.hints if hint[0] != "*date"]
        if named:
            found = reading.hinted(hinted, near[:1])
            ref = found[0] if found else None
    if ref is None and is_year(number):
        ref = reading.year_column(number) or reading.date_column(number)
    if ref is None:
        raise NotUnderstood(f"what is compared with {number.text}?")
    if ref.column.family in ("date", "timestamp"):
        period = _open_period(operator, year_period(year_in(number)))
        return add(reading, match, Filter(ref=ref, period=period))
    values: Literals = (number_in(number),)
    return add(reading, match, Filter(ref=ref, operator=operator, values=values))


def _open_period(operator: Operator, period: Period) -> Period:
    """Return the days that stand in a relation to a period."""
    if operator == "<":
        return Period(end=period.first, said=period.said)
    if operator == "<=":
        return Period(end=period.end, said=period.said)
    if operator == ">":
        return Period(first=period.end, said=period.said)
    if operator == ">=":
        return Period(first=period.first, said=period.said)
    return period


def compare_days(reading: Reading, match: re.Match[str]) -> bool:
    item = reading.of(match, "d")
    ref = column(reading, match, "c")
    if ref is None or ref.column.family not in ("date", "timestamp"):
        ref = reading.date_column(item)
    operator = cast(Operator, hint_of(reading.of(match, "op")).way)
    period = _open_period(operator, period_of(item))
    return add(reading, match, Filter(ref=ref, period=period))


def number_in(item: Item) -> int | float:
    if item.number is None:
        raise NotUnderstood(f"“{item.text}” is no number")
    return item.number


def year_in(item: Item) -> int:
    if not isinstance(item.number, int) or not is_year(item):
        raise NotUnderstood(f"“{item.text}” is no year")
    return item.number


def days(reading: Reading, match: re.Match[str]) -> bool:
    item = reading.of(match, "d")
    ref = column(reading, match, "c")
    first = match.start()
    if ref is None or ref.column.family not in ("date", "timestamp"):
        ref = reading.date_column(item)
        first = match.start("d")
    negated = bool(match.group("not")) and first == match.start()
    reading.plan.filters.append(
        Filter(ref=ref, period=period_of(item), negated=negated, place=item.place)
    )
    reading.done(first, match.end())
    return True
