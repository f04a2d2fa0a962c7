"""Where the nodes of a project lie: found in the background, kept, and stable.

Nobody can tell from the place of a node what they may not see. Those that all may see
are placed first, by edges that all may see; then those of each closed audience, around
what its people may all see, which no longer moves. So a place follows only from what
every reader of that node may see too.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import graspologic_native
import numpy as np
from django.db import transaction
from django.utils import timezone
from numpy.typing import NDArray

from connections.models import Project
from graph import layouts_sql as sql
from graph.audiences import readable_with
from graph.copying import execute, fetch
from graph.forces import (
    GOLDEN,
    LENGTH,
    Places,
    Points,
    Ties,
    Weights,
    relax,
    spiral,
)

VERSION = 1
# The best tied nodes; others are put beside their neighbours when they are first shown.
LAID_OUT = 20_000
# While less than this share is new, what has a place stays exactly there; above one
# half, the places of before say too little to begin with.
FEW_NEW, MANY_NEW = 0.1, 0.5
# A layout that lacks this share of its nodes, or has so many too many, is due.
DUE = 0.1
SEED, RESOLUTION = 20_261_121, 1.0
STEPS, MILD = 150, LENGTH / 4
# What is tied to nothing that counts lies this far outside of all else.
OUTSIDE = 12 * LENGTH


@dataclass(frozen=True, slots=True)
class LaidOut:
    """How many nodes have their place now, and how many of those had one before."""

    placed: int
    kept: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Link:
    """An edge for the placing of its ends."""

    source: int
    target: int
    audience: int


@dataclass(frozen=True, slots=True)
class _Graph:
    """Nodes by their number here, and edges between numbers."""

    ids: Places
    audiences: Places
    ties: Ties
    edge_audiences: Places


def lay_out(project: Project, *, afresh: bool = False) -> LaidOut:
    """Find the places of the project's best tied nodes and keep them.

    Begins with the places there are, unless `afresh`: what hardly changed lies where
    it lay. When killed before the one transaction at its end, all is as it was.
    """
    clock = time.perf_counter()
    graph = _read(project)
    audiences = dict(zip(graph.ids.tolist(), graph.audiences.tolist(), strict=True))
    before = {} if afresh else _kept(project, audiences, VERSION)
    at = np.full((len(graph.ids), 2), np.nan)
    ties = np.zeros(len(graph.ids), dtype=np.int64)
    for own, edges in _tiers(project, graph):
        _place(graph, own, edges, before, at)
        ends = np.r_[graph.ties.sources[edges], graph.ties.targets[edges]]
        counted = np.bincount(ends, minlength=len(ties))
        ties[own] = counted[own]
    with transaction.atomic():
        _write(sql.REPLACE, project, audiences, at, ties.tolist(), VERSION)
        execute(sql.FORGET_OTHERS, {**_scope(project), "nodes": list(audiences)})
    return LaidOut(len(graph.ids), len(before), time.perf_counter() - clock)


def is_due(project: Project, now: datetime) -> bool:
    """Return whether the kept layout differs by a tenth from the nodes there are."""
    nodes, placed, hold = fetch(sql.COUNTS, {**_scope(project), "now": now})[0]
    wanted = min(nodes, LAID_OUT)
    return max(wanted - hold, placed - hold) > DUE * wanted


def places_of(
    project: Project, audiences: Mapping[int, int], links: Iterable[Link]
) -> dict[int, tuple[float, float]]:
    """Return the places of nodes, given each with its audience.

    What has none gets one beside those of its neighbours by `links` that all its
    readers may see, and keeps it.
    """
    found = _kept(project, audiences, 0)
    new = [node for node in audiences if node not in found]
    if new:
        ties = _beside(project, new, audiences, links, found)
        at = np.array([found[node] for node in new])
        placed = {node: audiences[node] for node in new}
        _write(sql.ADD, project, placed, at, [ties[node] for node in new], 0)
    return found


def _beside(
    project: Project,
    new: Sequence[int],
    audiences: Mapping[int, int],
    links: Iterable[Link],
    found: dict[int, tuple[float, float]],
) -> dict[int, int]:
    """Add the places of `new` to `found`; return how many of `links` count for each."""
    readable = readable_with(project, list({audiences[node] for node in new}))
    wanted, near = set(new), defaultdict(list)
    for link in links:
        for one, other in ((link.source, link.target), (link.target, link.source)):
            if one in wanted and other in audiences:
                may = readable[audiences[one]]
                if link.audience in may and audiences[other] in may:
                    near[one].append(other)
    # Those with fewer readers last, so that none waits for one that follows from it.
    order = sorted(new, key=lambda node: (len(readable[audiences[node]]), node))
    for node in order:
        placed = [found[other] for other in near[node] if other in found]
        found[node] = _place_by(node, placed)
    return {node: len(near[node]) for node in new}


def _place_by(node: int, placed: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return a place by the middle of `placed`, to a side that is the node's own."""
    angle = node * GOLDEN
    if placed:
        x, y = np.mean(placed, axis=0)
        away = LENGTH * (0.7 + node % 7 / 10)
    else:
        x, y, away = 0.0, 0.0, OUTSIDE + node % 89 * LENGTH / 8
    return float(x + away * np.cos(angle)), float(y + away * np.sin(angle))


