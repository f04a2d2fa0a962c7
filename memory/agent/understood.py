"""How a question was understood, as chips that can be taken back."""

from __future__ import annotations

from collections.abc import Iterable

from memory.agent.events import Chip
from retrieval.asked import LISTS, MOMENTS
from retrieval.results import Filters, Parsed
from retrieval.understood import LABELS, SPELLING, TIME


def chips_of(parsed: Parsed, ignored: Iterable[str]) -> list[Chip]:
    """Return what was typed and guessed, and the guesses that were taken back."""
    guessed = parsed.preferred
    chips = [Chip(label, text, "typed", "") for label, text in _said(parsed.typed)]
    chips += [
        Chip(LABELS[name], value, "guessed", _ignored_as(name, value))
        for name, field in LISTS.items()
        for value in getattr(guessed, field)
    ]
    if period := " ".join(f"{label} {text}" for label, text in _period(guessed)):
        chips.append(Chip(TIME, period, "guessed", TIME))
    chips += [
        Chip(SPELLING, f"{slip.said} \u2192 {slip.meant}", "guessed", slip.said)
        for slip in parsed.slips
    ]
    said = {chip.text for chip in chips}
    chips += [
        Chip(hint.node_type.replace("_", " "), hint.name, "guessed", hint.name)
        for hint in parsed.hints
        if hint.name not in said and not said.add(hint.name)  # type: ignore[func-returns-value] # each once
    ]
    return chips + [Chip("ignored", name, "ignored", name) for name in ignored]


def _said(filters: Filters) -> list[tuple[str, str]]:
    listed = [
        (LABELS[name], value)
        for name, field in LISTS.items()
        for value in getattr(filters, field)
    ]
    return listed + _period(filters)


def _period(filters: Filters) -> list[tuple[str, str]]:
    moments = [(name, getattr(filters, name)) for name in MOMENTS]
    return [(LABELS[name], f"{at:%-d %b %Y}") for name, at in moments if at]


def _ignored_as(name: str, value: str) -> str:
    """Return the name under which parsing leaves a guess alone."""
    return "type" if name == "type" else value
