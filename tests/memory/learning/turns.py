"""Turns to learn from: a question, an answer, and the nodes it cites."""

from __future__ import annotations

import uuid
from datetime import datetime

from connections.models import Project, User
from graph.models import Node
from memory.conversations import start_conversation
from memory.models import Citation, Conversation, Turn
from tests.factories import NOON, make_node


def make_message(
    project: Project,
    text: str,
    *,
    author: str = "Ann Lee",
    said_at: datetime = NOON,
    **fields: object,
) -> Node:
    """Make a message that `author` wrote at `said_at`."""
    key = fields.pop("key", f"slack:C1:{uuid.uuid4().hex}")
    return make_node(
        project,
        str(key),
        text,
        occurred_at=said_at,
        metadata={"author": author} if author else {},
        **fields,
    )


def make_turn(
    user: User,
    project: Project,
    *cited: Node,
    question: str = "What was said?",
    answer: str = "",
    conversation: Conversation | None = None,
    **fields: object,
) -> Turn:
    """Make a turn whose answer quotes each node whole, sentence by sentence."""
    conversation = conversation or make_conversation(user, project)
    numbered = list(enumerate(cited, start=1))
    turn = Turn.objects.create(
        conversation=conversation,
        question=question,
        answer=answer
        or "\n\n".join(f"\u201c{node.content}\u201d [{n}]" for n, node in numbered),
        grounded=bool(cited),
        **fields,
    )
    for n, node in numbered:
        Citation.objects.create(
            turn=turn,
            n=n,
            node=node,
            key=node.key,
            quote=node.content,
            timestamp=node.occurred_at,
        )
    return turn


def make_conversation(user: User, project: Project) -> Conversation:
    return start_conversation(project, user, "")