def _read(project: Project) -> _Graph:
    scope: dict[str, Any] = {**_scope(project), "now": timezone.now()}
    nodes = sorted(fetch(sql.NODES, {**scope, "most": LAID_OUT}))
    ids = np.array([node for node, _ in nodes], dtype=np.int64)
    edges = fetch(sql.EDGES, {**scope, "nodes": ids.tolist()})
    ends = np.array([edge[:3] for edge in edges], dtype=np.int64).reshape(-1, 3)
    weights = np.array([edge[3] for edge in edges], dtype=float)
    return _Graph(
        ids=ids,
        audiences=np.array([audience for _, audience in nodes], dtype=np.int64),
        ties=Ties(
            np.searchsorted(ids, ends[:, 0]),
            np.searchsorted(ids, ends[:, 1]),
            # Of an edge that was said a hundred times the pull is some five times one.
            np.log1p(weights),
        ),
        edge_audiences=ends[:, 2],
    )


def _tiers(project: Project, graph: _Graph) -> Iterator[tuple[Places, Places]]:
    """Yield the nodes of each audience with the edges that place them, those that the
    most may see first: all ends of these edges, and they, may be seen with the node."""
    audiences = np.unique(graph.audiences).tolist()
    readable = readable_with(project, audiences)
    at_source = graph.audiences[graph.ties.sources]
    at_target = graph.audiences[graph.ties.targets]
    # Each edge under the audiences of both its ends, in runs of one audience.
    number = np.arange(len(at_source))
    crossing = at_source != at_target
    under = np.r_[at_source, at_target[crossing]]
    edges = np.r_[number, number[crossing]]
    order = np.argsort(under, kind="stable")
    under, edges = under[order], edges[order]
    for audience in sorted(audiences, key=lambda each: (len(readable[each]), each)):
        first, last = np.searchsorted(under, [audience, audience + 1])
        own, may = edges[first:last], np.asarray(readable[audience])
        seen = (
            np.isin(at_source[own], may)
            & np.isin(at_target[own], may)
            & np.isin(graph.edge_audiences[own], may)
        )
        yield np.flatnonzero(graph.audiences == audience), own[seen]


def _place(
    graph: _Graph,
    own: Places,
    edges: Places,
    before: Mapping[int, tuple[float, float]],
    at: Points,
) -> None:
    """Put the places of `own` into `at`; whatever else has one there stays put."""
    sources, targets = graph.ties.sources[edges], graph.ties.targets[edges]
    members = np.union1d(own, np.r_[sources, targets])
    is_own = np.isin(members, own)
    there = is_own | ~np.isnan(at[members, 0])
    members, is_own = members[there], is_own[there]
    inside = np.isin(sources, members) & np.isin(targets, members)
    ties = Ties(
        np.searchsorted(members, sources[inside]),
        np.searchsorted(members, targets[inside]),
        graph.ties.weights[edges][inside],
    )
    start = at[members]
    for place, node in zip(np.flatnonzero(is_own), graph.ids[own], strict=True):
        start[place] = before.get(int(node), (np.nan, np.nan))
    at[own] = _settled(start, ties, is_own)[is_own]


def _settled(start: Points, ties: Ties, is_own: NDArray[np.bool_]) -> Points:
    """Return where points rest that have a place, or none (NaN), in `start`."""
    is_new = np.isnan(start[:, 0])
    share = is_new.sum() / max(1, is_own.sum())
    if share > MANY_NEW:
        return relax(_begun(start, ties, is_own), ties, movable=is_own, steps=STEPS)
    start = _filled(start, ties)
    movable = is_new if share <= FEW_NEW else is_own
    return relax(start, ties, movable=movable, heat=MILD) if is_new.any() else start


