"""Searches in the audit: what was asked, how much was found, and what was seen of it."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from connections.audit_notes import note_read
from connections.models import Project, User
from connections.records import JSON
from retrieval.results import SearchAnswer

VERB = "search.made"
# More than a page shows, and than one looks through.
NODES_MOST = 200


def note_search(
    project: Project,
    user: User | None,
    query: str,
    nodes: Iterable[int],
    *,
    through: str,
    found: int,
    token_id: UUID | None = None,
    profile: str = "",
) -> None:
    """Audit a search once its answer is known; `nodes` are those that are shown.

    `user` None is an operator, who searches without being a member.
    """
    seen: list[JSON] = [*nodes]
    note_read(
        VERB,
        target=through,
        project=project,
        actor=user,
        token_id=token_id,
        query=query,
        profile=profile,
        found=found,
        nodes=seen[:NODES_MOST],
    )


def note_answer(
    project: Project,
    user: User | None,
    answer: SearchAnswer,
    *,
    through: str,
    token_id: UUID | None = None,
) -> None:
    """Audit a search whose whole answer is shown."""
    note_search(
        project,
        user,
        answer.query,
        (result.node_id for result in answer.results),
        through=through,
        found=len(answer.results),
        token_id=token_id,
        profile=answer.profile,
    )
