"""A conversation as its reader may see it now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rest_framework.request import Request

from connections.api.permissions import caller, visible
from connections.models import Project
from graph.models import Node
from graph.staleness import thresholds_of
from memory.agent.storing import settle_dead
from memory.api.serializers import ConversationSerializer
from memory.conversations import stale_now
from memory.models import Citation, Conversation, Turn
from memory.sql.result_grids import ShownTurnTable, shown_turn_tables
from memory.sql.tables import as_shown
from retrieval.results import utc


def own_conversations(request: Request) -> Any:
    """Return the caller's own conversations, in projects they still belong to."""
    rows = visible(Conversation.objects.all(), request).filter(user=caller(request))
    return rows.select_related("project__tenant")


def conversation_with_turns(found: Conversation, request: Request) -> dict[str, Any]:
    """Return a conversation with its turns, their citations among them.

    An answer is made of its sources' words: where one of them, or a database that it
    asked, is closed to the caller by now, the answer is withheld with it.
    """
    settle_dead(found)
    turns = list(found.turns.prefetch_related("citations__node__record"))
    opened = _open_nodes(turns, request, found.project)
    tables = shown_turn_tables(turns, caller(request))
    thresholds = thresholds_of(found.project)
    said = [_turn(turn, opened, tables.get(turn.pk, ()), thresholds) for turn in turns]
    return {**ConversationSerializer(found).data, "turns": said}


def _open_nodes(turns: list[Turn], request: Request, project: Project) -> set[int]:
    cited = {
        citation.node_id
        for turn in turns
        for citation in turn.citations.all()
        if citation.node_id
    }
    nodes = visible(Node.objects.current(), request).of(project).filter(pk__in=cited)
    return set(nodes.values_list("pk", flat=True))


def _turn(
    turn: Turn,
    opened: set[int],
    tables: Sequence[ShownTurnTable],
    thresholds: Mapping[str, int | None],
) -> dict[str, Any]:
    citations = list(turn.citations.all())
    closed = {c.n for c in citations if c.node_id and c.node_id not in opened}
    withheld = bool(closed) or any(table.is_withheld for table in tables)
    return {
        "turn": turn.pk,
        "question": turn.question,
        "answer": "" if withheld else turn.answer,
        "grounded": turn.grounded,
        "citations": [_citation(c, thresholds) for c in citations if c.n not in closed],
        "sql": [] if withheld else [as_shown(table.row).as_json() for table in tables],
        "calls": turn.calls,
        "lambda": turn.effort,
        "model": turn.model,
        "state": turn.state,
        "support": [] if withheld else turn.support,
        "error": turn.error,
        "created_at": utc(turn.created_at),
        "withheld": withheld,
    }


def _citation(
    citation: Citation, thresholds: Mapping[str, int | None]
) -> dict[str, Any]:
    node, stale = citation.node, stale_now(citation, thresholds)
    return {
        "n": citation.n,
        "key": citation.key,
        "node_id": citation.node_id,
        "type": node.node_type if node else "",
        "title": citation.title,
        "context": node.context if node else "",
        "url": citation.url,
        "quote": citation.quote,
        "timestamp": utc(citation.timestamp),
        "gone": node is None or node.gone_at is not None,
        "stale": asdict(stale),
        "age": stale.told,
    }
