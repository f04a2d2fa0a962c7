"""What comes after fusion, where a profile asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from django.conf import settings

from connections.models import Project
from graph.querysets import NodeQuerySet
from retrieval.mentions import cross_reference
from retrieval.merge import cap_each_store, merge_near_duplicates
from retrieval.profiles import Profile
from retrieval.ranking import in_order, weighed
from retrieval.rerank import Candidate, rerank
from retrieval.results import Result


@dataclass(frozen=True, slots=True)
class Refined:
    """Results in their final order; who ranked them anew, or why nobody did."""

    results: tuple[Result, ...]
    reranked_by: str = ""
    dropped: str | None = None
    tokens: int = 0


def refine(
    results: Sequence[Result],
    recipe: Profile,
    *,
    project: Project,
    visible: NodeQuerySet,
    question: str,
    now: datetime,
    limit: int,
) -> Refined:
    """Return the best `limit` of `results` after the steps of their profile, in order
    of their scores."""
    if recipe.cap:
        results = cap_each_store(results, settings.FABRIC["MAX_RESULTS"])
    if recipe.merge:
        results = merge_near_duplicates(
            results, settings.FABRIC["DEDUP_THRESHOLD"], least=recipe.merge_words
        )
    refer = partial(cross_reference, project, visible, now=now)
    if recipe.cross_reference and recipe.boost:
        results = refer(results, factor=settings.FABRIC["BOOST_FACTOR"])
    refined = _reranked(results, recipe, question)
    results = refined.results
    if recipe.weigh:
        results = [weighed(result, now) for result in results]
    results = in_order(results)[:limit]
    if recipe.cross_reference and not recipe.boost:
        # It changes no score, so that only what is shown is looked up.
        results = refer(results, factor=1.0)
    return replace(refined, results=tuple(results))


def _reranked(results: Sequence[Result], recipe: Profile, question: str) -> Refined:
    name = (settings.FABRIC["RERANKER"] or recipe.rerank) if recipe.rerank else ""
    if not name:
        return Refined(tuple(results))
    candidates = [
        Candidate("\n".join((one.title, one.text)), one.score) for one in results
    ]
    judged = rerank(name, question, candidates)
    ranked = tuple(
        replace(results[place], score=score)
        for place, score in zip(judged.order, judged.scores, strict=True)
    )
    return Refined(ranked, judged.by, judged.dropped, judged.tokens)
