"""Conditions on the rows: comparisons, values, texts, numbers, days, absence."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import cast

from memory.sql.translator.base import (
    Absent,
    Filter,
    Having,
    Literals,
    Match,
    NotUnderstood,
    Operator,
    Output,
    Ref,
)
from memory.sql.translator.comparing import (
    add,
    average,
    between,
    compare,
    compare_after,
    compare_days,
    days,
    either,
    number_in,
    year_in,
)
from memory.sql.translator.linking import Item
from memory.sql.translator.periods import year_period
from memory.sql.translator.reading import YEAR_WORDS, Reading, hint_of, is_year
from memory.sql.translator.resolving import shown_columns
from memory.sql.translator.words import parts_of, stem

LEAST_SURE = 0.8
NAMED = frozenset(("named", "called", "titled", "namens", "genannt"))


def read_filters(reading: Reading) -> None:
    """Move every condition of the question into the plan."""
    rules = (
        (r"(?P<c>[ct])[ph]*(?P<not>[!0]?)(?P<l>[lc]*l)(?P<q>[qvn])", _like),
        (r"(?P<l>l+)(?P<q>[qvn])[phw]*(?P<c>c)", _like),
        (r"(?P<c>c)(?:pt)?[wh]+(?P<l>l+)(?P<q>[qvn])", _like_shown),
        (r"(?P<c>c)[pwh,]*(?P<op>>)p?a(?P<same>c?)", average),
        (r"(?P<op>>)p?a(?P<c>c?)", average),
        (r"(?P<c>c?)[ph]*b(?P<n>[nd])&(?P<m>[nd])(?P<after>c?)", between),
        (r"(?P<op>>)(?P<n>n)[u#]*(?P<t>t)", _having),
        (r"[wh]?(?P<n>n)(?P<g>g)(?P<t>t)", _having_after),
        (r"(?P<c>c)[ph]*(?P<op>>)(?P<n>n)(?!c)", compare),
        (r"(?P<op>>)(?P<n>n)p?(?P<c>c)", compare),
        (r"(?P<op>>)p?(?P<c>c)(?P<n>n)", compare),
        (r"(?P<c>c?)[p]*(?P<n>n)(?P<g>g)(?P<after>c?)", compare_after),
        (r"(?P<c>c?)p*(?P<op>>)c?(?P<d>d)", compare_days),
        (r"(?P<op>>)(?P<n>n(?:[|]n)+)", either),
        (r"(?P<c>)(?P<op>>)(?P<n>n)", compare),
        (r"(?P<v>v)(?P<c>c)", _value_then_column),
        (r"[pwh]+(?P<not>!?)(?P<n>n)(?P<c>c)", _numbered),
        (r"(?P<c>c)[ph]*B?(?P<not>!?)[ph]*(?P<v>[vqn](?:[|&,]+[vqn](?!c))*)", _values),
        (r"(?P<not>!?)p*(?P<c>c?)p*(?P<d>d)", days),
        (r"B?(?P<not>!?)[ph]*(?P<v>v(?:[|&,]+p*v)*)", _bare_values),
        (r"p*B?(?P<n>n(?:[|&]p*n)*)(?![tcs])", _years),
        (r"(?P<t>t)(?P<p>p?)h*(?P<not>!?)(?P<q>q(?:[|]q)*)", _titled),
    )
    for pattern, handler in rules:
        reading.each(pattern, partial(handler, reading))
    reading.each(r"(?P<t>t)(?P<not>0)(?=,|$)", partial(_done_nothing, reading))
    reading.each(r"(?P<not>[!0])[^!0,L]*?(?P<t>[tc])", partial(_absent, reading))


def _is_column(item: Item, families: str) -> bool:
    return any(ref.column.family in families for ref, _ in item.columns)


def _like(reading: Reading, match: re.Match[str]) -> bool:
    item = reading.of(match, "c")
    if item.kind == "t":
        table = reading.resolver.table(item)
        ref = Ref(table, shown_columns(table)[0])
    else:
        ref = reading.resolver.column(item)
    if ref.column.family != "text":
        raise NotUnderstood(f"{ref.shown} holds no text to search in")
    way = next(
        item.value for item in reversed(reading.all_of(match, "l", "l")) if item.value
    )
    negated = "not" in match.re.groupindex and bool(match.group("not"))
    text = str(reading.of(match, "q").value or reading.of(match, "q").text)
    found = Filter(ref=ref, match=cast(Match, way), values=(text,), negated=negated)
    return add(reading, match, found)


def _having(reading: Reading, match: re.Match[str]) -> bool:
    """Read "more than 3 orders", of whatever is asked for."""
    item = reading.of(match, "t")
    hinted = hint_of(reading.of(match, "op"))
    number = number_in(reading.of(match, "n"))
    if hinted.hints:
        return False
    # "with more than 3 departments" of a table that has a column of that name
    numeric = [r for r, s in item.columns if r.column.family == "number" and s > 0.9]
    table = reading.resolver.table(item)
    if numeric and len(reading.tables()) > 1:
        others = [t for t in reading.tables() if t.path != table.path]
        if any(r.table.path in {t.path for t in others} for r in numeric):
            return False
    output = Output(table=table, aggregate="count")
    operator = cast(Operator, hinted.way)
    reading.plan.havings.append(Having(output=output, operator=operator, number=number))
    reading.done(match.start(), match.end())
    return True


def _having_after(reading: Reading, match: re.Match[str]) -> bool:
    table = reading.resolver.table(reading.of(match, "t"))
    output = Output(table=table, aggregate="count")
    operator = cast(Operator, str(reading.of(match, "g").value))
    number = number_in(reading.of(match, "n"))
    reading.plan.havings.append(Having(output=output, operator=operator, number=number))
    reading.done(match.start(), match.end())
    return True


def _like_shown(reading: Reading, match: re.Match[str]) -> bool:
    """Read "notes that contain 'East'": notes are shown, and searched."""
    shown = reading.of(match, "c")
    _like(reading, match)
    reading.items.insert(match.start(), shown)
    return True


def _value_then_column(reading: Reading, match: re.Match[str]) -> bool:
    """Read "Brig type": a value, and the column that holds it."""
    value, item = reading.of(match, "v"), reading.of(match, "c")
    columns = {id(ref.column) for ref, _ in item.columns}
    if not any(id(ref.column) in columns for ref, _ in value.held):
        return False
    before = reading.items[match.start() - 1] if match.start() else None
    negated = before is not None and before.kind == "!"
    ref, text = reading.resolver.value(value, item)
    add(reading, match, Filter(ref=ref, values=(text,), negated=negated))
    if negated:
        reading.done(match.start() - 1, match.start() + 1)
    return True


def _values(reading: Reading, match: re.Match[str]) -> bool:
    """Read "city is Paris or London", "hometown is not 'x'", "aged 32 or 33"."""
    item, said = reading.of(match, "c"), reading.all_of(match, "v", "vqn")
    if any(i.kind == "n" and not i.quoted for i in said) and not _is_column(
        item, "number text"
    ):
        return False
    if said[0].kind == "n" and is_year(said[0]) and "p" in match.group():
        words = {
            stem(part) for ref, _ in item.columns for part in parts_of(ref.column.name)
        }
        if not words & YEAR_WORDS:
            return False
    held = [i for i in said if i.held]
    if held and not _holds(item, held[0]):
        return False
    ref = (
        reading.resolver.value(held[0], item)[0]
        if held
        else reading.resolver.column(item)
    )
    if ref.column.family in ("date", "timestamp"):
        return False
    values: list[str | int | float] = []
    for one in said:
        if one.held:
            values.append(_written(one, ref))
        elif ref.column.family == "number" or (one.kind == "n" and not one.quoted):
            values.append(number_in(one))
        else:
            values.append(str(one.value or one.text))
            reading.plan.assume(f"“{one.text}” looked for in {ref.shown}", 0.9)
    return _several(reading, match, ref, tuple(values))


def _holds(column: Item, value: Item) -> bool:
    """Whether a column is known to hold a value."""
    ids = {id(ref.column) for ref, _ in column.columns}
    return any(id(ref.column) in ids for ref, _ in value.held)


def _several(
    reading: Reading, match: re.Match[str], ref: Ref, values: Literals
) -> bool:
    negated = "not" in match.re.groupindex and bool(match.group("not"))
    said = reading.items[match.start() : match.end()]
    together = any(item.kind == "&" for item in said)
    is_both = any(item.kind == "B" for item in said) or (
        together and len(values) > 1 and not any(item.kind == "|" for item in said)
    )
    before = reading.items[match.start() - 1] if match.start() else None
    if is_both and before is not None and before.kind == "B":
        reading.items.pop(match.start() - 1)
        reading.plan.both = [Filter(ref=ref, values=(value,)) for value in values]
        reading.done(match.start() - 1, match.end() - 1)
        return True
    if is_both and not negated:
        reading.plan.both = [Filter(ref=ref, values=(value,)) for value in values]
        reading.done(match.start(), match.end())
        return True
    return add(reading, match, Filter(ref=ref, values=values, negated=negated))


def _written(item: Item, ref: Ref) -> str:
    """Return a value as its column writes it."""
    for other, text in item.held:
        if other.column is ref.column:
            return text
    raise NotUnderstood(f"{ref.shown} does not hold “{item.text}”")


def _numbered(reading: Reading, match: re.Match[str]) -> bool:
    """Read "with 4 cylinders"."""
    item = reading.of(match, "c")
    if not _is_column(item, "number"):
        return False
    ref = reading.resolver.column(item)
    values: Literals = (number_in(reading.of(match, "n")),)
    return add(reading, match, Filter(ref=ref, values=values))


def _bare_values(reading: Reading, match: re.Match[str]) -> bool:
    """Read a value without its column: the only column that holds it."""
    said = reading.all_of(match, "v", "v")
    ref, _ = reading.resolver.value(said[0])
    values: Literals = tuple(_written(item, ref) for item in said)
    reading.plan.assume(f"“{said[0].text}” is a value of {ref.shown}", 0.97)
    return _several(reading, match, ref, values)


def _titled(reading: Reading, match: re.Match[str]) -> bool:
    """Read "the ship named 'Lettice'": by what names a row of the table."""
    table = reading.resolver.table(reading.of(match, "t"))
    columns = shown_columns(table)
    if match.group("p") and reading.of(match, "p").text.lower() not in NAMED:
        return False
    if len(columns) != 1 or columns[0].family != "text":
        return False
    texts = tuple(str(i.value or i.text) for i in reading.all_of(match, "q", "q"))
    ref = Ref(table, columns[0])
    reading.plan.assume(f"“{texts[0]}” looked for in {ref.shown}", 0.85)
    negated = bool(match.group("not"))
    found = Filter(ref=ref, values=texts, negated=negated)
    place = reading.items[match.start()].place
    reading.plan.filters.append(replace(found, place=place))
    reading.done(match.start() + 1, match.end())
    return True


def _done_nothing(reading: Reading, match: re.Match[str]) -> bool:
    """Read "customers who ordered nothing"."""
    item = reading.of(match, "t")
    if item.value != "verb":
        return False
    absent = Absent(table=reading.resolver.table(item))
    reading.plan.absent.append(absent)
    reading.done(match.start(), match.end())
    return True


def _absent(reading: Reading, match: re.Match[str]) -> bool:
    """Read "without any order", "who never ordered"; "without an e-mail address"."""
    item, start = reading.of(match, "t"), reading.items[match.start()]
    if item.kind == "c":
        ref = reading.resolver.column(item)
        if ref.column.family == "boolean":
            found = Filter(ref=ref, values=(0,), operator="=")
            return add(reading, match, found)
        sure = max(score for _, score in item.columns)
        if not ref.column.nullable or start.kind != "0" or sure < LEAST_SURE:
            raise NotUnderstood(f"“{start.text} {item.text}” is not clear")
        return add(reading, match, Filter(ref=ref, is_null=True))
    table = reading.resolver.table(item)
    named = reading.tables()
    if named and named[0].path == table.path and match.start():
        # "all stadiums except for stadiums having a concert"
        further = re.match("[wphf_]*(?P<t>t)", reading.codes[match.end() :])
        if further is None:
            raise NotUnderstood(f"“{start.text} {item.text}” is not clear")
        table = reading.resolver.table(reading.items[match.end() + further.start("t")])
        reading.items[match.end() : match.end() + further.end()] = []
    inner = tuple(
        found
        for found in reading.plan.filters
        if found.place > start.place and not found.negated
    )
    reading.plan.filters = [f for f in reading.plan.filters if f not in inner]
    reading.plan.absent.append(Absent(table=table, filters=inner))
    reading.done(match.start(), match.end())
    return True


def _years(reading: Reading, match: re.Match[str]) -> bool:
    said = reading.all_of(match, "n", "n")
    if not all(is_year(item) for item in said):
        return False
    ref = reading.year_column(said[0])
    if ref is not None:
        return _several(reading, match, ref, tuple(number_in(item) for item in said))
    if len(said) > 1:
        return False
    ref = reading.date_column(said[0])
    return add(reading, match, Filter(ref=ref, period=year_period(year_in(said[0]))))
