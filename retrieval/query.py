"""Query parsing: a question in, what it asks for and prefers out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from django.utils import timezone

from connections.models import Project
from graph.querysets import NodeQuerySet
from retrieval.hints import Named, find_event, find_hints
from retrieval.intents import intent_of, types_said
from retrieval.operators import EACH_MOST, TAG, Typed, read_operators
from retrieval.results import Filters, Parsed
from retrieval.slips import find_slips, without_slips
from retrieval.times import (
    Interval,
    TimePhrase,
    find_time,
    interval_of_event,
)
from retrieval.times import find_event as find_event_phrase
from retrieval.wording import (
    AUXILIARIES,
    CHARACTERS,
    FILLER,
    SAYING,
    is_question,
    words_of,
)

# Quotes in pairs, a word with a minus, a capital OR. A small "or" is one only outside
# a question: "did Ann or Bob ...?" asks for either anyway.
WEBSEARCH = re.compile(r'(?:^|\s)-["\w]|\sOR\s')
# In a question quotes stand around titles; required, they would hide what tells of them.
OUTSIDE_QUESTIONS = re.compile(r'"[^"]*\w[^"]*"|\sor\s')
# What a hint stands for leaves the query when it is who should know, not what of.
LEAVING = frozenset({"agent"})
BEFORE_A_WRITER = AUXILIARIES | {"by", "from", "to"}


def parse(
    project: Project,
    text: str,
    *,
    nodes: NodeQuerySet,
    now: datetime,
    ignore: Collection[str] = (),
    spelling: bool = False,
) -> Parsed:
    """Return how `text` is understood, from `nodes` that the asker may see.

    `ignore` are inferred things that somebody took away: "time", "people", "channel",
    "type", "spelling", the name of a hint, or a word that was read as another. With
    `spelling` a word that no text has may be. Raises `UnusableOperator` or
    `UnknownName` for a typed filter that means nothing.
    """
    now = timezone.localtime(now)
    ignored = frozenset(name.lower() for name in ignore)
    typed = read_operators(_clean(text), now)
    parsed, unknown = _understood(project, typed, nodes, now, ignored)
    if not spelling or parsed.websearch or "spelling" in ignored:
        return parsed
    doubted = sorted(set(unknown), key=typed.text.find)
    words = [word for word in doubted if word.lower() not in ignored]
    if not (slips := find_slips(project, nodes, words)):
        return parsed
    typed = replace(typed, text=without_slips(typed.text, slips))
    parsed, _ = _understood(project, typed, nodes, now, ignored)
    return replace(parsed, slips=slips)


def _understood(
    project: Project,
    typed: Typed,
    nodes: NodeQuerySet,
    now: datetime,
    ignored: frozenset[str],
) -> tuple[Parsed, tuple[str, ...]]:
    """Return how what was typed is understood, and words of it that no text has."""
    looked = typed.text[:CHARACTERS]
    when = None
    if "time" not in ignored and not (typed.filters.since or typed.filters.until):
        when = _when(project, nodes, looked, now)
    found = find_hints(
        project,
        nodes,
        _blanked(looked, when),
        people=typed.filters.people,
        ignore=ignored,
    )
    asked, tags = _without_tags(typed, found.named)
    filters = replace(typed.filters, people=found.people, tags=tags)
    websearch = _is_websearch(asked)
    parsed = Parsed(
        query=asked if websearch else _query(looked, asked, when, found.named),
        asked=asked,
        hints=tuple(named.hint for named in found.named),
        intent=intent_of(_blanked(looked, when)),
        typed=filters,
        preferred=_preferred(looked, when, found.named, filters, ignored),
        websearch=websearch,
    )
    return parsed, found.unknown


def _clean(text: str) -> str:
    """Return `text` as the database takes it, blanks as one blank."""
    text = text.replace("\x00", " ").encode("utf-8", "replace").decode()
    return " ".join(text.split())


def _is_websearch(asked: str) -> bool:
    if WEBSEARCH.search(asked):
        return True
    asks = asked.endswith("?") or is_question(words_of(asked[:CHARACTERS]))
    return not asks and OUTSIDE_QUESTIONS.search(asked) is not None


def _when(
    project: Project, nodes: NodeQuerySet, text: str, now: datetime
) -> TimePhrase | None:
    """Return the time that a date or else a known meeting gives the question."""
    if found := find_time(text, now):
        return found
    phrase = find_event_phrase(text)
    if phrase is None or (event := find_event(project, nodes, phrase, now)) is None:
        return None
    at, end = event
    interval = interval_of_event(phrase.how, timezone.localtime(at, now.tzinfo))
    # What was said during a meeting is found by its name, too.
    is_around = phrase.how in ("during", "at", "in")
    return TimePhrase(interval, phrase.begin, phrase.begin if is_around else end)


def _blanked(text: str, when: TimePhrase | None) -> str:
    """Return `text` with the time expression as blanks, so that places stay."""
    if when is None:
        return text
    # A full stop keeps the words at both sides apart.
    gap = "." if when.end > when.begin else ""
    return text[: when.begin] + gap.ljust(when.end - when.begin) + text[when.end :]


def _without_tags(typed: Typed, named: Sequence[Named]) -> tuple[str, tuple[str, ...]]:
    """Return the text without `#tags`, and all tags; a channel's name is no tag."""
    channels = {n.hint.said.lower() for n in named if n.hint.node_type == "channel"}
    tags = list(typed.filters.tags)

    def take(found: re.Match[str]) -> str:
        if found[0].lower() in channels or len(tags) >= EACH_MOST:
            return found[0]
        tags.append(found[1].lower())
        return ""

    text = TAG.sub(take, typed.text)
    return " ".join(text.split()), tuple(dict.fromkeys(tags))


