"""A question to an arm, as search would put it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from connections.models import Project, User
from graph.embed import embed_backlog, embed_question
from retrieval.arms.base import Ask, Hit, Plan, arms
from retrieval.filters import narrowed
from retrieval.frequencies import count_lexemes
from retrieval.results import Filters, Parsed
from retrieval.search import visible_nodes
from retrieval.words import words_in


def index(project: Project) -> None:
    """Give the project's nodes their vectors, and count its words."""
    embed_backlog(project.pk)
    count_lexemes(project, always=True)


def make_ask(
    project: Project,
    question: str,
    *,
    user: User | None = None,
    filters: Filters | None = None,
    parsed: Parsed | None = None,
    **fields: Any,
) -> Ask:
    filters = filters or Filters()
    now = timezone.now()
    visible = visible_nodes(project, user, filters.as_of or now)
    vector, model = embed_question(question)
    given = {
        "project": project,
        "nodes": narrowed(visible, project, user, filters),
        "visible": visible,
        "parsed": parsed or Parsed(query=question, asked=question),
        "filters": filters,
        "words": words_in(project, question),
        "vector": vector,
        "model_id": model,
        "now": now,
    }
    return Ask(**{**given, **fields})


def found_by(arm: str, ask: Ask, plan: Plan | None = None) -> list[Hit]:
    return list(arms[arm].find(ask, plan or Plan()))


def keys(hits: Any) -> list[str]:
    return [hit.key for hit in hits]
