"""What tests of memory begin with: conversations, and things to remember."""

from __future__ import annotations

import uuid
from datetime import datetime

from connections.models import Project, User
from graph.audiences import Audiences
from graph.models import Node
from memory.models import Conversation, MemoryScope, Observation
from memory.observations import Learned, Quoted, remember
from tests.factories import NOON


def make_conversation(project: Project, user: User) -> Conversation:
    return Conversation.objects.create(
        id=uuid.uuid4(),
        tenant_id=project.tenant_id,
        project=project,
        audience_id=Audiences(project).private_to(user),
        user=user,
    )


def quoted(node: Node, quote: str = "") -> Quoted:
    return Quoted(node_id=node.pk, key=node.key, quote=quote or node.content)


def by_hand(text: str, observation_type: str = "fact", **fields: object) -> Learned:
    return Learned(
        observation_type=observation_type,
        text=text,
        **{"origin": "hand", **fields},
    )


def kept(
    project: Project,
    user: User | None,
    text: str,
    *cited: Node,
    conversation: Conversation | None = None,
    now: datetime = NOON,
    **fields: object,
) -> Observation:
    """Remember `text` because of `cited`, or by hand, and return it as it is stored."""
    learned = by_hand(
        text,
        evidence=tuple(quoted(node) for node in cited),
        **{"origin": "rules" if cited else "hand", **fields},
    )
    found = remember(project, user, learned, conversation=conversation, now=now)
    return again(found.observation)


def again(observation: Observation) -> Observation:
    """Return it as it is stored now."""
    return Observation.objects.select_related("node", "scope", "owner").get(
        pk=observation.pk
    )


def ticks_of(project: Project, user: User | None) -> int:
    return MemoryScope.objects.get(project=project, user=user).ticks
