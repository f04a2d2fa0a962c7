"""What was understood of a question, as chips that each can be taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from retrieval.asked import DEFAULT_PROFILE, LISTS, MOMENTS, Asked
from retrieval.results import Filters, Parsed

LABELS = {
    "type": "type",
    "source": "source",
    "person": "person",
    "channel": "channel",
    "tag": "tag",
    "since": "from",
    "until": "before",
    "as_of": "as of",
}
# The name under which an inferred period is ignored.
TIME = "time"
SPELLING = "spelling"


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter or a guess, and the address that takes it back.

    `how` it came about: "chosen" on the page, "typed" in the question, "guessed" from
    it, or "ignored": a guess that was taken back, whose address brings it back.
    """

    label: str
    text: str
    address: str
    how: str


def chips_of(
    asked: Asked, parsed: Parsed | None, names: Mapping[str, str]
) -> tuple[Chip, ...]:
    """Return the chips of a search; `names` has what keys and kinds are called."""
    chips = _chosen(asked, names)
    if parsed:
        chips += _typed(asked, parsed, names) + _guessed(asked, parsed, names)
    chips += [
        Chip("ignored", name, asked.without("ignore", name).address, "ignored")
        for name in asked.ignore
    ]
    return tuple(chips)


def _chosen(asked: Asked, names: Mapping[str, str]) -> list[Chip]:
    chips = [
        Chip(LABELS[name], _called(value, names), address, "chosen")
        for name in LISTS
        for value in getattr(asked, name)
        for address in (asked.without(name, value).address,)
    ]
    chips += [
        Chip(LABELS[name], _day(value), asked.without(name).address, "chosen")
        for name in MOMENTS
        if (value := getattr(asked, name))
    ]
    if asked.profile != DEFAULT_PROFILE:
        address = asked.but(profile=DEFAULT_PROFILE).address
        chips.append(Chip("ranking", asked.profile, address, "chosen"))
    return chips


def _typed(asked: Asked, parsed: Parsed, names: Mapping[str, str]) -> list[Chip]:
    """An operator is taken back by asking without any, the others as filters."""
    values = _values(parsed.typed)
    bare = asked.but(q=parsed.asked)
    chips = []
    for name, value in values:
        left = bare
        for other in values:
            if other != (name, value):
                left = _with(left, *other)
        text = _day(value) if name in MOMENTS else _called(value, names)
        chips.append(Chip(LABELS[name], text, left.address, "typed"))
    return chips


def _guessed(asked: Asked, parsed: Parsed, names: Mapping[str, str]) -> list[Chip]:
    chips = [
        _guess(asked, SPELLING, f"{slip.said} \u2192 {slip.meant}", slip.said)
        for slip in parsed.slips
    ]
    said = set()
    if parsed.intent:
        chips.append(_guess(asked, "looking for", parsed.intent, parsed.intent))
    for hint in parsed.hints:
        if hint.name not in said:
            said |= {hint.name, hint.key}
            kind = hint.node_type.replace("_", " ")
            chips.append(_guess(asked, kind, hint.name, hint.name))
    for name, value in _values(parsed.preferred):
        if name not in MOMENTS and value not in said:
            chips.append(_guess(asked, LABELS[name], _called(value, names), value))
    period = " ".join(
        f"{LABELS[name]} {_day(value)}"
        for name, value in _values(parsed.preferred)
        if name in MOMENTS
    )
    return [*chips, _guess(asked, TIME, period, TIME)] if period else chips


def _guess(asked: Asked, label: str, text: str, ignored_as: str) -> Chip:
    return Chip(label, text, asked.with_("ignore", ignored_as).address, "guessed")


def _values(filters: Filters) -> list[tuple[str, str]]:
    """Return what `filters` say, by the names that addresses have for it."""
    found = [
        (name, value)
        for name, field in LISTS.items()
        for value in getattr(filters, field)
    ]
    moments = [(name, getattr(filters, name)) for name in MOMENTS]
    return found + [(name, _written(moment)) for name, moment in moments if moment]


def _written(moment: datetime) -> str:
    """Return `moment` as an address has it: a day where it is the day's beginning."""
    local = timezone.localtime(moment)
    begins = (local.hour, local.minute, local.second, local.microsecond) == (0, 0, 0, 0)
    return local.date().isoformat() if begins else local.isoformat()


def _with(asked: Asked, name: str, value: str) -> Asked:
    return asked.but(**{name: value}) if name in MOMENTS else asked.with_(name, value)


def _called(value: str, names: Mapping[str, str]) -> str:
    return names.get(value, value)


def _day(text: str) -> str:
    """Return a day or moment in words; what is neither, as it is."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    is_day = len(text) == len("2026-03-31")
    return f"{moment:%-d %b %Y}" if is_day else f"{moment:%-d %b %Y, %H:%M}"
