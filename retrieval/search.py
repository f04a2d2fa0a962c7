"""Search: a question in, ranked and explained results out."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import F
from django.utils import timezone

from connections.models import Project, User
from graph.embed import embed_question, structure_types
from graph.models import Edge, Node
from graph.staleness import age_of
from retrieval.filters import narrowed
from retrieval.models import SearchableNode
from retrieval.profiles import Profile, profiles
from retrieval.ranked import Ranked, RankedQuerySet, Ranking
from retrieval.results import Filters, Result, SearchAnswer, Staleness

AUTHORITY = 1.1
RECENCY_DAYS, RECENCY_LEAST = 30, 0.1
# Parts of one file are folded into one result, so more are ranked than asked for.
FOLDING = 4
QUESTION_CHARACTERS = 2000
NO_FILTERS = Filters()


def search(
    project: Project,
    query: str,
    *,
    user: User | None,
    limit: int = 20,
    profile: str = "default",
    filters: Filters = NO_FILTERS,
) -> SearchAnswer:
    """Return what `user` may see that answers `query`, best first.

    `user` None is an operator's read of the whole project. An empty query returns the
    most recent items. Raises `UnknownName` for a profile that does not exist.
    """
    started = time.perf_counter()
    recipe = profiles[profile]
    question = " ".join(query.replace("\x00", " ").split())[:QUESTION_CHARACTERS]
    nodes = allowed_nodes(project, user, filters)
    if question:
        ranking = _rank(nodes, project, question, recipe, limit * FOLDING)
    else:
        ranking = _recent(nodes, limit * FOLDING)
    results = _results(project, user, ranking.best, limit)
    return SearchAnswer(
        query=query,
        profile=profile,
        results=results,
        arms=ranking.arms,
        took_ms=(time.perf_counter() - started) * 1000,
        effort=effort(arms=ranking.arms),
        filters=filters,
    )


def effort(*, arms: Mapping[str, int], calls: int = 0, tokens: int = 0) -> int:
    """Return Λ, the effort an answer took, as a small whole number.

    One for each arm that found something, the binary logarithm of the candidates they
    scored, two for each call of a tool, and one for every thousand model tokens.
    """
    worked = sum(1 for found in arms.values() if found)
    scored = math.ceil(math.log2(1 + sum(arms.values())))
    return worked + scored + 2 * calls + math.ceil(tokens / 1000)


def allowed_nodes(
    project: Project, user: User | None, filters: Filters
) -> RankedQuerySet:
    """Return the nodes that a search of `user` may find."""
    nodes = SearchableNode.objects.all()
    if user is not None:
        nodes = nodes.visible_to(user)
    nodes = nodes.of(project).current()
    nodes = nodes.as_of(filters.as_of) if filters.as_of else nodes.as_of(timezone.now())
    if filters.types:
        nodes = nodes.filter(node_type__in=filters.types)
    else:
        nodes = nodes.exclude(node_type__in=structure_types())
    if filters.sources:
        nodes = nodes.filter(source_kind__in=filters.sources)
    if filters.tags:
        nodes = nodes.filter(tags__contains=[tag.lower() for tag in filters.tags])
    if filters.since:
        nodes = nodes.filter(occurred_at__gte=filters.since)
    if filters.until:
        nodes = nodes.filter(occurred_at__lt=filters.until)
    if filters.people or filters.channels:
        edges = Edge.objects.all() if user is None else Edge.objects.visible_to(user)
        nodes = narrowed(nodes, project, edges, filters)
    return nodes


def _rank(
    nodes: RankedQuerySet, project: Project, question: str, recipe: Profile, limit: int
) -> Ranking:
    vector, model_id = embed_question(question)
    return nodes.ranked(project, question, vector, model_id, recipe, limit=limit)


def _recent(nodes: RankedQuerySet, limit: int) -> Ranking:
    latest = nodes.order_by(F("occurred_at").desc(nulls_last=True), "key")
    rows = latest.values_list("pk", "key", "node_type", "metadata__piece")[:limit]
    best = tuple(
        Ranked(node, key, 1 / rank, {}, kind == "section" or piece is not None)
        for rank, (node, key, kind, piece) in enumerate(rows, start=1)
    )
    return Ranking(best, {"recent": len(best)})


def _results(
    project: Project, user: User | None, ranked: Sequence[Ranked], limit: int
) -> tuple[Result, ...]:
    nodes = Node.objects.all() if user is None else Node.objects.visible_to(user)
    nodes = nodes.select_related("record").defer(
        "search_vector", "embedding", "record__body"
    )
    folded: dict[str, Ranked] = {}
    for hit in ranked:
        folded.setdefault(hit.whole_key, hit)
    best_hits = dict(list(folded.items())[:limit])
    by_id = nodes.in_bulk([hit.node_id for hit in best_hits.values()])
    # A node may have gone since it was ranked.
    kept = {
        key: (hit, by_id[hit.node_id])
        for key, hit in best_hits.items()
        if hit.node_id in by_id
    }
    parts = [key for key, hit in best_hits.items() if key != hit.key]
    wholes = {
        node.key: node
        for node in (nodes.of(project).filter(key__in=parts) if parts else ())
    }
    best = max((hit.score for hit, _ in kept.values()), default=1.0)
    now = timezone.now()
    return tuple(
        _result(hit, node, wholes.get(key, node), best, now)
        for key, (hit, node) in kept.items()
    )


def _result(hit: Ranked, part: Node, whole: Node, best: float, now: datetime) -> Result:
    metadata = dict(whole.metadata)
    if part is not whole:
        metadata |= {
            "part": part.key,
            "part_node_id": part.pk,
            "part_title": part.title,
        }
    said = part.occurred_at or whole.occurred_at
    days = max(0, (now - said).days) if said else None
    age = age_of(whole, now)
    return Result(
        key=whole.key,
        node_id=whole.pk,
        node_type=whole.node_type,
        title=whole.title or part.title,
        text=part.content,
        context=part.context,
        url=part.url or whole.url,
        score=hit.score,
        relevance=hit.score / best if best else 0.0,
        recency=(
            RECENCY_LEAST
            if days is None
            else max(RECENCY_LEAST, 1 - days / RECENCY_DAYS)
        ),
        authority=AUTHORITY,
        timestamp=said,
        source_kind=whole.source_kind,
        tags=tuple(whole.tags),
        is_gone=whole.gone_at is not None,
        stale=Staleness(age.is_stale, age.days, age.threshold),
        contributions=hit.contributions,
        metadata=metadata,
    )
