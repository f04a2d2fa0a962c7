"""People and their roles: what may be given, by whom, and that an admin always stays."""

from __future__ import annotations

from collections.abc import Collection

from connections.models import Membership, Project, Role, User, record_audit
from connections.roles import Act, may

LAST_ADMIN = "The project would have no admin left: make somebody else one first."
LAST_OPERATOR = "The installation would have no active superuser left."


def may_manage(by: User, project: Project) -> bool:
    """Return whether `by` gives and takes roles in a project: its admins, operators."""
    return by.is_superuser or may(by, Act.MANAGE_PEOPLE, project.pk)


def admins_without(project: Project, leaving: Collection[int]) -> bool:
    """Return whether a project keeps an active admin without those memberships.

    Holds the project's row to the end of the transaction, so that of two admins who
    take each other's role at once only the first succeeds.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    admins = Membership.objects.filter(
        project=project, role=Role.ADMIN, user__is_active=True
    )
    return admins.exclude(pk__in=leaving).exists()


def is_active_admin(membership: Membership) -> bool:
    """Return whether it makes an admin, as it is stored."""
    return Membership.objects.filter(
        pk=membership.pk, role=Role.ADMIN, user__is_active=True
    ).exists()


def leaves_no_admin(membership: Membership) -> bool:
    """Return whether its project would have no admin without it."""
    is_admin = is_active_admin(membership)
    return is_admin and not admins_without(membership.project, [membership.pk])


def only_admin_in(user: User) -> list[Project]:
    """Return the projects that would have no admin without `user`."""
    theirs = Membership.objects.filter(user=user, role=Role.ADMIN).select_related(
        "project__tenant", "user"
    )
    return [each.project for each in theirs if leaves_no_admin(each)]


def is_last_operator(user: User) -> bool:
    """Return whether nobody else is an active superuser."""
    if not (user.is_superuser and user.is_active):
        return False
    others = User.objects.filter(is_superuser=True, is_active=True)
    return not others.exclude(pk=user.pk).exists()


def keep_membership(membership: Membership, *, by: User) -> None:
    """Store a role and audit it."""
    verb = "membership.created" if membership._state.adding else "membership.changed"
    membership.save()
    _record(verb, membership, by)


def remove_membership(membership: Membership, *, by: User) -> bool:
    """Take a role away; False, with nothing done, where an admin has to stay."""
    if leaves_no_admin(membership):
        return False
    _record("membership.deleted", membership, by)
    membership.delete()
    return True


def _record(verb: str, membership: Membership, by: User) -> None:
    record_audit(
        verb,
        target=membership.user.email,
        project=membership.project,
        actor=by,
        role=membership.role,
    )
