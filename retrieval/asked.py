"""What the address of a search asks for: read strictly, and written back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.conf import settings
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from connections.records import node_types
from connections.registry import Registry, UnknownName
from connections.sources.base import connectors
from retrieval.profiles import profiles
from retrieval.results import Filters

QUERY_CHARACTERS, NAME_CHARACTERS, NAMES_MOST = 10_000, 600, 50
STEP = 20
DEFAULT_PROFILE = "default"

# The name in the address of each filter that may be given several times.
LISTS = {
    "type": "types",
    "source": "sources",
    "person": "people",
    "channel": "channels",
    "tag": "tags",
}
MOMENTS = ("since", "until", "as_of")
KNOWN = ("q", "project", "profile", *LISTS, *MOMENTS, "ignore", "limit")

T = TypeVar("T")


class Unusable(ValueError):
    """A part of the address that cannot be read; the message says what would be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search as its address has it, everything as it was typed."""

    q: str = ""
    project: str = ""
    profile: str = DEFAULT_PROFILE
    type: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    as_of: str = ""
    limit: int = STEP

    @property
    def address(self) -> str:
        """Return the query string that asks for this, without what is usual."""
        usual = Asked()
        given: dict[str, Any] = {
            name: getattr(self, name)
            for name in KNOWN
            if getattr(self, name) != getattr(usual, name)
        }
        return f"?{urlencode(given, doseq=True)}"

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Return the names and values that the form keeps beside what it shows."""
        return tuple(
            (name, value)
            for name in (*LISTS, "ignore")
            for value in getattr(self, name)
        )

    @property
    def is_filtered(self) -> bool:
        return any(getattr(self, name) for name in (*LISTS, *MOMENTS))

    def but(self, **changes: Any) -> Asked:
        """Return this with `changes`, from its first results on."""
        return replace(self, **{"limit": STEP, **changes})

    def with_(self, name: str, value: str) -> Asked:
        values = getattr(self, name)
        return self.but(**{name: values if value in values else (*values, value)})

    def without(self, name: str, value: str = "") -> Asked:
        """Drop `value` of a list, or what a single field says."""
        if name in MOMENTS:
            return self.but(**{name: ""})
        left = tuple(each for each in getattr(self, name) if each != value)
        return self.but(**{name: left})


def read(given: QueryDict) -> tuple[Asked, tuple[str, ...]]:
    """Return what an address asks for, and what of it cannot be used, in words.

    What cannot be used is kept as it was typed, so that it can be put right.
    """
    complaints = _unknown(given)
    lists, limit = {}, STEP
    for name in (*LISTS, "ignore"):
        values = dict.fromkeys(_clean(value) for value in given.getlist(name))
        lists[name] = tuple(value for value in values if value)[:NAMES_MOST]
        if len(values) > NAMES_MOST:
            complaints.append(f"At most {NAMES_MOST} of {name} can be asked for.")
        if any(len(value) > NAME_CHARACTERS for value in lists[name]):
            complaints.append(
                f"A {name} has at most {NAME_CHARACTERS} characters; shorten it."
            )
    try:
        limit = _limit(given.get("limit", ""))
    except Unusable as error:
        complaints.append(str(error))
    query = given.get("q", "").replace("\x00", " ")
    if len(query) > QUERY_CHARACTERS:
        complaints.append(
            f"The question has {len(query)} characters; at most {QUERY_CHARACTERS} "
            "are searched for. Shorten it."
        )
    asked = Asked(
        q=query,
        project=_clean(given.get("project", "")),
        profile=_clean(given.get("profile", "")) or DEFAULT_PROFILE,
        since=_clean(given.get("since", "")),
        until=_clean(given.get("until", "")),
        as_of=_clean(given.get("as_of", "")),
        limit=limit,
        **lists,
    )
    return asked, tuple(complaints)


def filters_of(asked: Asked) -> tuple[Filters, tuple[str, ...]]:
    """Return the filters that `asked` names, and which of its values name none."""
    complaints = _unregistered(asked)
    given: dict[str, Any] = {
        field: getattr(asked, name) for name, field in LISTS.items()
    }
    for name in MOMENTS:
        try:
            given[name] = _moment(name, getattr(asked, name))
        except Unusable as error:
            complaints.append(str(error))
    since, until = given.get("since"), given.get("until")
    if since and until and since >= until:
        complaints.append(
            f"Nothing is both from {asked.since} on and before {asked.until}; "
            "the second date must be the later one."
        )
    return Filters(**given), tuple(complaints)


def _unknown(given: QueryDict) -> list[str]:
    # A misspelt filter would otherwise be one that was silently not applied.
    names = sorted(set(given) - set(KNOWN))[:5]
    return [
        f"There is no filter {_clean(name)[:60]!r}; there are: {', '.join(KNOWN)}."
        for name in names
    ]


def _unregistered(asked: Asked) -> list[str]:
    sources: Mapping[str, object] = {**connectors, "memory": None, "database": None}
    complaints = _not_in(profiles, (asked.profile,)) + _not_in(node_types, asked.type)
    return complaints + [
        f"There is no kind of source {name!r}; there are: {', '.join(sorted(sources))}."
        for name in asked.source
        if name not in sources
    ]


def _not_in(registry: Registry[T], names: tuple[str, ...]) -> list[str]:
    complaints = []
    for name in names:
        try:
            registry[name]
        except UnknownName as error:
            complaints.append(str(error))
    return complaints


def _clean(text: str) -> str:
    return text.replace("\x00", "\ufffd").strip()


def _limit(text: str) -> int:
    most: int = settings.FABRIC["SEARCH_LIMIT_MOST"]
    if not text:
        return min(STEP, most)
    is_whole = text.isascii() and text.isdigit() and len(text) < 10
    if not is_whole or not 1 <= int(text) <= most:
        raise Unusable(
            f"A limit is a whole number from 1 to {most}, not {text[:20]!r}."
        )
    return int(text)


def _moment(name: str, text: str) -> datetime | None:
    """Read a day, which begins at midnight of the site's time zone, or a moment."""
    if not text:
        return None
    try:
        day, moment = parse_date(text), parse_datetime(text)
    except ValueError:  # of the right form, but no day of the calendar
        day = moment = None
    if day:
        moment = datetime.combine(day, time.min)
    if moment is None:
        raise Unusable(
            f"{text[:40]!r} is no date for {name!r}; write it as 2026-03-31 "
            "or 2026-03-31T14:00."
        )
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)
