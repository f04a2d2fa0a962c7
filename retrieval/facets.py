"""What a search may be narrowed to, counted over what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from connections.models import Project, User
from connections.records import node_types
from connections.sources.base import connectors
from graph.models import Edge, Node
from retrieval.asked import Asked
from retrieval.results import Result

# So many of the best results are counted; more would have to be read to be counted.
COUNTED = 50
VALUES = 8
WRITTEN_BY = ("sent_by", "attended", "organized_by")
PLACED_IN = "posted_in"
PERIODS = (("Past week", 7), ("Past month", 30), ("Past year", 365))


@dataclass(frozen=True, slots=True)
class Choice:
    """A value to narrow a search to: how many results have it, and the address that
    asks for it, or no longer asks for it."""

    label: str
    count: int
    address: str
    is_chosen: bool
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Facet:
    """A filter with the values that occur; those chosen are there even if none has."""

    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Ties:
    """Who wrote and where stands each result, by node: (key, name) of each."""

    people: Mapping[int, tuple[tuple[str, str], ...]]
    channels: Mapping[int, tuple[tuple[str, str], ...]]


def ties_of(user: User, project: Project, results: Sequence[Result]) -> Ties:
    """Return the persons and channels of `results` that `user` may see."""
    edges = (
        Edge.objects.visible_to(user)
        .of(project)
        .live()
        .filter(
            source__in=[result.node_id for result in results],
            relation__in=(*WRITTEN_BY, PLACED_IN),
        )
        .order_by("source_id", "pk")
    )
    people: dict[int, dict[str, str]] = {}
    channels: dict[int, dict[str, str]] = {}
    rows = edges.values_list("source_id", "relation", "target__key", "target__title")
    for node, relation, key, title in rows:
        kept = channels if relation == PLACED_IN else people
        kept.setdefault(node, {})[key] = title or key
    return Ties(
        {node: tuple(found.items()) for node, found in people.items()},
        {node: tuple(found.items()) for node, found in channels.items()},
    )


def names_of(user: User, project: Project, keys: Iterable[str]) -> dict[str, str]:
    """Return what is written on the nodes with `keys` that `user` may see."""
    wanted = list(keys)
    if not wanted:
        return {}
    nodes = Node.objects.visible_to(user).of(project).current()
    found = nodes.filter(key__in=wanted).exclude(title="")
    return dict(found.values_list("key", "title"))


def facets_of(
    asked: Asked, results: Sequence[Result], ties: Ties, names: Mapping[str, str]
) -> tuple[Facet, ...]:
    """Return the facets of `results`; one without any value is left out."""
    people = [
        each for result in results for each in ties.people.get(result.node_id, ())
    ]
    places = [
        each for result in results for each in ties.channels.get(result.node_id, ())
    ]
    names = {**names, **dict(people), **dict(places)}
    types = Counter(result.node_type for result in results)
    sources = Counter(result.source_kind for result in results if result.source_kind)
    tags = Counter(tag for result in results for tag in result.tags)
    facets = (
        _facet(asked, "source", "Source", sources, source_labels()),
        _facet(asked, "type", "Type", types, {}),
        _facet(asked, "person", "Person", Counter(key for key, _ in people), names),
        _facet(asked, "channel", "Channel", Counter(key for key, _ in places), names),
        _facet(asked, "tag", "Tag", tags, {}),
    )
    return tuple(facet for facet in facets if facet.choices)


def periods_of(asked: Asked, results: Sequence[Result]) -> tuple[Choice, ...]:
    """Return the recent periods to narrow a search to, each from a day to now."""
    today = timezone.localdate()
    found = []
    for label, days in PERIODS:
        since = today - timedelta(days=days)
        begins = timezone.make_aware(datetime.combine(since, datetime.min.time()))
        count = sum(1 for r in results if r.timestamp and r.timestamp >= begins)
        is_chosen = asked.since == since.isoformat() and not asked.until
        since_text = "" if is_chosen else since.isoformat()
        address = asked.but(since=since_text, until="").address
        found.append(Choice(label, count, address, is_chosen))
    return tuple(found)


def source_labels() -> dict[str, str]:
    """Return what each kind of source is called."""
    return {name: connector.label for name, connector in connectors.items()}


def _facet(
    asked: Asked,
    name: str,
    label: str,
    counts: Counter[str],
    labels: Mapping[str, str],
) -> Facet:
    chosen = getattr(asked, name)
    most = sorted(counts, key=lambda value: (-counts[value], value))
    # What is chosen comes first, so that it can always be taken back.
    values = list(dict.fromkeys((*chosen, *most)))[: max(VALUES, len(chosen))]
    choices = []
    for value in values:
        is_chosen = value in chosen
        to = asked.without(name, value) if is_chosen else asked.with_(name, value)
        shown = labels.get(value, value.replace("_", " ") if name == "type" else value)
        icon = node_types[value].icon if name == "type" and value in node_types else ""
        choices.append(Choice(shown, counts[value], to.address, is_chosen, icon))
    return Facet(name, label, tuple(choices))
