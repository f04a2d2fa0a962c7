"""The walk arm: what lies around the best hits lends them its words.

A message is often found by what was said just before it. From the best text hits the
graph is walked along the conversation; each node then has each of the question's words
as well as the nearest node that says it, less `decay` for each hop between them. With
the option `learned` a hop costs less the more often its edge led to what was cited; no
profile sets it, for it was not found to help (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graph.copying import array_of_ids
from graph.embed import vector_type
from graph.learned_weights import learned_among
from graph.querysets import NodeQuerySet
from graph.steps import Terms, tied, ways
from retrieval import sql
from retrieval.allowed import rows_among
from retrieval.arms.base import Arm, Ask, Hit, Plan, arms
from retrieval.expressions import condition
from retrieval.fusion import RRF_K, fuse

# Along these a conversation goes on; people and places are not walked through, for
# they lie next to everything.
RELATIONS = ("follows", "replied_to")
SEEDS, DEPTH, FAN_OUT = 30, 3, 4
DECAY, MEANING, NAMED, PREFERRED = 0.7, 0.3, 0.04, 0.04
AROUND_A_NAME = 30


@dataclass(frozen=True, slots=True)
class _Read:
    """Nodes with what each says by itself: words by nodes x words, 0..1 each."""

    ids: tuple[int, ...]
    keys: tuple[str, ...]
    is_part: tuple[bool, ...]
    words: NDArray[np.float64]
    meaning: NDArray[np.float64]
    preferred: NDArray[np.float64]


def find(ask: Ask, plan: Plan) -> list[Hit]:
    """Return the best hits of the text arms and what lies around them and around the
    things the question names, best first.

    The score is the idf-weighted mean of the lent words, plus a share of the cosine
    similarity, and shares for being next to something the question names and for being
    of a time or kind that it prefers.
    """
    seeds = _seeds(ask, int(plan.number("seeds", SEEDS)))
    around = _ways(ask, seeds, RELATIONS, int(plan.number("depth", DEPTH)), FAN_OUT)
    named = [hint.node_id for hint in ask.parsed.hints if hint.node_id is not None]
    beside = _ways(ask, named, None, 1, AROUND_A_NAME)
    everything = {*seeds, *(end for way in around for end in way)}
    everything |= {far for _, far in beside}
    read = _read(ask, sorted(everything))
    if not read.ids:
        return []
    is_named = _those_named(ask, read.ids, named)
    return _best(ask, plan, read, _scores(ask, plan, read, around, is_named))


def _seeds(ask: Ask, most: int) -> list[int]:
    best = fuse(ask.hits, dict.fromkeys(ask.hits, 1.0), RRF_K, most)
    return [hit.node_id for hit in best]


def _terms(ask: Ask, relations: Sequence[str] | None, fan_out: int) -> Terms:
    return Terms.of(ask.project, relations, ask.filters.as_of, fan_out)


def _ways(
    ask: Ask,
    near: Sequence[int],
    relations: Sequence[str] | None,
    depth: int,
    fan_out: int,
) -> list[tuple[int, int]]:
    """Return the edges around, by their ends; `_read` drops what may not be seen."""
    if not near:
        return []
    terms = _terms(ask, relations, fan_out)
    nodes = ask.visible
    return ways(nodes.audiences, near, terms, depth=depth, using=nodes.db)


def _read(ask: Ask, ids: Sequence[int]) -> _Read:
    words, preferred = ask.words.words, ask.parsed.preferred
    values = {f"word_{place}": word.tsquery for place, word in enumerate(words)}
    each = (sql.WORD_MATCH.format(place=place) for place in range(len(words)))
    rows = rows_among(
        _lending(ask),
        ask.project,
        sql.AROUND,
        {
            **values,
            "ids": array_of_ids(ids),
            "model": ask.model_id,
            "vector": ask.vector,
            "prefers": bool(preferred.since or preferred.until or preferred.types),
            "since": preferred.since,
            "until": preferred.until,
            "types": list(preferred.types) or None,
        },
        prepared=True,
        each=", ".join(each),
        cast=vector_type(),
    )
    return _Read(
        tuple(row[0] for row in rows),
        tuple(row[1] for row in rows),
        tuple(row[2] for row in rows),
        np.array([row[3] for row in rows], dtype=float).reshape(len(rows), len(words)),
        np.array([row[4] for row in rows], dtype=float),
        np.array([row[5] for row in rows], dtype=float),
    )


def _lending(ask: Ask) -> NodeQuerySet:
    """Return what may lend its words: a filter binds what is found, not what is said
    beside it."""
    return ask.visible if ask.is_narrowed else ask.nodes


def _those_named(ask: Ask, ids: Sequence[int], named: Sequence[int]) -> frozenset[int]:
    """Return which of the nodes have an edge to something the question names."""
    if not named:
        return frozenset()
    terms = _terms(ask, None, FAN_OUT)
    nodes = ask.visible
    return tied(nodes.audiences, ids, named, terms, using=nodes.db)


def _scores(
    ask: Ask,
    plan: Plan,
    read: _Read,
    ways: Sequence[tuple[int, int]],
    named: frozenset[int],
) -> NDArray[np.float64]:
    depth = int(plan.number("depth", DEPTH))
    decay = _decay(ask, plan, read.ids, ways)
    lent = lend(read.words, _places(read.ids, ways), decay, depth)
    idf = np.array([word.idf for word in ask.words.words])
    said = lent @ idf / idf.sum() if len(idf) else np.zeros(len(read.ids))
    is_named = np.array([node in named for node in read.ids], dtype=float)
    return (
        said
        + plan.number("meaning", MEANING) * read.meaning
        + plan.number("named", NAMED) * is_named
        + plan.number("preferred", PREFERRED) * read.preferred
    )


def _places(ids: Sequence[int], ways: Sequence[tuple[int, int]]) -> NDArray[np.intp]:
    place = {node: at for at, node in enumerate(ids)}
    both = [(place[a], place[b]) for a, b in ways if a in place and b in place]
    return np.array(both, dtype=np.intp).reshape(len(both), 2)


def _decay(
    ask: Ask, plan: Plan, ids: Sequence[int], ways: Sequence[tuple[int, int]]
) -> float | NDArray[np.float64]:
    """Return what is left after a hop; after each of `ways`, where use counts."""
    decay, learned = plan.number("decay", DECAY), plan.number("learned", 0.0)
    if not learned:
        return decay
    uses: dict[tuple[int, int], float] = {}
    for edge in learned_among(ask.project, ids, ask.filters.as_of or ask.now):
        for ends in ((edge.source, edge.target), (edge.target, edge.source)):
            uses[ends] = uses.get(ends, 0.0) + edge.uses
    known = set(ids)
    kept = [way for way in ways if known.issuperset(way)]
    used = np.array([uses.get(way, 0.0) for way in kept], dtype=float)
    result: NDArray[np.float64] = decay ** (1 / (1 + learned * np.log1p(used)))
    return result.reshape(len(kept), 1)


def lend(
    words: NDArray[np.float64],
    ways: NDArray[np.intp],
    decay: float | NDArray[np.float64],
    hops: int,
) -> NDArray[np.float64]:
    """Return `words` (nodes x words) after each node took from its neighbours what
    they have more of, less `decay` a hop, over at most `hops` hops both ways.

    `decay` is of all ways, or ways x 1: of each its own.
    """
    near, far = ways[:, 0], ways[:, 1]
    for _ in range(hops):
        taken = words.copy()
        np.maximum.at(taken, near, decay * words[far])
        np.maximum.at(taken, far, decay * words[near])
        words = taken
    return words


def _best(ask: Ask, plan: Plan, read: _Read, scores: NDArray[np.float64]) -> list[Hit]:
    worth = np.flatnonzero(scores > 0)
    if not ask.is_narrowed and len(worth) > plan.pool:
        # No worse than the last that there is room for: few are put in order.
        last = np.partition(scores[worth], -plan.pool)[-plan.pool]
        worth = worth[scores[worth] >= last]
    hits = [
        Hit(read.ids[at], read.keys[at], float(scores[at]), read.is_part[at])
        for at in worth
    ]
    if ask.is_narrowed:
        kept = condition(sql.IS_ONE_OF, (array_of_ids([hit.node_id for hit in hits]),))
        found = set(ask.nodes.filter(kept).values_list("pk", flat=True))
        hits = [hit for hit in hits if hit.node_id in found]
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))[: plan.pool]


arms.add("walk", Arm(find, after=("keyword", "vector"), hops=DEPTH))
