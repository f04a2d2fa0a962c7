"""Asking one arm a question, as the search does."""

from __future__ import annotations

from connections.models import Project, User
from retrieval.arms.base import Ask, Hit, Plan, arms
from retrieval.results import Filters, Parsed
from tests.retrieval.asking import make_ask


def ask_for(
    project: Project,
    question: str,
    *,
    user: User | None = None,
    filters: Filters = Filters(),  # noqa: B008 - frozen
    typed: Filters = Filters(),  # noqa: B008
) -> Ask:
    return make_ask(
        project,
        question,
        user=user,
        filters=filters,
        parsed=Parsed(query=question, asked=question, typed=typed),
    )


def find(arm: str, ask: Ask, **plan: object) -> list[Hit]:
    return list(arms[arm].find(ask, Plan(**plan)))


def keys(arm: str, project: Project, question: str, **asking: object) -> list[str]:
    return [hit.key for hit in find(arm, ask_for(project, question, **asking))]


ODD = (
    "",
    "'",
    "\\",
    "a'b\\c",
    "%s %(x)s",
    "{allowed}",
    "&|!():*",
    "?" * 50,
    "💥",
    "the",
)
