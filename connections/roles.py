"""What a role lets a person do: the one place where admin, API and pages ask.

A role counts in the project of the membership; a superuser who is a member counts as
an admin of that project, and one who is not sees and decides nothing of it. What is a
whole tenant's needs the role in every project of the tenant: it reaches all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet

from connections.models import Audience, Membership, Project, Role, Tenant, User


class Act(StrEnum):
    """What is done; `POLICY` says by whom."""

    READ = "read what the project shows"
    SEE_SOURCES = "see sources, their runs and connections"
    ADD_SOURCES = "add sources and read them anew"
    WRITE_GRAPH = "write nodes and edges"
    DISCOVER = "discover the schema of a database"
    REVIEW = "decide the review queue"
    DECIDE_IDENTITIES = "decide who is one person"
    DECIDE_EXAMPLES = "verify examples of statements"
    RESOLVE_FEEDBACK = "work off feedback on answers"
    CURATE_MEMORY = "change what others shared in memory"
    MANAGE_PEOPLE = "manage people and their roles"
    MANAGE_PROJECT = "change the project's settings"
    MANAGE_TOKENS = "manage API tokens"
    MANAGE_CONNECTIONS = "manage connections to databases"
    MANAGE_KEYS = "manage model keys"
    EXPOSE = "choose what of a database is seen"
    READ_RUNS = "read and end everybody's runs of statements"
    READ_COSTS = "read what models cost"
    READ_AUDIT = "read and export the audit"
    ERASE = "erase sources and people for good"
    SHARE_VIEWS = "share views of lists"
    REMOVE_VIEWS = "remove views that others shared"


POLICY: Mapping[Act, Role] = {
    Act.READ: Role.VIEWER,
    Act.SEE_SOURCES: Role.EDITOR,
    Act.ADD_SOURCES: Role.EDITOR,
    Act.WRITE_GRAPH: Role.EDITOR,
    Act.DISCOVER: Role.EDITOR,
    Act.REVIEW: Role.REVIEWER,
    Act.DECIDE_IDENTITIES: Role.REVIEWER,
    Act.DECIDE_EXAMPLES: Role.REVIEWER,
    Act.RESOLVE_FEEDBACK: Role.REVIEWER,
    Act.CURATE_MEMORY: Role.REVIEWER,
    Act.MANAGE_PEOPLE: Role.ADMIN,
    Act.MANAGE_PROJECT: Role.ADMIN,
    Act.MANAGE_TOKENS: Role.ADMIN,
    Act.MANAGE_CONNECTIONS: Role.ADMIN,
    Act.MANAGE_KEYS: Role.ADMIN,
    Act.EXPOSE: Role.ADMIN,
    Act.READ_RUNS: Role.ADMIN,
    Act.READ_COSTS: Role.ADMIN,
    Act.READ_AUDIT: Role.ADMIN,
    Act.ERASE: Role.ADMIN,
    Act.SHARE_VIEWS: Role.EDITOR,
    Act.REMOVE_VIEWS: Role.ADMIN,
}

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


def users_where(project_ids: Iterable[int], act: Act) -> QuerySet[User]:
    """Return who may do `act` in one of the projects, by address."""
    enough = Q(role__in=Role.values[Role.values.index(POLICY[act]) :])
    members = Membership.objects.filter(
        enough | Q(user__is_superuser=True), project_id__in=project_ids
    )
    mine = User.objects.filter(is_active=True, pk__in=members.values("user_id"))
    return mine.order_by("email")


def may(user: User | AnonymousUser, act: Act, project_id: int) -> bool:
    """Return whether `user` may do `act` in a project."""
    mine = memberships_with(user, POLICY[act])
    return mine.filter(project_id=project_id).exists()


def must(user: User | AnonymousUser, act: Act, project_id: int) -> None:
    """Raise `PermissionDenied`, which says what is missing, unless `may`."""
    if not may(user, act, project_id):
        raise _refusal(act)


def must_somewhere(user: User | AnonymousUser, act: Act) -> None:
    """Raise `PermissionDenied` unless `user` may do `act` in one project at least."""
    if not projects_where(user, act).exists():
        raise _refusal(act)


def _refusal(act: Act) -> PermissionDenied:
    return PermissionDenied(f"To {act.value} you must {NEEDS[POLICY[act]]}.")


def projects_where(user: User | AnonymousUser, act: Act) -> QuerySet[Project]:
    """Return the projects in which `user` may do `act`."""
    mine = memberships_with(user, POLICY[act])
    return Project.objects.filter(pk__in=mine.values("project_id"))


def acts_somewhere(user: User | AnonymousUser) -> frozenset[Act]:
    """Return what `user` may do in one project at least."""
    roles = set(memberships_with(user, Role.VIEWER).values_list("role", flat=True))
    if not roles:
        return frozenset()
    ranks = Role.values.index
    best = ranks(Role.ADMIN) if user.is_superuser else max(map(ranks, roles))
    return frozenset(act for act, role in POLICY.items() if ranks(role) <= best)


def tenants_where(user: User | AnonymousUser, act: Act) -> QuerySet[Tenant]:
    """Return the tenants in every project of which `user` may do `act`."""
    theirs = Project.objects.filter(tenant=OuterRef("pk"))
    mine = projects_where(user, act).values("pk")
    return Tenant.objects.filter(
        Exists(theirs.filter(pk__in=mine)), ~Exists(theirs.exclude(pk__in=mine))
    )


def gives_no_more(giver: User, taker: User, tenant: Tenant) -> bool:
    """Return whether all that `taker` may do and see in a tenant, `giver` may too.

    Who acts as another, by a token, must gain nothing by it.
    """
    if giver.pk == taker.pk:
        return True
    own, theirs = _roles(giver, tenant), _roles(taker, tenant)
    ranks = Role.values.index
    if any(
        project not in own or ranks(role) > ranks(own[project])
        for project, role in theirs.items()
    ):
        return False
    opened = set(Audience.objects.ids_of(taker)) - set(Audience.objects.ids_of(giver))
    return not Audience.objects.filter(pk__in=opened, tenant=tenant).exists()


def _roles(user: User, tenant: Tenant) -> dict[int, str]:
    """Return the role that counts in each project of a tenant."""
    rows = memberships_with(user, Role.VIEWER).filter(project__tenant=tenant)
    found = dict(rows.values_list("project_id", "role"))
    return dict.fromkeys(found, Role.ADMIN.value) if user.is_superuser else found
