"""The tools of search and of memory."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from graph.models.node import MEMORY
from memory.agent.tools import Reading, Told, ToolError, tool
from retrieval.results import Filters, SearchAnswer
from retrieval.search import search as search_for

PASSAGES, MOST = 12, 20
_WORDS = {"type": "string", "minLength": 1, "maxLength": 1000}
_NAMES = {"type": "array", "items": {"type": "string"}, "maxItems": 10}
_LIMIT = {"type": "integer", "minimum": 1, "maximum": MOST}
_DAY = {"type": "string", "description": "A day or a moment, as ISO 8601."}


@tool(
    "search",
    "Find messages, mails, documents, meetings, decisions and what memory holds. Use "
    "other words when a search finds nothing of use.",
    {
        "query": _WORDS,
        "limit": _LIMIT,
        "types": {**_NAMES, "description": "Node types, such as email or decision."},
        "people": {**_NAMES, "description": "Who wrote or said it."},
        "channels": {**_NAMES, "description": "Channels, folders, meetings."},
        "since": _DAY,
        "until": _DAY,
    },
    required=("query",),
)
def search(reading: Reading, arguments: Mapping[str, Any]) -> Told:
    filters = Filters(
        types=tuple(arguments.get("types", ())),
        people=tuple(arguments.get("people", ())),
        channels=tuple(arguments.get("channels", ())),
        since=_moment(arguments, "since"),
        until=_moment(arguments, "until"),
    )
    return found(reading, run_search(reading, arguments, filters))


@tool(
    "recall",
    "Find what memory holds of earlier conversations: facts, decisions, commitments, "
    "risks, insights and patterns.",
    {"query": _WORDS, "limit": _LIMIT},
    required=("query",),
)
def recall(reading: Reading, arguments: Mapping[str, Any]) -> Told:
    return found(reading, run_search(reading, arguments, Filters(sources=(MEMORY,))))


def run_search(
    reading: Reading, arguments: Mapping[str, Any], filters: Filters
) -> SearchAnswer:
    """Search as the asker, and count what it took."""
    answer = search_for(
        reading.project,
        arguments["query"],
        user=reading.user,
        limit=arguments.get("limit", PASSAGES),
        filters=filters,
        ignore=reading.ignore,
    )
    reading.first = reading.first or answer
    for arm, count in answer.arms.items():
        reading.arms[arm] = reading.arms.get(arm, 0) + count
    return answer


def found(reading: Reading, answer: SearchAnswer) -> Told:
    sources = reading.sources.add_results(answer.results)
    notes = [f"{arm} was not asked: {why}" for arm, why in answer.dropped.items()]
    notes += [
        f"no text has {slip.said!r}: it was read as {slip.meant!r}"
        for slip in answer.parsed.slips
    ]
    return Told(tuple(sources), tuple(notes), len(sources))


def _moment(arguments: Mapping[str, Any], name: str) -> datetime | None:
    """Return a moment that a model wrote; a day begins where the site is."""
    said = str(arguments.get(name, "")).strip()
    if not said:
        return None
    try:
        moment = parse_datetime(said)
        day = None if moment else parse_date(said)
    except ValueError as error:
        raise ToolError(f"{name}: {error}") from error
    if moment:
        return moment if moment.tzinfo else timezone.make_aware(moment)
    if day:
        return timezone.make_aware(datetime(day.year, day.month, day.day))
    raise ToolError(f"{name}: {said[:40]!r} is no day such as 2026-03-31.")