def _query(
    looked: str, asked: str, when: TimePhrase | None, named: Iterable[Named]
) -> str:
    """Return the words worth searching for: all, where none is."""
    keeps = {
        place: one.hint.node_type not in LEAVING
        for one in named
        for place in range(one.gram.first, one.gram.after)
    }
    text = _blanked(looked, when)
    tags = {found.start() for found in TAG.finditer(text)}
    said = [
        word.text
        for place, word in enumerate(words_of(text))
        if keeps.get(place, word.lower not in FILLER)
        and (place in keeps or word.begin not in tags)
    ]
    return " ".join(said) or " ".join(word.text for word in words_of(asked)) or asked


def _preferred(
    text: str,
    when: TimePhrase | None,
    named: Sequence[Named],
    typed: Filters,
    ignored: frozenset[str],
) -> Filters:
    """Return what the question prefers; what was typed is not inferred as well."""
    interval = when.interval if when else Interval(None, None)
    types = () if typed.types or "type" in ignored else types_said(text)
    people = () if typed.people or "people" in ignored else _writers(named, text, when)
    channels: tuple[str, ...] = ()
    if not typed.channels and "channel" not in ignored:
        channels = _names(one for one in named if one.hint.node_type == "channel")
    return Filters(
        types=types,
        people=people,
        channels=channels,
        since=interval.since,
        until=interval.until,
    )


def _writers(
    named: Sequence[Named], text: str, when: TimePhrase | None
) -> tuple[str, ...]:
    """Return the people whose words or deeds the question asks for."""
    words = words_of(_blanked(text, when))

    def writes(one: Named) -> bool:
        before = words[one.gram.first - 1].lower if one.gram.first else ""
        after = words[one.gram.after].lower if one.gram.after < len(words) else ""
        last = words[one.gram.after - 1]
        is_owner = last.end - last.begin > len(last.text)
        return before in BEFORE_A_WRITER or after in SAYING or is_owner

    return _names(n for n in named if n.hint.node_type == "person" and writes(n))


def _names(named: Iterable[Named]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.hint.name for one in named))
