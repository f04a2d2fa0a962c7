"""What a role lets a person do: the one place where admin, API and pages ask.

A role counts in the project of the membership; a superuser who is a member counts as
an admin of that project, and one who is not sees and decides nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet

from connections.models import Membership, Project, Role, User

# What a person has to hear, by the role that is missing.
NEEDS = {
    Role.VIEWER: "be a member of the project",
    Role.EDITOR: "be an editor of the project",
    Role.REVIEWER: "be a reviewer of the project",
    Role.ADMIN: "be an admin of the project",
}


def memberships_with(user: User | AnonymousUser, role: Role) -> QuerySet[Membership]:
    """Return the memberships by which `user` may do what `role` may."""
    if not user.is_active or user.pk is None:
        return Membership.objects.none()
    mine = Membership.objects.filter(user_id=user.pk)
    if user.is_superuser:
        return mine
    enough = Role.values[Role.values.index(role) :]
    return mine.filter(Q(role__in=enough))


def projects_with(user: User | AnonymousUser, role: Role) -> QuerySet[Project]:
    """Return the projects in which `user` may do what `role` may."""
    mine = memberships_with(user, role)
    return Project.objects.filter(pk__in=mine.values("project_id"))


def users_with(project_ids: Iterable[int], role: Role) -> QuerySet[User]:
    """Return who may do what `role` may in one of the projects, by address."""
    enough = Q(role__in=Role.values[Role.values.index(role) :])
    members = Membership.objects.filter(
        enough | Q(user__is_superuser=True), project_id__in=project_ids
    )
    mine = User.objects.filter(is_active=True, pk__in=members.values("user_id"))
    return mine.order_by("email")


def allows(user: User | AnonymousUser, project_id: int, role: Role) -> bool:
    """Return whether `user` may do in a project what `role` may."""
    return memberships_with(user, role).filter(project_id=project_id).exists()


def require(user: User | AnonymousUser, project_id: int, role: Role) -> None:
    """Raise `PermissionDenied` with what is missing unless `user` has `role`."""
    if not allows(user, project_id, role):
        raise PermissionDenied(f"For this you must {NEEDS[role]}.")
