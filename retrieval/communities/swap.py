"""New communities in the place of the old ones, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone

from connections.models import Project
from graph.copying import copy_rows, execute, fetch
from graph.embed import active_embedder
from graph.locks import lock_project
from retrieval.communities import sql
from retrieval.communities.partition import RESOLUTION, SEED, Found
from retrieval.communities.reading import Graph
from retrieval.communities.texts import Description, Text
from retrieval.models import CommunityRun


@dataclass(frozen=True, slots=True)
class Named:
    """A community with the id it has, or keeps."""

    id: int
    found: Found


@dataclass(frozen=True, slots=True)
class Described:
    """A community in words, and the texts that the words are of."""

    description: Description
    texts: tuple[Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a refresh found; `kept` are the communities that were there before."""

    communities: int
    kept: int
    members: int
    nodes: int
    edges: int
    modularity: float | None
    seconds: float
    algorithm: str


def swap(
    project: Project,
    graph: Graph,
    named: Sequence[Named],
    described: Mapping[int, Described],
    refreshed: Refreshed,
    started: datetime,
) -> None:
    """Put `named` in the place of the project's communities.

    What changed since the graph was read at `started` is left out, and makes the next
    refresh due: a text whose evidence says something else now, a member that is gone.
    """
    _, model = active_embedder()
    scope = {"tenant": project.tenant_id, "project": project.pk, "model": model.pk}
    with transaction.atomic():
        lock_project(project)
        _stage(graph, named, described)
        fetch(sql.HOLD_EVIDENCE, [])
        changed = execute(sql.DROP_CHANGED_TEXTS, [])
        execute(sql.DROP_CHANGED_MEMBERS, scope)
        # Members before texts: a trigger takes the text of what loses its evidence.
        execute(sql.DELETE_COMMUNITIES, scope)
        execute(sql.DELETE_MEMBERS, scope)
        execute(sql.WRITE_COMMUNITIES, scope)
        execute(sql.WRITE_MEMBERS, scope)
        _note(project, refreshed, started, is_due=changed > 0)


def _stage(
    graph: Graph, named: Sequence[Named], described: Mapping[int, Described]
) -> None:
    execute(sql.STAGE, [])
    audiences, counts = np.unique(graph.audiences, return_counts=True)
    nodes = dict(zip(audiences.tolist(), counts.tolist(), strict=True))
    copy_rows(
        "staged_communities",
        ("id", "audience_id", "share", "title", "summary", "lexemes", "title_lexemes"),
        (
            _community(each, described[each.id].description, nodes[each.found.audience])
            for each in named
        ),
    )
    copy_rows(
        "staged_members",
        ("node_id", "community_id", "centrality", "digest"),
        _members(graph, named, described),
    )
    execute("ANALYZE staged_communities", [])
    execute("ANALYZE staged_members", [])


def _community(each: Named, said: Description, nodes: int) -> tuple[Any, ...]:
    return (
        each.id,
        each.found.audience,
        len(each.found.places) / nodes,
        said.title,
        json.dumps([asdict(sentence) for sentence in said.summary]),
        list(said.lexemes),
        list(said.title_lexemes),
    )


def _members(
    graph: Graph, named: Sequence[Named], described: Mapping[int, Described]
) -> Iterator[tuple[int, int, float, str]]:
    for each in named:
        digests = {text.node_id: text.digest for text in described[each.id].texts}
        nodes = graph.ids[each.found.places].tolist()
        centralities = each.found.centrality.tolist()
        for node, centrality in zip(nodes, centralities, strict=True):
            yield node, each.id, centrality, digests.get(node, "")


def _note(
    project: Project, refreshed: Refreshed, started: datetime, *, is_due: bool
) -> None:
    # What came to be due while we worked has not been seen by us.
    seen = When(due_since__lte=started, then=Value(None))
    run = CommunityRun.objects.filter(tenant_id=project.tenant_id, project=project)
    run.update(
        algorithm=refreshed.algorithm,
        resolution=RESOLUTION,
        seed=SEED,
        modularity=refreshed.modularity,
        nodes=refreshed.nodes,
        edges=refreshed.edges,
        communities=refreshed.communities,
        seconds=refreshed.seconds,
        refreshed_at=timezone.now(),
        due_since=(timezone.now() if is_due else Case(seen, default=F("due_since"))),
    )
