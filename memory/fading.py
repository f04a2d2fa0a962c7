"""What leaves memory: it fades, and after 30 days it is deleted."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from connections.models import Project, User
from connections.prepared import fetch_prepared
from graph.copying import execute, fetch
from memory import observation_sql
from memory.changes import delete_nodes

KEPT_DAYS = 30
BATCH = 500
MOST_DUE = 1000


def let_leave(scope_id: int, *, now: datetime | None = None) -> int:
    """Let go of what has faded in a scope: in no search from now on, restorable for
    30 days. Return how many left."""
    values = {"scope": scope_id, "most": BATCH, "now": now or timezone.now()}
    left = 0
    while gone := execute(observation_sql.LEAVE, values):
        left += gone
    return left


def scopes_with_due() -> list[int]:
    """Return the scopes in which something is due to leave."""
    return [row[0] for row in fetch(observation_sql.SCOPES_WITH_DUE, [])]


def due_nodes(project: Project, user: User | None) -> list[int]:
    """Return what has faded and was not let go of yet, of the memories that `user`
    reads; None: of all. No more than a search can leave out at once."""
    rows = fetch_prepared(
        observation_sql.DUE_NODES,
        {
            "tenant": project.tenant_id,
            "project": project.pk,
            "user": user.pk if user else None,
            "most": MOST_DUE,
        },
    )
    return [row[0] for row in rows]


def delete_left(*, now: datetime | None = None) -> int:
    """Delete what left memory more than 30 days ago; return how many."""
    before = (now or timezone.now()) - timedelta(days=KEPT_DAYS)
    deleted = 0
    while rows := fetch(observation_sql.EXPIRED, [before, BATCH]):
        with transaction.atomic():
            delete_nodes([row[0] for row in rows])
        deleted += len(rows)
    return deleted
