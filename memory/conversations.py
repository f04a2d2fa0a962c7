"""Conversations as rows: begun, and read back as they were answered."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import timezone

from connections.models import Project, User
from graph.audiences import Audiences
from graph.staleness import age_of, thresholds_of
from memory.answers import Call, ChatAnswer, Cited
from memory.models import Citation, Conversation, Turn
from memory.sql.tables import tables_of
from retrieval.results import FRESH, Contribution, Staleness

# The type, and the beginning of the key, of what rows of databases are cited by.
ROW = "db_table"


def start_conversation(project: Project, user: User, title: str) -> Conversation:
    """Return a new conversation that only `user` may see."""
    return Conversation.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        audience_id=Audiences(project).private_to(user),
        user=user,
        title=" ".join(title.split())[:200],
    )


def load_answer(
    turn: Turn, thresholds: Mapping[str, int | None] | None = None
) -> ChatAnswer:
    """Return a stored turn as it was answered, its sources as old as they are now.

    Give the project's `thresholds` where several turns are read.
    """
    if thresholds is None:
        thresholds = thresholds_of(turn.conversation.project)
    citations = turn.citations.select_related("node").order_by("n")
    return ChatAnswer(
        conversation=turn.conversation_id,
        turn=turn.pk,
        question=turn.question,
        answer=turn.answer,
        grounded=turn.grounded,
        citations=tuple(_load_citation(c, thresholds) for c in citations),
        calls=tuple(Call(**call) for call in turn.calls),
        effort=turn.effort,
        model=turn.model,
        state=turn.state,
        support=tuple(turn.support),
        unknown_numbers=turn.unknown_numbers,
        tables=tables_of(turn),
    )


def _load_citation(citation: Citation, thresholds: Mapping[str, int | None]) -> Cited:
    node = citation.node
    # A table that is no node (yet) is a table all the same.
    is_row = citation.key.startswith(f"{ROW}:")
    return Cited(
        n=citation.n,
        key=citation.key,
        node_id=citation.node_id,
        node_type=node.node_type if node else ROW if is_row else "",
        title=citation.title,
        context=node.context if node else "",
        url=citation.url,
        quote=citation.quote,
        timestamp=citation.timestamp,
        is_gone=not is_row if node is None else node.gone_at is not None,
        stale=stale_now(citation, thresholds),
        contributions={
            arm: Contribution(**given) for arm, given in citation.contributions.items()
        },
    )


def stale_now(citation: Citation, thresholds: Mapping[str, int | None]) -> Staleness:
    """Return how old what is cited is by now; rows of databases, and what is gone from
    the graph, have no age."""
    node = citation.node
    if node is None or citation.key.startswith(f"{ROW}:"):
        return FRESH
    return Staleness.of(age_of(node, timezone.now(), thresholds))