def _begun(start: Points, ties: Ties, is_own: NDArray[np.bool_]) -> Points:
    """Return first places from nothing: by community where nothing else is placed."""
    if not is_own.all():
        return _filled(np.where(is_own[:, None], np.nan, start), ties)
    begun = spiral(len(start))
    # What is not tied at all would only hold the communities apart.
    tied = np.unique(np.r_[ties.sources, ties.targets])
    if len(tied) < 3:
        return begun
    labels = _communities(ties, len(start))
    order = np.lexsort((np.arange(len(start)), labels))
    numbers, first, sizes = np.unique(
        labels[order], return_index=True, return_counts=True
    )
    centres = _centres(ties, labels, len(numbers), sizes)
    for centre, begins, size in zip(centres, first, sizes, strict=True):
        begun[order[begins : begins + size]] = centre + spiral(size)
    return begun


def _communities(ties: Ties, count: int) -> Places:
    """Return the number of each point's community; the untied are one together."""
    edges = [
        (str(source), str(target), weight)
        for source, target, weight in zip(
            ties.sources.tolist(),
            ties.targets.tolist(),
            ties.weights.tolist(),
            strict=True,
        )
    ]
    _, found = graspologic_native.leiden(
        edges,
        starting_communities=None,
        resolution=RESOLUTION,
        iterations=1,
        seed=SEED,
        use_modularity=True,
    )
    labels = np.array([found.get(str(place), -1) for place in range(count)])
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _centres(ties: Ties, labels: Places, count: int, sizes: Places) -> Points:
    """Return places for communities: tied as their members are, with room for all."""
    sources, targets = labels[ties.sources], labels[ties.targets]
    between = sources != targets
    pairs = np.minimum(sources, targets) * count + np.maximum(sources, targets)
    found, number = np.unique(pairs[between], return_inverse=True)
    summed = np.bincount(number, ties.weights[between], len(found))
    weights: Weights = summed.astype(float)
    tied = Ties(found // count, found % count, weights / max(weights.max(initial=1), 1))
    room = 1.6 * np.sqrt(sizes.mean())
    return relax(spiral(count), tied) * room


def _filled(start: Points, ties: Ties) -> Points:
    """Return `start` with the places it lacks: by the neighbours that have one."""
    at = start.copy()
    for _ in range(3):
        lacking = np.isnan(at[:, 0])
        total = np.zeros((len(at), 3))
        for one, other in ((ties.sources, ties.targets), (ties.targets, ties.sources)):
            known = ~lacking[other]
            for axis in (0, 1):
                total[:, axis] += np.bincount(
                    one[known], at[other[known], axis], len(at)
                )
            total[:, 2] += np.bincount(one[known], minlength=len(at))
        found = lacking & (total[:, 2] > 0)
        if not found.any():
            break
        beside = total[found, :2] / total[found, 2:]
        angle = np.flatnonzero(found) * GOLDEN
        at[found] = beside + LENGTH * np.column_stack((np.cos(angle), np.sin(angle)))
    lacking = np.isnan(at[:, 0])
    outside = np.abs(at[~lacking]).max(initial=0.0) + LENGTH
    angle = np.flatnonzero(lacking) * GOLDEN
    at[lacking] = outside * np.column_stack((np.cos(angle), np.sin(angle)))
    return at


def _kept(
    project: Project, audiences: Mapping[int, int], version: int
) -> dict[int, tuple[float, float]]:
    """Return the places kept of nodes, given each with its audience, that a layout of
    `version` or later found for that audience."""
    rows = fetch(sql.KEPT, {**_scope(project), **_columns(audiences)})
    return {node: (x, y) for node, x, y, found in rows if found >= version}


def _write(
    statement: str,
    project: Project,
    audiences: Mapping[int, int],
    at: Points,
    ties: Sequence[int],
    version: int,
) -> None:
    values = {
        **_columns(audiences),
        "xs": at[:, 0].tolist(),
        "ys": at[:, 1].tolist(),
        "ties": list(ties),
        "version": version,
    }
    execute(statement, {**_scope(project), **values})


def _columns(audiences: Mapping[int, int]) -> dict[str, list[int]]:
    return {"nodes": list(audiences), "audiences": list(audiences.values())}


def _scope(project: Project) -> dict[str, int]:
    return {"tenant": project.tenant_id, "project": project.pk}
