"""The tools of the graph: what is around a thing, between two, and in its time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Q
from django.utils import timezone

from connections.records import clean_key
from graph.api.reading import name_of, told
from graph.best_paths import best_paths
from graph.models import Node
from graph.paths import Paths, hops, nearest
from graph.timeline import KINDS, NEWEST, OLDEST
from graph.timeline import timeline as timeline_of
from memory.agent.reading_tools import run_search
from memory.agent.tools import Reading, Told, ToolError, tool
from retrieval.arms.base import NO_FILTERS
from retrieval.hints import find_hints

AROUND, MOMENTS, WAYS = 15, 20, 3
DEPTH = 4
SHOWN = (
    *("key", "node_type", "title", "content", "context", "origin", "metadata"),
    *("occurred_at", "updated_at", "confirmed_at", "last_evidence_at"),
    *("gone_at", "record__permalink"),
)
_THING = {
    "type": "string",
    "minLength": 1,
    "maxLength": 500,
    "description": "The number of a source, a key, or a name.",
}


@tool(
    "walk",
    "See what a thing is tied to: a person, topic, decision, document or message.",
    {
        "of": _THING,
        "depth": {"type": "integer", "minimum": 1, "maximum": 3},
        "relations": {
            "type": "array",
            "items": {"type": "string"},
            "maxItems": 10,
            "description": "Only these relations, such as mentions or sent_by.",
        },
    },
    required=("of",),
)
def walk(reading: Reading, arguments: Mapping[str, Any]) -> Told:
    nodes = reading.nodes()
    start = thing(reading, arguments["of"])
    depth, only = arguments.get("depth", 1), arguments.get("relations")
    around = nearest(
        nodes,
        start.pk,
        project=reading.project,
        depth=depth,
        limit=AROUND,
        relations=only,
    )
    reading.hops += depth
    ids = [start.pk, *around.distances]
    rows = _rows(reading, ids)
    ties = hops(nodes, ids, project=reading.project, relations=only)
    notes = [
        f"{name_of(rows[tie.near])} -{tie.relation}-> {name_of(rows[tie.far])}"
        for tie in ties
        if tie.forward and tie.near in rows and tie.far in rows
    ]
    if not around.is_complete:
        notes.append("There is more around it than is shown.")
    met = [rows[pk] for pk in around.distances if pk in rows]
    sources = reading.add_nodes(node for node in met if node.content)
    return Told(tuple(sources), tuple(dict.fromkeys(notes)), len(met))


@tool(
    "paths",
    "See how two things hang together: the best ways from one to the other.",
    {"from": _THING, "to": _THING},
    required=("from", "to"),
)
def paths(reading: Reading, arguments: Mapping[str, Any]) -> Told:
    start, end = (thing(reading, arguments[name]) for name in ("from", "to"))
    return between(reading, start.pk, end.pk)


def between(reading: Reading, start: int, end: int) -> Told:
    """Return the best ways from one node to another, in words, with what is on them."""
    found: Paths = best_paths(
        reading.nodes(), start, end, project=reading.project, depth=DEPTH, limit=WAYS
    )
    rows = _rows(reading, {pk for path in found.paths for pk in path.nodes})
    ways = [path for path in found.paths if set(path.nodes) <= rows.keys()]
    reading.hops += max((len(path.hops) for path in ways), default=0)
    on_way = dict.fromkeys(pk for path in ways for pk in path.nodes)
    sources = reading.add_nodes(rows[pk] for pk in on_way if rows[pk].content)
    notes = tuple(told(path, rows) for path in ways)
    if not notes:
        notes = (f"No way of at most {DEPTH} steps is known.",)
    return Told(tuple(sources), notes, len(ways))


@tool(
    "timeline",
    "See what happened around a thing, in order: what was said, began, ended, changed.",
    {"of": _THING, "order": {"type": "string", "enum": [OLDEST, NEWEST]}},
    required=("of",),
)
def timeline(reading: Reading, arguments: Mapping[str, Any]) -> Told:
    start = thing(reading, arguments["of"])
    moments = timeline_of(
        reading.nodes(),
        start.pk,
        project=reading.project,
        limit=MOMENTS,
        order=arguments.get("order", NEWEST),
    ).moments
    rows = _rows(reading, {moment.node_id for moment in moments})
    known = [moment for moment in moments if moment.node_id in rows]
    notes = tuple(
        f"{timezone.localtime(moment.at):%Y-%m-%d %H:%M} "
        f"{moment.relation.replace('_', ' ') or KINDS[moment.kind].rstrip('.')}: "
        f"{name_of(rows[moment.node_id])}"
        for moment in known
    )
    met = dict.fromkeys(moment.node_id for moment in known)
    sources = reading.add_nodes(rows[pk] for pk in met if rows[pk].content)
    return Told(tuple(sources), notes, len(known))


def thing(reading: Reading, named: str) -> Node:
    """Return the node that a model means: by a source's number, a key, or its name."""
    nodes = reading.nodes()
    bare = named.strip().strip("[]【】")
    wanted: Q | None = None
    if bare.isdecimal() and len(bare) < 10 and reading.sources.is_known(int(bare)):
        wanted = Q(pk=reading.sources.found[int(bare)].node_id)
    rows = nodes.filter(wanted or Q(key=clean_key(named)))
    if node := rows.only("key").first():
        return node
    hinted = find_hints(reading.project, nodes, named).named
    ids = [one.hint.node_id for one in hinted if one.hint.node_id]
    if ids and (node := nodes.only("key").filter(pk=ids[0]).first()):
        return node
    best = run_search(reading, {"query": named, "limit": 1}, NO_FILTERS).results
    if best and best[0].title.casefold() == named.strip().casefold():
        return nodes.only("key").get(pk=best[0].node_id)
    raise ToolError(f"Nothing here is called {named[:80]!r}; search for it first.")


def _rows(reading: Reading, ids: Iterable[int]) -> dict[int, Node]:
    return reading.nodes().select_related("record").only(*SHOWN).in_bulk(list(ids))
