"""A company with a canary in every kind of row, and those who might look for it.

A canary is `zzCLASSzz`: its class says who may ever see it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from connections.models import (
    ApiToken,
    Audience,
    DatabaseColumn,
    DatabaseQuery,
    DatabaseTable,
    ModelCredential,
    ModelUsage,
    Project,
    Role,
    SavedView,
    Scope,
    SyncError,
    SyncRun,
    User,
    record_audit,
)
from connections.secrets import Secret
from graph.models import EmbeddingModel, Identity, IdentityDecision, Node, RefusedText
from memory.feedback import give_feedback
from memory.models import Observation, SavedQuery, TurnTable, VerifiedExample
from retrieval.models import Community
from tests.factories import (
    NOON,
    make_audience,
    make_edge,
    make_member,
    make_node,
    make_project,
    make_source,
    make_token,
    make_user,
)
from tests.memory.making import make_conversation, make_observation
from tests.site.access.governed import (
    PRIVATE_PLACE,
    governed_rows,
    kept_views,
    place_nodes,
    reviewed_rows,
)
from tests.site.access.walking import rows_in
from tests.targets import Target, make_database

CLASSES = (
    "open", "private", "own", "source", "feedback", "review", "run", "admin", "foreign",
    "place", "secret",
)  # fmt: skip
# What stands for a class besides `zzCLASSzz`.
MARKS = {"private": (str(PRIVATE_PLACE),)}
EVERYBODY = frozenset({"open"})
# `secret` is nobody's: passwords, keys, digests.
SEES = {
    "anonymous": frozenset(),
    "stranger": frozenset({"foreign", "place"}),
    "viewer": EVERYBODY,
    "insider": EVERYBODY | {"private", "own", "feedback", "run"},
    "editor": EVERYBODY | {"source"},
    "reviewer": EVERYBODY | {"source", "feedback", "review"},
    "admin": EVERYBODY | {"source", "feedback", "review", "run", "admin"},
    # Operators manage places and people, and read nothing that is in them.
    "operator": frozenset({"place"}),
}
ROLES = {
    "viewer": Role.VIEWER,
    "insider": Role.VIEWER,
    "editor": Role.EDITOR,
    "reviewer": Role.REVIEWER,
    "admin": Role.ADMIN,
}
NOWHERE = Target("postgres", "127.0.0.1", 1, "d", "u", "zzsecretzz", {})


def canary(kind: str, what: str = "") -> str:
    return f"zz{kind}zz {what}".strip()


@dataclass
class Person:
    name: str
    client: Any
    sees: frozenset[str]
    role: Role | None = None
    scope: str = ""
    user: User | None = None

    def has(self, role: Role) -> bool:
        ranks = Role.values.index
        return self.role is not None and ranks(self.role) >= ranks(role)


@dataclass
class Company:
    project: Project
    people: dict[str, Person] = field(default_factory=dict)
    # The rows that are its own: "app.Model:key"; and of these the insider's alone.
    rows: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)


def make_company(own_rows: Callable[[], object]) -> Company:
    """Make the rows, and people of every role, staff all of them.

    `own_rows` is called when all rows of the company are there, and none of the others.
    """
    EmbeddingModel.objects.get_or_create(
        name="static-embedder",
        defaults={"dimensions": 256, "indexed_dimensions": 128, "is_active": True},
    )
    project = make_project("acme/main")
    company = Company(project)
    users = {
        name: make_member(project, f"{name}@acme.test", role)
        for name, role in ROLES.items()
    }
    users["operator"] = make_user("operator@acme.test", is_superuser=True)
    insider = users["insider"]
    closed = make_audience(project, "slack:P1", [insider])
    Audience.objects.filter(pk=closed.pk).update(title=canary("private", "audience"))
    _rows(project, "open", make_audience(project), insider)
    _rows(project, "private", closed, insider)
    _own(project, insider)
    _ruled(project, insider, "admin", "run", "source")
    governed_rows(
        project,
        insider,
        members=canary("open"),
        reviewers=canary("review"),
        admins=canary("admin"),
    )
    company.people |= _token_holders(project, users["admin"])
    own_rows()
    company.closed = _closed_to_others(project, insider)
    other = make_project("zzplacezz/zzplacezz")
    users["stranger"] = make_member(other, "zzplacezz@else.test", Role.ADMIN)
    _rows(other, "foreign", make_audience(other), users["stranger"])
    _ruled(other, users["stranger"], "foreign", "foreign", "foreign")
    theirs = canary("foreign")
    governed_rows(
        other, users["stranger"], members=theirs, reviewers=theirs, admins=theirs
    )
    kept_views(other, users["stranger"], f"{theirs} own", theirs)
    everybody = [user.pk for user in users.values()]
    User.objects.filter(pk__in=everybody).update(is_staff=True)
    # They count for nothing; whoever holds them all may no more than their role.
    for name in ("viewer", "stranger"):
        users[name].user_permissions.set(Permission.objects.all())
    for name, sees in SEES.items():
        client = Client(raise_request_exception=False)
        if name != "anonymous":
            client.force_login(users[name])
        person = Person(name, client, sees, ROLES.get(name), user=users.get(name))
        company.people[name] = person
        if person.user is not None:
            person.user.refresh_from_db()
    return company


def _closed_to_others(project: Project, user: User) -> set[str]:
    """Return the keys of rows that nobody of the company sees but `user`."""
    audiences = Audience.objects.filter(project=project).exclude(kind="public")
    mine = [
        *Observation.objects.filter(scope__user=user),
        *SavedView.objects.filter(owner=user, shared_with=None),
    ]
    return rows_in([audience.pk for audience in audiences]) | {
        f"{row._meta.label}:{row.pk}" for row in mine
    }


def _token_holders(project: Project, user: User) -> dict[str, Person]:
    found = {}
    for scope in Scope.values:
        client = APIClient(raise_request_exception=False)
        text = make_token(user, project.tenant, [scope], last_used_at=timezone.now())
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        name = f"token:{scope}"
        found[name] = Person(name, client, SEES["admin"], Role.ADMIN, scope, user)
    return found


def _rows(project: Project, kind: str, audience: Audience, user: User) -> None:
    """Make what has an audience."""
    scope = {"tenant_id": project.tenant_id, "project": project}
    said = canary(kind, "launch")
    node = make_node(
        project, f"zz{kind}zz:1", said, audience=audience, title=said, occurred_at=NOON,
        tags=[f"zz{kind}zz"],
    )  # fmt: skip
    person = make_node(
        project,
        f"zz{kind}zz:person",
        said,
        node_type="person",
        audience=audience,
        title=said,
    )
    make_edge(node, person, "sent_by", audience=audience)
    for each in (node, person):
        Identity.objects.create(
            node=each, person=person, key=each.key, side="chat", address=f"zz{kind}zz@x.test",
            names=[said], **scope,
        )  # fmt: skip
    IdentityDecision.objects.create(
        verb="merge", first_key=node.key, second_key=person.key, reason=said, **scope
    )
    RefusedText.objects.create(
        node=node, model=EmbeddingModel.objects.get(name="static-embedder"), reason=said,
        **scope,
    )  # fmt: skip
    Community.objects.create(
        title=said, audience=audience, size=2,
        summary=[{"text": said, "node_id": node.pk}], **scope,
    )  # fmt: skip
    place_nodes([node, person], PRIVATE_PLACE if kind == "private" else 1.0)
    told = canary("review", "item") if kind == "open" else said
    reviewed_rows(project, node, person, told, audience)
    make_observation(project, user, said, is_shared=kind == "open")
    source = make_source(project, f"zz{kind}zz-source", audience=audience)
    if kind == "open":
        source.name = "plain"
        source.save()
        return _database(project, kind, audience, user)
    run = SyncRun.objects.create(source=source, error=said)
    SyncError.objects.create(run=run, item=said, error=said)
    return _database(project, kind, audience, user)


def _database(project: Project, kind: str, audience: Audience, user: User) -> None:
    said = canary(kind, "database")
    database = make_database(
        project, NOWHERE, name=f"zz{kind}zz", title=said, audience=audience,
        default_schema="public",
    )  # fmt: skip
    table = DatabaseTable.objects.create(
        database=database, schema="public", name=f"zz{kind}zz", comment=said
    )
    DatabaseColumn.objects.create(
        table=table, name=f"zz{kind}zz", position=1, data_type="text", family="text",
        comment=said, values=[canary("own") if kind == "private" else said],
    )  # fmt: skip
    VerifiedExample.objects.create(database=database, question=said, sql="SELECT 1")
    SavedQuery.objects.create(
        database=database, user=user, title=said, sql="SELECT 1", is_shared=True
    )


def _own(project: Project, user: User) -> None:
    """Make what is one user's alone."""
    said = canary("own", "question")
    cited = Node.objects.get(project=project, key="zzprivatezz:1")
    conversation = make_conversation(project, user, said, said, cited=[cited])
    turn = conversation.turns.get()
    TurnTable.objects.create(
        turn=turn, place=0, database_name="plain", question=said, sql="SELECT 1",
        columns=[{"name": "zzownzz", "family": "text"}], rows=[[said]], row_count=1,
    )  # fmt: skip
    told = canary("feedback", "question")
    complaint = make_conversation(project, user, told, told)
    give_feedback(complaint.turns.get(), user, "wrong", told)
    make_observation(project, user, canary("own", "memory"))
    kept_views(project, user, canary("own", "view"), canary("open", "view"))


def _ruled(project: Project, user: User, admins: str, runs: str, sources: str) -> None:
    """Make what is of no audience, but of a role."""
    scope = {"tenant": project.tenant, "project": project}
    said = canary(admins)
    ModelCredential.objects.create(
        provider="anthropic",
        chat_model=said,
        key=Secret("zzsecretzz"),
        enabled=False,
        **scope,
    )
    ModelUsage.objects.create(
        day=NOON.date(), provider="anthropic", model=said, purpose="chat", **scope
    )
    record_audit(said, target=said, project=project, words=said)
    record_audit(said, target=said, tenant=project.tenant, words=said)
    DatabaseQuery.objects.create(
        user=user, database_name=canary(runs), asked_sql=canary(runs), question=canary(runs),
        verdict="refused", **scope,
    )  # fmt: skip
    ApiToken.objects.issue(
        user=user, tenant=project.tenant, name=canary(runs), scopes=["read"]
    )
    # Members choose by its name where to search; where it lies is for editors.
    name = canary("foreign") if sources == "foreign" else "open source"
    source = make_source(project, name, location=canary(sources))
    run = SyncRun.objects.create(source=source, error=canary(sources))
    SyncError.objects.create(run=run, item=canary(sources), error=canary(sources))
