"""Memories as tests make them: observations, conversations, turns, citations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import timedelta

from connections.models import Audience, Project, User
from graph.audiences import Audiences
from graph.models import Node
from graph.models.node import MEMORY
from memory.conversations import start_conversation
from memory.models import Citation, Conversation, MemoryScope, Observation, Turn
from tests.factories import NOON, make_audience


def private_to(project: Project, user: User) -> Audience:
    return Audience.objects.get(pk=Audiences(project).private_to(user))


def make_observation(
    project: Project,
    user: User | None,
    text: str = "Hollis has the key.",
    *,
    observation_type: str = "fact",
    is_shared: bool = False,
    metadata: dict | None = None,
    conversation: Conversation | None = None,
    **fields: object,
) -> Observation:
    """Make what `user` remembers, seen by them alone until it `is_shared`: then it is
    in the project's memory."""
    number = Node.objects.count()
    is_open = is_shared or user is None
    node = Node.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        key=f"memory:new-{number}",
        node_type=observation_type,
        content=text,
        metadata=metadata or {},
        audience=make_audience(project) if is_open else private_to(project, user),
        source_kind=MEMORY,
        origin=MEMORY,
        occurred_at=NOON + timedelta(minutes=number),
    )
    Node.objects.filter(pk=node.pk).update(key=f"memory:{node.pk}")
    scope, _ = MemoryScope.objects.get_or_create(
        tenant_id=project.tenant_id, project=project, user=None if is_open else user
    )
    return Observation.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        node=node,
        scope=scope,
        observation_type=observation_type,
        words_hash=hashlib.sha256(f"{number} {text}".encode()).hexdigest(),
        is_shared=is_open,
        owner=user,
        conversation=conversation,
        **fields,
    )


def make_conversation(
    project: Project,
    user: User,
    question: str = "Who has the key?",
    answer: str = "Hollis has it. [1]",
    *,
    cited: Iterable[Node] = (),
    model: str = "extractive",
    parsed: dict | None = None,
    **fields: object,
) -> Conversation:
    """Make a conversation of one turn that cites nodes."""
    conversation = start_conversation(project, user, question)
    Conversation.objects.filter(pk=conversation.pk).update(**fields or {"summary": ""})
    turn = Turn.objects.create(
        conversation=conversation,
        question=question,
        answer=answer,
        model=model,
        parsed=parsed or {},
    )
    for n, node in enumerate(cited, start=1):
        Citation.objects.create(turn=turn, n=n, node=node, key=node.key)
    return conversation
