"""How a question was understood, as chips that each can be taken back.

A turn stores what its search said of the question, and beside it the chips as they were
told while it was answered (`memory.agent.events.Chip`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from connections.models import User
from graph.models import Node
from memory.models import Turn
from retrieval.asked import LISTS, MOMENTS
from retrieval.understood import LABELS, TIME

CHIPS = "chips"


@dataclass(frozen=True, slots=True)
class Chip:
    """What was understood; to ask again with `ignore` takes it, or gives it, back.

    None: it was typed, and binds.
    """

    label: str
    text: str
    ignore: tuple[str, ...] | None
    is_ignored: bool = False


def chips_of(turn: Turn, user: User) -> tuple[Chip, ...]:
    """Return the chips of a turn; a key is shown by the title `user` may see."""
    parsed: dict[str, Any] = turn.parsed or {}
    told = parsed.get(CHIPS)
    said = _told(told) if told is not None else [*_hints(parsed), *_filters(parsed)]
    ignored = ignored_in(turn)
    names = _names(turn, user, (text for _, text, _ in said))
    chips = [
        Chip(label, names.get(text, text), (*ignored, name) if name else None)
        for label, text, name in dict.fromkeys(said)
    ]
    for name in ignored:
        others = tuple(each for each in ignored if each != name)
        chips.append(Chip("ignored", name, others, is_ignored=True))
    return tuple(chips)


def ignored_in(turn: Turn) -> tuple[str, ...]:
    """Return what the question of a turn was asked to be read without."""
    told: list[dict[str, str]] = (turn.parsed or {}).get(CHIPS) or []
    return tuple(chip["ignore"] for chip in told if chip["how"] == "ignored")


def _told(chips: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [
        (chip["label"], chip["text"], chip["ignore"])
        for chip in chips
        if chip["how"] != "ignored"
    ]


def _hints(parsed: dict[str, Any]) -> list[tuple[str, str, str]]:
    hints = [("about", str(name), str(name)) for name in parsed.get("entity_hints", ())]
    intent = str(parsed.get("intent") or "")
    return [("looking for", intent, intent), *hints] if intent else hints


def _filters(parsed: dict[str, Any]) -> list[tuple[str, str, str]]:
    filters: dict[str, Any] = parsed.get("filters") or {}
    hints = set(map(str, parsed.get("entity_hints", ())))
    chips = [
        (LABELS[name], str(value), str(value))
        for name, field in LISTS.items()
        for value in filters.get(field, ())
        if str(value) not in hints
    ]
    period = " ".join(
        f"{LABELS[name]} {_day(str(filters[name]))}"
        for name in MOMENTS
        if filters.get(name)
    )
    return [*chips, (TIME, period, TIME)] if period else chips


def _names(turn: Turn, user: User, values: Iterable[str]) -> dict[str, str]:
    keys = [value for value in values if ":" in value]
    if not keys:
        return {}
    nodes = Node.objects.visible_to(user).of(turn.conversation.project).current()
    titles = nodes.filter(key__in=keys).values_list("key", "title")
    return {key: title for key, title in titles if title}


def _day(text: str) -> str:
    """Return a moment as a day; what is none, as it is."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    local = timezone.localtime(moment) if timezone.is_aware(moment) else moment
    return f"{local:%-d %b %Y}"
