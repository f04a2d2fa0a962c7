"""Filters that somebody typed: `from:ann in:#support before:2025-03 during:"last week"`.

An operator that is not known stays in the text, as do addresses and times of day; a
known one with a value that means nothing is an error that says what it may be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from connections.records import node_types
from connections.registry import Registry
from connections.sources.base import connectors
from retrieval import times
from retrieval.errors import UnusableOperator
from retrieval.results import Filters

OPERATOR = re.compile(r'(?<!\S)([A-Za-z]+):(?:["“”]([^"“”]*)["“”]|([^\s"“”]\S*))')
TAG = re.compile(r"(?<!\S)#(?=[\w\-]*[^\W\d_])([\w\-/]+)(?=$|[\s,;.!?)])")
EACH_MOST = 50
DATES = 'a day (2025-03-14), a month (2025-03), a year or words ("last week")'
# The words of a file or a meeting lie in its parts.
TYPES_MEANT = {
    "mail": ("email",),
    "chat": ("message",),
    "file": ("file", "section"),
    "document": ("file", "section"),
    "meeting": ("meeting", "sentence"),
}
# What has no connector of its own.
OWN_SOURCES = ("database", "memory")


@dataclass(frozen=True, slots=True)
class Typed:
    """The operators of a text; `text` is the rest of it.

    The filters' people are as typed: a first name is yet to be looked up in the graph.
    """

    text: str
    filters: Filters


Reader = Callable[[Filters, str, datetime], Filters]
operators: Registry[Reader] = Registry("operator")


def read_operators(text: str, now: datetime) -> Typed:
    """Take the operators out of `text`.

    Raises `UnusableOperator` or `UnknownName` for a value that means nothing.
    """
    filters = Filters()

    def take(found: re.Match[str]) -> str:
        nonlocal filters
        name = found[1].lower()
        value = (found[2] or (found[3] or "").rstrip(",;?!.")).strip()
        if name not in operators or not value:
            return found[0]
        filters = operators[name](filters, value, now)
        return " "

    rest = OPERATOR.sub(take, text)
    _check(filters)
    return Typed(" ".join(rest.split()), filters)


def _check(filters: Filters) -> None:
    for name in ("people", "channels", "types", "sources", "tags"):
        if len(getattr(filters, name)) > EACH_MOST:
            raise UnusableOperator(
                f"At most {EACH_MOST} {name} can be asked for at once."
            )
    if filters.since and filters.until and filters.since >= filters.until:
        raise UnusableOperator(
            f"Nothing was said from {filters.since:%Y-%m-%d} on and before"
            f" {filters.until:%Y-%m-%d}: exchange or drop one of the dates."
        )


def _added(old: Iterable[str], *new: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))


@operators.register("from")
def from_person(filters: Filters, value: str, now: datetime) -> Filters:
    return replace(filters, people=_added(filters.people, value))


@operators.register("in")
def in_place(filters: Filters, value: str, now: datetime) -> Filters:
    return replace(filters, channels=_added(filters.channels, value.rstrip("/")))


@operators.register("type")
def of_type(filters: Filters, value: str, now: datetime) -> Filters:
    name = value.lower()
    meant = TYPES_MEANT.get(name) or (node_types[name].name,)
    return replace(filters, types=_added(filters.types, *meant))


@operators.register("source")
def of_source(filters: Filters, value: str, now: datetime) -> Filters:
    name = value.lower()
    known = sorted({c.source_kind for c in connectors.values()} | {*OWN_SOURCES})
    if name not in known:
        raise UnusableOperator(
            f"There is no source {value!r}; there are: {', '.join(known)}."
        )
    return replace(filters, sources=_added(filters.sources, name))


@operators.register("tag")
def of_tag(filters: Filters, value: str, now: datetime) -> Filters:
    return replace(filters, tags=_added(filters.tags, value.lstrip("#").lower()))


def _when(how: str) -> Reader:
    def read(filters: Filters, value: str, now: datetime) -> Filters:
        days = times.days_written(value, now)
        if days is None:
            raise UnusableOperator(f"{how}: cannot read {value!r}; write {DATES}.")
        bound = times.bounded(how, days, now)
        since = [at for at in (filters.since, bound.since) if at]
        until = [at for at in (filters.until, bound.until) if at]
        return replace(
            filters,
            since=max(since, default=None),
            until=min(until, default=None),
        )

    return read


for _how in ("before", "after", "since", "until", "on", "during"):
    operators.add(_how, _when(_how))
