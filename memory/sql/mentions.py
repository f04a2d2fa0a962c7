"""Where texts name what rows hold: all names at once, grouped by thread."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils import timezone

from connections.models import Project, User
from connections.records import node_types
from graph.models import Edge, Node
from graph.models.node import EXTRACTION, MEMORY
from graph.querysets import NodeQuerySet
from memory.sentences import sentences
from memory.sql import mentions_sql
from memory.sql.splitting import Parts
from retrieval.allowed import rows_among
from retrieval.filters import narrowed
from retrieval.query import parse
from retrieval.results import Filters
from retrieval.search import visible_nodes

# Names looked up at once; texts read for each; threads told of each.
NAMES, EACH, THREADS = 50, 40, 3
QUOTE_CHARACTERS = 300
# A shorter first word is too common to stand for a whole name.
SHORT_LEAST = 5
SHOWN = (
    *("key", "node_type", "title", "content", "context", "origin", "metadata"),
    *("occurred_at", "updated_at", "confirmed_at", "last_evidence_at"),
    *("gone_at", "record__permalink"),
)
_FOLLOWED_BY = re.compile(r"\s+([A-ZÄÖÜ][\w'-]*)")


@dataclass(frozen=True, slots=True)
class Mention:
    """A text that names something: its words there, and the thread it is of."""

    node: Node
    quote: str
    thread: str


@dataclass(frozen=True, slots=True)
class _Spelling:
    """A name as it may be said; a short one stands only where nothing else begins."""

    place: int
    words: str
    is_short: bool = False
    goes_on: str = ""


def filters_of(parts: Parts, project: Project, nodes: NodeQuerySet) -> Filters:
    """Return where the part about texts wants to look: places, kinds, and its time."""
    said = parse(project, parts.text, nodes=nodes, now=timezone.now())
    known = tuple(one for one in parts.types if one in node_types)
    return Filters(
        types=known,
        channels=parts.channels,
        sources=("slack",) if re.search(r"\bslack\b", parts.text, re.I) else (),
        since=said.typed.since or said.preferred.since,
        until=said.typed.until or said.preferred.until,
    )


def texts_among(project: Project, user: User | None, filters: Filters) -> NodeQuerySet:
    """Return the texts that `user` may see within `filters`: no rows, no memories."""
    visible = visible_nodes(project, user, timezone.now())
    kept = visible.exclude(origin__in=(EXTRACTION, MEMORY))
    return narrowed(kept, project, user, filters).exclude(
        node_type__in=("db_table", "db_column")
    )


def mentions(
    project: Project,
    user: User | None,
    names: Sequence[str],
    filters: Filters,
    *,
    threads: int = THREADS,
) -> dict[str, tuple[Mention, ...]]:
    """Return for each name where it is said, the latest threads first, one text each.

    A name of several words may be said by its first, where no other begins so.
    All names are looked up in one statement, and their texts and threads in two more.
    """
    names = list(dict.fromkeys(name for name in names if name.strip()))[:NAMES]
    spellings = _spellings(names)
    values = {
        "places": list(range(len(spellings))),
        "names": [one.words for one in spellings],
        "language": project.language,
        "each": EACH,
    }
    if not spellings:
        return {}
    rows = rows_among(
        texts_among(project, user, filters), project, mentions_sql.SAYING, values
    )
    found = _said(project, user, spellings, rows)
    return {
        name: _by_thread(found.get(place, ()), threads)
        for place, name in enumerate(names)
    }


def _spellings(names: Sequence[str]) -> list[_Spelling]:
    firsts: dict[str, int] = defaultdict(int)
    for name in names:
        firsts[name.split()[0].casefold()] += 1
    found = []
    for place, name in enumerate(names):
        first, *rest = name.split()
        found.append(_Spelling(place, name))
        is_own = firsts[first.casefold()] == 1
        if rest and is_own and len(first) >= SHORT_LEAST and first[:1].isupper():
            found.append(_Spelling(place, first, is_short=True, goes_on=rest[0]))
    return found


def _said(
    project: Project,
    user: User | None,
    spellings: Sequence[_Spelling],
    rows: Iterable[tuple[int, int]],
) -> Mapping[int, list[Mention]]:
    pairs = [(spellings[place], node) for place, node in rows]
    ids = {node for _, node in pairs}
    nodes = (
        visible_nodes(project, user, timezone.now())
        .select_related("record")
        .only(*SHOWN)
        .in_bulk(list(ids))
    )
    threads = _threads(project, user, ids)
    found: dict[int, dict[int, Mention]] = defaultdict(dict)
    # A whole name's own words come before those of its short form.
    for spelling, pk in sorted(pairs, key=lambda pair: pair[0].is_short):
        if pk in nodes and (quote := _quote(nodes[pk].content, spelling)):
            thread = threads.get(pk, nodes[pk].key)
            found[spelling.place].setdefault(pk, Mention(nodes[pk], quote, thread))
    return {place: list(said.values()) for place, said in found.items()}


def _threads(project: Project, user: User | None, ids: Iterable[int]) -> dict[int, str]:
    """Return the key of the thread that each text is of, where it is of one."""
    edges = Edge.objects.all() if user is None else Edge.objects.visible_to(user)
    rows = edges.of(project).live().filter(relation="in_thread", source__in=list(ids))
    return dict(rows.values_list("source_id", "target__key"))


def _quote(text: str, spelling: _Spelling) -> str:
    """Return the sentence of `text` that says the name; empty where none does."""
    flags = 0 if spelling.is_short else re.IGNORECASE
    words = r"\s+".join(map(re.escape, spelling.words.split()))
    said = re.compile(rf"(?<!\w){words}(?!\w)", flags)
    for sentence in sentences(text):
        hit = said.search(sentence)
        if hit and not _goes_on_otherwise(sentence, hit.end(), spelling):
            return _shortened(sentence.strip(), hit.start())
    return ""


def _goes_on_otherwise(sentence: str, end: int, spelling: _Spelling) -> bool:
    """Return whether a short name is the beginning of another: Northern | Ireland."""
    if not spelling.is_short:
        return False
    following = _FOLLOWED_BY.match(sentence, end)
    return bool(following) and following[1] != spelling.goes_on  # type: ignore[index] # it matched


def _shortened(sentence: str, place: int) -> str:
    start = max(0, place - QUOTE_CHARACTERS // 2) if place > QUOTE_CHARACTERS else 0
    return sentence[start : start + QUOTE_CHARACTERS]


def _by_thread(found: Sequence[Mention], most: int) -> tuple[Mention, ...]:
    """Return one mention a thread: its first, of the threads spoken in last."""
    latest = sorted(found, key=_moment, reverse=True)
    threads = list(dict.fromkeys(one.thread for one in latest))[:most]
    first = {one.thread: one for one in latest}
    return tuple(replace(first[thread]) for thread in threads)


def _moment(mention: Mention) -> tuple[float, str]:
    at: datetime | None = mention.node.occurred_at
    return (at.timestamp() if at else 0.0, mention.node.key)
