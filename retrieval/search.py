"""Search: a question in, ranked and explained results out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from connections.models import Project, User
from graph.embed import embed_question, structure_types
from graph.models import Edge
from graph.querysets import NodeQuerySet
from retrieval.arms.base import IS_PART, Ask
from retrieval.effort import effort
from retrieval.fusion import Fused, fuse
from retrieval.merge import merge_near_duplicates
from retrieval.models import SearchableNode
from retrieval.profiles import Profile, profiles
from retrieval.ranking import in_order, weighed
from retrieval.reading import read_results
from retrieval.results import Filters, Parsed, Result, SearchAnswer
from retrieval.running import Found, run_arms
from retrieval.words import words_in

# Parts of one file are folded into one result, and near-duplicates into one, so more
# are ranked and read than asked for.
FOLDING, MERGING = 4, 10
QUESTION_CHARACTERS = 2000
NO_FILTERS = Filters()
OPERATORS = ('"', " -", " or ", " OR ")


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
    most recent items. Raises `UnknownName` for a profile that does not exist, and
    `GraphUnavailable` where the graph cannot be read.
    """
    started, now = time.perf_counter(), timezone.now()
    recipe = profiles[profile]
    question = " ".join(query.replace("\x00", " ").split())[:QUESTION_CHARACTERS]
    visible = visible_nodes(project, user, filters.as_of or now)
    nodes = narrowed(visible, project, user, filters)
    parsed = _parse(question)
    if question:
        found = run_arms(
            _ask(project, nodes, visible, parsed, filters, now), recipe.arms
        )
        ranked = fuse(found.hits, recipe.weights, recipe.k, (limit + MERGING) * FOLDING)
        arms = {name: len(hits) for name, hits in found.hits.items()}
    else:
        found, ranked = Found(), _recent(nodes, limit * FOLDING)
        arms = {"recent": len(ranked)}
    results = read_results(
        visible, project, ranked, now=now, limit=limit + MERGING * recipe.merge
    )
    return SearchAnswer(
        query=query,
        parsed=parsed,
        profile=profile,
        results=_refined(results, recipe, now)[:limit],
        arms=arms,
        took_ms=(time.perf_counter() - started) * 1000,
        timings=found.timings,
        effort=effort(arms=arms),
        dropped=found.dropped,
    )


def _parse(question: str) -> Parsed:
    operators = question.startswith("-") or any(o in question for o in OPERATORS)
    return Parsed(query=question, asked=question, websearch=operators)


def _ask(
    project: Project,
    nodes: NodeQuerySet,
    visible: NodeQuerySet,
    parsed: Parsed,
    filters: Filters,
    now: datetime,
) -> Ask:
    vector, model_id = embed_question(parsed.asked)
    return Ask(
        project=project,
        nodes=nodes,
        visible=visible,
        parsed=parsed,
        filters=filters,
        words=words_in(project, parsed.asked, using=nodes.db),
        vector=vector,
        model_id=model_id,
        now=now,
    )


def _refined(
    results: Sequence[Result], recipe: Profile, now: datetime
) -> tuple[Result, ...]:
    """Return `results` after the steps their profile asks for."""
    if recipe.merge:
        results = merge_near_duplicates(results, 0.85)
    if recipe.weigh:
        results = [weighed(result, now) for result in results]
    return in_order(results)


def visible_nodes(
    project: Project, user: User | None, moment: datetime
) -> NodeQuerySet:
    """Return the nodes of the project that `user` may read, as they were valid then."""
    nodes = SearchableNode.objects.all()
    if user is not None:
        nodes = nodes.visible_to(user)
    return nodes.of(project).current().as_of(moment)


def narrowed(
    nodes: NodeQuerySet, project: Project, user: User | None, filters: Filters
) -> NodeQuerySet:
    """Return those of `nodes` that a search with `filters` may find."""
    if filters.types:
        nodes = nodes.filter(node_type__in=filters.types)
    else:
        # What was read out of texts is found by relations: its words are the texts'.
        nodes = nodes.exclude(node_type__in=structure_types())
        nodes = nodes.exclude(origin="extraction")
    if filters.sources:
        nodes = nodes.filter(source_kind__in=filters.sources)
    if filters.tags:
        nodes = nodes.filter(tags__contains=[tag.lower() for tag in filters.tags])
    if filters.since:
        nodes = nodes.filter(occurred_at__gte=filters.since)
    if filters.until:
        nodes = nodes.filter(occurred_at__lt=filters.until)
    if filters.people:
        nodes = nodes.filter(_of_people(project, user, filters.people))
    return nodes


def _of_people(project: Project, user: User | None, people: Sequence[str]) -> Exists:
    named = Q(target__key__in=people) | Q(target__identities__key__in=people)
    for person in people:
        named |= Q(target__node_type="person", target__title__iexact=person)
    edges = Edge.objects.all() if user is None else Edge.objects.visible_to(user)
    return Exists(
        edges.of(project).filter(
            named,
            source=OuterRef("pk"),
            relation__in=("sent_by", "mentions", "attended"),
        )
    )


def _recent(nodes: NodeQuerySet, limit: int) -> list[Fused]:
    latest = nodes.annotate(is_part=IS_PART).order_by(
        F("occurred_at").desc(nulls_last=True), "key"
    )
    rows = latest.values_list("pk", "key", "is_part")[:limit]
    return [
        Fused(node, key, is_part, 1 / rank, {})
        for rank, (node, key, is_part) in enumerate(rows, start=1)
    ]
