"""Search: a question in, ranked and explained results out."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime

from django.db.models import F
from django.utils import timezone

from connections.models import Project, User
from connections.registry import Registry
from graph.embed import with_vector
from graph.models.node import MEMORY
from graph.querysets import NodeQuerySet
from retrieval.arms.base import IS_PART, NO_FILTERS, Ask, arms
from retrieval.effort import effort
from retrieval.filters import narrowed
from retrieval.fusion import Fused, as_found, fuse
from retrieval.models import SearchableNode
from retrieval.profiles import Profile, profiles
from retrieval.query import parse
from retrieval.reading import read_results
from retrieval.refining import refine
from retrieval.results import Filters, Parsed, SearchAnswer
from retrieval.running import Found, run_arms
from retrieval.words import Words, words_in

# What higher layers know that no search may find now, though its row is there yet:
# name -> function(project, user) -> ids of nodes, few.
left_out: Registry[Callable[[Project, User | None], Sequence[int]]] = Registry(
    "reason to leave nodes out"
)
# Parts of one file are folded into one result, and near-duplicates into one, so more
# are ranked and read than asked for.
FOLDING, MERGING = 4, 10
QUESTION_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of which nodes."""

    project: Project
    parsed: Parsed
    filters: Filters
    visible: NodeQuerySet
    nodes: NodeQuerySet
    now: datetime

    def ask(self, words: Words, vector: str | None, model_id: int) -> Ask:
        """Return it as arms are asked, with its words and its vector."""
        return Ask(
            project=self.project,
            nodes=self.nodes,
            visible=self.visible,
            parsed=self.parsed,
            filters=self.filters,
            words=words,
            vector=vector,
            model_id=model_id,
            now=self.now,
        )

    def words(self) -> Words:
        return words_in(self.project, self.parsed.asked, using=self.nodes.db)


def search(
    project: Project,
    query: str,
    *,
    user: User | None,
    limit: int = 20,
    profile: str = "default",
    filters: Filters = NO_FILTERS,
    ignore: Collection[str] = (),
) -> SearchAnswer:
    """Return what `user` may see that answers `query`, best first.

    `user` None is an operator's read of the whole project. An empty query returns the
    most recent items. `ignore` names what parsing should not infer. Raises
    `UnknownName` for a profile that does not exist, `UnusableOperator` for a filter in
    the query that means nothing, and `GraphUnavailable` where the graph cannot be read.
    """
    started = time.perf_counter()
    recipe = profiles[profile]
    asked = understood(project, query, user, filters, recipe, ignore)
    if asked.parsed.asked:
        found = _find(asked, recipe)
        ranked = _ranked(found, recipe, (limit + MERGING) * FOLDING)
        counts = {name: len(hits) for name, hits in found.hits.items()}
    else:
        found, ranked = Found(), _recent(asked.nodes, limit * FOLDING)
        counts = {"recent": len(ranked)}
    results = read_results(
        asked.visible,
        project,
        ranked,
        now=asked.now,
        limit=limit + MERGING * recipe.merge,
        scaled=recipe.k is not None,
    )
    refined = refine(
        results,
        recipe,
        project=project,
        visible=asked.visible,
        question=asked.parsed.asked,
        now=asked.now,
        limit=limit,
    )
    dropped = {
        **found.dropped,
        **({"rerank": refined.dropped} if refined.dropped else {}),
    }
    return SearchAnswer(
        query=query,
        parsed=asked.parsed,
        profile=profile,
        results=refined.results,
        arms=counts,
        took_ms=(time.perf_counter() - started) * 1000,
        timings=found.timings,
        effort=effort(arms=counts, hops=_hops(found, recipe), tokens=refined.tokens),
        dropped=dropped,
        reranked_by=refined.reranked_by,
    )


def _ranked(found: Found, recipe: Profile, limit: int) -> list[Fused]:
    if recipe.k is None:
        return as_found(found.hits)[:limit]
    return fuse(found.hits, recipe.weights, recipe.k, limit)


def _hops(found: Found, recipe: Profile) -> int:
    """Return how far the arms that walked went, together."""
    return sum(
        arms[name].hops_of(recipe.arms[name])
        for name, hits in found.hits.items()
        if hits
    )


def understood(
    project: Project,
    query: str,
    user: User | None,
    filters: Filters,
    recipe: Profile,
    ignore: Collection[str] = (),
) -> Question:
    """Return a question as parsed, with the nodes that `user` may see and find."""
    now = timezone.now()
    visible = visible_nodes(project, user, filters.as_of or now)
    if filters.as_of is None and (gone := _left_out(project, user)):
        visible = visible.exclude(pk__in=gone)
    parsed = parse(
        project,
        query[:QUESTION_CHARACTERS],
        nodes=visible,
        now=now,
        ignore=ignore,
        spelling=recipe.spelling,
    )
    filters = _both(filters, parsed.typed)
    nodes = narrowed(visible, project, user, filters, entities=recipe.entities)
    return Question(project, parsed, filters, visible, nodes, now)


def _left_out(project: Project, user: User | None) -> list[int]:
    return [node for find in left_out.values() for node in find(project, user)]


def _both(given: Filters, typed: Filters) -> Filters:
    """Return filters that keep what both keep, as far as one filter can say it."""
    said = {
        field.name: value
        for field in fields(Filters)
        if (value := getattr(typed, field.name))
    }
    if given.since and typed.since:
        said["since"] = max(given.since, typed.since)
    if given.until and typed.until:
        said["until"] = min(given.until, typed.until)
    if typed.tags:
        said["tags"] = tuple(dict.fromkeys((*given.tags, *typed.tags)))
    return replace(given, **said)


def _find(asked: Question, recipe: Profile) -> Found:
    words = asked.words()

    def by(vector: str | None, model_id: int) -> Found:
        return run_arms(asked.ask(words, vector, model_id), recipe.arms)

    return with_vector(asked.parsed.asked, by)


def visible_nodes(
    project: Project, user: User | None, moment: datetime
) -> NodeQuerySet:
    """Return the nodes of the project that `user` may read, as they were valid then."""
    nodes = SearchableNode.objects.all()
    if user is not None:
        nodes = nodes.visible_to(user)
    return nodes.of(project).current().as_of(moment)


def _recent(nodes: NodeQuerySet, limit: int) -> list[Fused]:
    """Return the latest nodes of the graph, then those of memory."""
    latest = nodes.annotate(is_part=IS_PART).order_by(
        F("occurred_at").desc(nulls_last=True), "key"
    )
    stores = (latest.exclude(origin=MEMORY), latest.filter(origin=MEMORY))
    rows = [
        row
        for store in stores
        for row in store.values_list("pk", "key", "is_part")[:limit]
    ]
    return [
        Fused(node, key, is_part, 1 / rank, {})
        for rank, (node, key, is_part) in enumerate(rows, start=1)
    ]
