"""The end of a run by somebody's wish, asked for in any process."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q

from connections.databases.clock import Clock
from connections.models import (
    Database,
    DatabaseQuery,
    User,
    record_audit,
)
from connections.roles import Act, projects_where


def cancel(query_id: UUID, *, user: User) -> bool:
    """Ask for the end of a run; return whether it was running and `user` may end it.

    One may end one's own runs, an admin of the project all of those of databases that
    they see. Who runs it looks twice a second.
    """
    ruled = projects_where(user, Act.READ_RUNS).values("pk")
    mine = Q(user=user) | Q(project__in=ruled)
    with transaction.atomic():
        running = DatabaseQuery.objects.filter(
            mine,
            pk=query_id,
            verdict=DatabaseQuery.Verdict.RUNNING,
            database__in=Database.objects.visible_to(user),
        )
        found = running.select_related("project").first()
        if found is None or not running.update(cancel_asked_at=Clock()):
            return False
        record_audit(
            "database.cancelled",
            target=f"database:{found.database_name}",
            project=found.project,
            actor=user,
            query=str(found.pk),
        )
    return True
