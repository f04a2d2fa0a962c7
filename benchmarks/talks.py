"""Conversations of a benchmark: what they pulled in, at a moment of its own clock."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from connections.models import Project, User
from memory.models import Conversation
from memory.observations import refer


def talk(
    project: Project, user: User, audience: int, nodes: Sequence[int], now: datetime
) -> Conversation:
    """Return a conversation that pulled in `nodes`, and has not ended."""
    conversation = Conversation.objects.create(
        id=uuid.uuid4(),
        tenant_id=project.tenant_id,
        project=project,
        audience_id=audience,
        user=user,
    )
    refer(conversation, nodes, now=now)
    return conversation
