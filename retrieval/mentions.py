"""Which things of the graph a result's text names, and what the graph says of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import ahocorasick

from connections.models import Project
from connections.records import relations
from graph.copying import array_of_ids, array_of_texts
from graph.models.node import UNNAMED_TYPES
from graph.querysets import NodeQuerySet
from retrieval import mentions_sql
from retrieval.allowed import rows_among
from retrieval.ranking import boosted
from retrieval.results import GraphRelation, Result

# Of each thing and direction: so many relations, among so many edges looked at.
FAN_OUT, LOOKED_AT = 10, 60
# Names that begin and end with words of the texts; far more than texts ever name.
NAMES_MOST = 2000
# A word in more than this share of the nodes, and in so many, tells nothing.
COMMON_SHARE, COMMON_LEAST = 0.05, 100
NAME_LEAST = 2
_WORD = re.compile(r"\w+")
# Types are names of our own, fit to stand in a statement as the index has them.
_UNNAMED = "(" + ", ".join(f"'{name}'" for name in UNNAMED_TYPES) + ")"


@dataclass(frozen=True, slots=True)
class Named:
    """A thing of the graph, by its name."""

    node_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Link:
    """A relation of a thing, and the name of what is at its other end."""

    relation: GraphRelation
    far: str


def cross_reference(
    project: Project,
    nodes: NodeQuerySet,
    results: Sequence[Result],
    *,
    factor: float,
    now: datetime,
) -> tuple[Result, ...]:
    """Return `results` in their order, each with its entities; one whose text names a
    thing of the graph is boosted by `factor`, once, with the relations of all it names.

    `nodes` are all that the asker may see, filters of the search aside: no other name
    or relation is ever told. A result's own name does not count as a mention.
    """
    named = things_named(project, nodes, [result.text for result in results])
    others = [
        _others(result, things) for result, things in zip(results, named, strict=True)
    ]
    wanted = {thing.node_id for things in others for thing in things}
    links = links_of(
        project, nodes, wanted | {result.node_id for result in results}, now
    )
    return tuple(
        _referenced(result, things, links, factor)
        for result, things in zip(results, others, strict=True)
    )


def _others(result: Result, things: Iterable[Named]) -> list[Named]:
    own = _plain(result.title)
    return [
        thing
        for thing in things
        if thing.node_id != result.node_id and _plain(thing.name) != own
    ]


def _referenced(
    result: Result,
    things: Sequence[Named],
    links: Mapping[int, Sequence[Link]],
    factor: float,
) -> Result:
    own = (result.title,) if result.title else ()
    neighbours = (link.far for link in links.get(result.node_id, ()))
    entities = tuple(dict.fromkeys((*own, *result.entities, *neighbours)))
    result = replace(result, entities=entities)
    if not things or result.cross_referenced:
        return result
    told = (link.relation for thing in things for link in links.get(thing.node_id, ()))
    return replace(
        boosted(result, factor),
        cross_referenced=True,
        graph_relations=tuple(dict.fromkeys((*result.graph_relations, *told))),
    )


def things_named(
    project: Project, nodes: NodeQuerySet, texts: Sequence[str]
) -> list[tuple[Named, ...]]:
    """Return what of `nodes` each text names at word bounds, in any case, in one query.

    Of names within one another the longest counts. Names of over 100 characters are not
    looked for, nor are single words that are a person's or all over the project.
    """
    plain = [_plain(text) for text in texts]
    words = sorted({word for text in plain for word in _WORD.findall(text)})
    if not words:
        return [() for _ in texts]
    values = {
        "words": array_of_texts(words),
        "common_share": COMMON_SHARE,
        "common_least": COMMON_LEAST,
        "limit": NAMES_MOST,
    }
    rows = rows_among(
        nodes, project, mentions_sql.NAMED, values, prepared=True, unnamed=_UNNAMED
    )
    by_name: dict[str, list[Named]] = defaultdict(list)
    for node, title in rows:
        if len(name := _plain(title)) >= NAME_LEAST:
            by_name[name].append(Named(node, title))
    found = names_within(by_name, plain)
    return [
        tuple(thing for name in names for thing in by_name[name]) for names in found
    ]


def names_within(names: Iterable[str], texts: Sequence[str]) -> list[list[str]]:
    """Return the `names` in each text at word bounds, as they come; of names within one
    another only the longest."""
    automaton = ahocorasick.Automaton()
    for name in names:
        automaton.add_word(name, name)
    if not len(automaton):
        return [[] for _ in texts]
    automaton.make_automaton()
    return [_longest(automaton, text) for text in texts]


def _longest(automaton: ahocorasick.Automaton, text: str) -> list[str]:
    spans = [
        (last + 1 - len(name), last + 1, name)
        for last, name in automaton.iter(text)
        if _is_bounded(text, last + 1 - len(name), last + 1)
    ]
    spans.sort(key=lambda span: (span[0], -span[1]))
    kept, reached = [], 0
    for _, end, name in spans:
        if end > reached:
            kept.append(name)
            reached = end
    return list(dict.fromkeys(kept))


def _is_bounded(text: str, start: int, end: int) -> bool:
    return not (
        (start > 0 and _joins(text[start - 1], text[start]))
        or (end < len(text) and _joins(text[end], text[end - 1]))
    )


def _joins(beside: str, edge: str) -> bool:
    """Say whether the character beside a name would make it another: a letter beside a
    letter ("react" in "reaction"), or more of its sign ("c+" in "c++")."""
    return _is_word(beside) if _is_word(edge) else beside == edge


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def links_of(
    project: Project, nodes: NodeQuerySet, ids: Iterable[int], now: datetime
) -> dict[int, list[Link]]:
    """Return the relations, live at `now`, of each node to things that have a name, the
    weightiest first, in one query; what the asker may not see is not among them."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    from_texts, to_texts = _relations_of_texts()
    values = {
        "ids": array_of_ids(wanted),
        "now": now,
        "from_texts": from_texts,
        "to_texts": to_texts,
        "looked_at": LOOKED_AT,
        "fan_out": FAN_OUT,
    }
    rows = rows_among(
        nodes, project, mentions_sql.LINKS, values, prepared=True, unnamed=_UNNAMED
    )
    links: dict[int, list[Link]] = defaultdict(list)
    for near, near_title, is_outgoing, relation, far_title in rows:
        ends = (near_title, far_title) if is_outgoing else (far_title, near_title)
        links[near].append(Link(GraphRelation(ends[0], relation, ends[1]), far_title))
    return links


def _relations_of_texts() -> tuple[list[str], list[str]]:
    """Return the relations that only texts have, and those that only lead to texts."""

    def only_texts(types: str) -> bool:
        return set(types.split("|")) <= set(UNNAMED_TYPES)

    return (
        [name for name, known in relations.items() if only_texts(known.source)],
        [name for name, known in relations.items() if only_texts(known.target)],
    )


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
