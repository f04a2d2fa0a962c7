"""Whose memory it is, held while it is written."""

from __future__ import annotations

from django.db.models import F, Q, QuerySet

from connections.models import Project, User
from graph.copying import execute
from graph.models import Node
from memory import observation_sql
from memory.models import MemoryScope, Observation


def scope_of(project: Project, user: User | None) -> MemoryScope:
    """Return the memory of `user` in `project`, or with None the project's own."""
    return _find(project, user, MemoryScope.objects.all())


def locked_scope(project: Project, user: User | None) -> MemoryScope:
    """Return it held until the transaction ends; a user's before the project's."""
    # Not FOR UPDATE: rows that refer to it may be written meanwhile.
    return _find(project, user, MemoryScope.objects.select_for_update(no_key=True))


def _find(
    project: Project, user: User | None, scopes: QuerySet[MemoryScope]
) -> MemoryScope:
    rows = scopes.filter(tenant_id=project.tenant_id, project_id=project.pk, user=user)
    found = rows.first()
    if found is None:
        user_id = user.pk if user else None
        execute(observation_sql.SCOPE, [project.tenant_id, project.pk, user_id])
        found = rows.get()
    return found


IS_CURRENT = Q(left_at=None, superseded_by=None) & (
    Q(leaves_at=None) | Q(leaves_at__gt=F("scope__ticks"))
)


def current(project: Project, user: User | None) -> QuerySet[Observation]:
    """Return what the memory of `user` holds now: theirs, and what is shared with
    them. None: an operator's read of all of it."""
    nodes = Node.objects.all() if user is None else Node.objects.visible_to(user)
    held = Observation.objects.filter(
        IS_CURRENT,
        tenant_id=project.tenant_id,
        project_id=project.pk,
        node__in=nodes.of(project).current().filter(valid_to=None),
    ).select_related("node", "scope")
    if user is None:
        return held
    return held.filter(Q(scope__user=user) | Q(scope__user=None))
