"""Finding a project's communities anew: when, and how one follows from the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta

import numpy as np
from django.utils import timezone

from connections.models import Project
from graph.audiences import readable_with
from graph.copying import fetch, new_ids
from graph.models import Edge, Node
from retrieval.communities.describing import describe_all
from retrieval.communities.partition import (
    ALGORITHM,
    Found,
    communities_of,
    keep_names,
    links_by_audience,
    partition,
)
from retrieval.communities.reading import (
    Graph,
    places,
    read_graph,
    read_members,
)
from retrieval.communities.swap import Named, Refreshed, swap
from retrieval.models import CommunityRun

# A graph that grew by less has nearly the same communities.
GROWTH = 0.1
# A refresh may take this share of the time at most, and waits this long at least.
LEAST_PAUSE, PAUSES = timedelta(minutes=2), 20
LOCK = 0x636F_6D6D  # "comm"

Progress = Callable[[str], None]


class RefreshBusy(Exception):
    """Another process is finding this project's communities."""


def note_growth(project: Project) -> bool:
    """Mark the project's communities as due where its graph changed by a tenth; say
    whether it did. Runs after an ingest, the refresh itself in the background."""
    nodes = Node.objects.of(project).current().count()
    edges = Edge.objects.of(project).live().count()
    run = _run_of(project)
    changed = abs(nodes - run.nodes) > GROWTH * run.nodes
    if not changed and abs(edges - run.edges) <= GROWTH * run.edges:
        return False
    CommunityRun.objects.filter(pk=run.pk, due_since=None).update(
        due_since=timezone.now()
    )
    return True


def due_projects(now: datetime) -> list[int]:
    """Return the ids of the projects to refresh now, those that wait longest first.

    One whose refresh takes long waits longer for the next.
    """
    waiting = CommunityRun.objects.exclude(due_since=None).order_by("due_since", "pk")
    return [run.project_id for run in waiting if _has_paused(run, now)]


def _has_paused(run: CommunityRun, now: datetime) -> bool:
    if run.refreshed_at is None:
        return True
    pause = max(LEAST_PAUSE, timedelta(seconds=PAUSES * run.seconds))
    return now - run.refreshed_at >= pause


def refresh_communities(
    project: Project, *, afresh: bool = False, progress: Progress | None = None
) -> Refreshed:
    """Find the project's communities in its graph as it is, and put them in place.

    Leiden starts from the present ones, `afresh` from nothing; either way one that
    stays keeps its id. Until the one transaction at the end, and when killed before
    it, readers have the old ones. Raises `RefreshBusy` while another does the same.
    """
    report = progress or (lambda text: None)
    with _only_refresh_of(project):
        started, clock = timezone.now(), time.perf_counter()
        _run_of(project)
        report("reading the graph")
        graph = read_graph(project)
        report(f"{len(graph.ids)} nodes, {len(graph.sources)} edges: partitioning")
        before = _before(project, graph)
        found, quality = _find(project, graph, {} if afresh else before)
        named = _named(found, before)
        report(f"{len(named)} communities: describing")
        texts = describe_all(project, graph, named)
        refreshed = Refreshed(
            communities=len(named),
            kept=len({each.id for each in named} & set(before.values())),
            members=sum(len(each.found.places) for each in named),
            nodes=len(graph.ids),
            edges=len(graph.sources),
            modularity=quality,
            seconds=time.perf_counter() - clock,
            algorithm=ALGORITHM,
        )
        report(f"{len(named)} communities: putting them in place")
        swap(project, graph, named, texts, refreshed, started)
    return refreshed


@contextmanager
def _only_refresh_of(project: Project) -> Iterator[None]:
    """Hold the project by a session lock, which the server drops if we are killed."""
    if not fetch("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, project.pk])[0][0]:
        raise RefreshBusy(
            f"The communities of {project.path} are being found by another process;"
            " wait for it."
        )
    try:
        yield
    finally:
        fetch("SELECT pg_advisory_unlock(%s, %s)", [LOCK, project.pk])


def _run_of(project: Project) -> CommunityRun:
    run, _ = CommunityRun.objects.get_or_create(
        tenant_id=project.tenant_id, project=project
    )
    return run


def _before(project: Project, graph: Graph) -> dict[int, int]:
    """Return the community of each place that was in one."""
    nodes, communities = read_members(project)
    at, known = places(graph.ids, nodes)
    return dict(zip(at[known].tolist(), communities[known].tolist(), strict=True))


def _find(
    project: Project, graph: Graph, before: Mapping[int, int]
) -> tuple[list[Found], float | None]:
    """Return the communities of every audience, and the modularity of the partition
    of the one with most edges."""
    audiences = np.unique(graph.audiences).tolist()
    found: list[Found] = []
    most, quality = 0, None
    for links in links_by_audience(graph, readable_with(project, audiences)):
        parts = partition(links, before)
        found += communities_of(graph, links, parts)
        if len(links.weights) > most:
            most, quality = len(links.weights), parts.modularity
    return found, quality


def _named(found: Sequence[Found], before: Mapping[int, int]) -> list[Named]:
    names = keep_names([each.places for each in found], before)
    fresh = iter(new_ids("retrieval_communities", names.count(None)))
    return [
        Named(next(fresh) if name is None else name, each)
        for name, each in zip(names, found, strict=True)
    ]
