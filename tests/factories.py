"""What tests begin with; every default is visible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from connections.models import (
    ApiToken,
    Audience,
    AudienceMember,
    Project,
    Role,
    Source,
    SyncRun,
    Tenant,
    User,
)
from connections.records import (
    PUBLIC,
    AudienceDraft,
    EdgeDraft,
    Failure,
    Identity,
    NodeDraft,
    Record,
)
from graph.batch import Counts
from graph.ingest import read_records
from graph.models import Edge, Evidence, Node, ReviewItem
from graph.models import Record as StoredRecord

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def make_user(email: str = "ann@acme.test", **fields: object) -> User:
    return User.objects.create_user(email, "a long password", **fields)


def make_project(path: str = "acme/main") -> Project:
    tenant_slug, _, slug = path.partition("/")
    tenant, _ = Tenant.objects.get_or_create(slug=tenant_slug, name=tenant_slug.title())
    return Project.objects.create(tenant=tenant, slug=slug, name=slug.title())


def make_member(
    project: Project, email: str = "ann@acme.test", role: str = Role.VIEWER
) -> User:
    user = User.objects.filter(email=email).first() or make_user(email)
    project.memberships.create(user=user, role=role)
    return user


def make_token(
    user: User,
    tenant: Tenant,
    scopes: Iterable[str] = ("read", "ask", "write"),
    **fields: object,
) -> str:
    _, text = ApiToken.objects.issue(
        user=user, tenant=tenant, name="test", scopes=list(scopes), **fields
    )
    return text


def make_audience(
    project: Project, key: str = "", members: Iterable[str | User] = ()
) -> Audience:
    """Make the public audience of a project, or a closed one of `members`."""
    audience, _ = Audience.objects.get_or_create(
        tenant_id=project.tenant_id,
        project=project,
        key=key,
        kind="members" if key else "public",
    )
    for member in members:
        is_user = isinstance(member, User)
        AudienceMember.objects.create(
            audience=audience,
            user=member if is_user else None,
            member="" if is_user else str(member),
        )
    return audience


def make_source(
    project: Project, name: str = "slack-export", kind: str = "slack", **fields: object
) -> Source:
    fields = {"location": "/nowhere", **fields}
    source, _ = Source.objects.get_or_create(
        tenant_id=project.tenant_id,
        project=project,
        name=name,
        defaults={"kind": kind, **fields},
    )
    return source


def make_review_item(
    project: Project,
    node: Node | None = None,
    *,
    kind: str = "stale",
    audience: Audience | None = None,
    **fields: object,
) -> ReviewItem:
    """Make an open item of the queue about `node`, seen by those who see that."""
    subject = f"node:{node.key}" if node else "nothing"
    if audience is None:
        audience = node.audience if node else make_audience(project)
    return ReviewItem.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        kind=kind,
        node=node,
        audience=audience,
        **{"subject": subject, "fingerprint": "0" * 64, "why": "It is old.", **fields},
    )


def make_record(
    project: Project,
    key: str = "slack:C1:1.0",
    *,
    audience: Audience | None = None,
    body: str = "",
    **fields: object,
) -> StoredRecord:
    return StoredRecord.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        key=key,
        body=body,
        source=make_source(project),
        audience=audience or make_audience(project),
        kind="message",
        content_hash="0" * 64,
        **fields,
    )


def make_node(
    project: Project,
    key: str = "slack:C1:1.0",
    content: str = "",
    *,
    node_type: str = "message",
    audience: Audience | None = None,
    **fields: object,
) -> Node:
    """Make a node with the record that says it."""
    audience = audience or make_audience(project)
    record = make_record(project, key, audience=audience, body=content)
    node = Node.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        key=key,
        node_type=node_type,
        content=content,
        audience=audience,
        record=record,
        source_kind="slack",
        **fields,
    )
    Evidence.objects.create(
        tenant_id=project.tenant_id, project=project, record=record, node=node
    )
    return node


def make_edge(
    source: Node,
    target: Node,
    relation: str = "mentions",
    *,
    audience: Audience | None = None,
    **fields: object,
) -> Edge:
    edge = Edge.objects.create(
        tenant_id=source.tenant_id,
        project_id=source.project_id,
        source=source,
        target=target,
        relation=relation,
        audience=audience or source.audience,
        **fields,
    )
    Evidence.objects.create(
        tenant_id=source.tenant_id,
        project_id=source.project_id,
        record_id=source.record_id,
        edge=edge,
    )
    return edge


# --- drafts: what a connector would hand over -----------------------------------------


def draft_account(user: str = "U1", name: str = "Ann Lee", address: str = "") -> Record:
    key = f"slack-user:{user}"
    nodes = [
        NodeDraft(
            key=key,
            node_type="account",
            title=name,
            identity=Identity("chat", address=address, names=(name,)),
        )
    ]
    if address:
        nodes.append(
            NodeDraft(
                key=f"person:{address}",
                node_type="address",
                title=address,
                identity=Identity("mail", address=address, names=(name,)),
            )
        )
    return Record(key=key, kind="account", body=name, nodes=tuple(nodes), counted=False)


def draft_channel(channel: str = "C1", audience: AudienceDraft = PUBLIC) -> Record:
    node = NodeDraft(key=f"slack:{channel}", node_type="channel", title=f"#{channel}")
    return Record(
        key=node.key,
        kind="channel",
        body="",
        nodes=(node,),
        audience=audience,
        counted=False,
    )


def draft_message(
    ts: str = "1.000001",
    text: str = "Hello",
    *,
    user: str = "U1",
    channel: str = "C1",
    thread_ts: str = "",
    audience: AudienceDraft = PUBLIC,
    version: int = 0,
) -> Record:
    """Draft a message as the Slack connector does."""
    key = f"slack:{channel}:{ts}"
    moment = datetime.fromtimestamp(float(ts), UTC)
    nodes = [
        NodeDraft(
            key=key,
            node_type="message",
            content=text,
            context=f"{user} in {channel}",
            occurred_at=moment,
        )
    ]
    is_reply = bool(thread_ts) and thread_ts != ts
    edges = [
        EdgeDraft(source=key, relation="sent_by", target=f"slack-user:{user}"),
        EdgeDraft(
            source=key,
            relation="posted_in",
            target=f"slack:{channel}",
            position=None if is_reply else Decimal(ts),
        ),
    ]
    if thread_ts:
        thread = f"slack-thread:{channel}:{thread_ts}"
        nodes.append(
            NodeDraft(
                key=thread, node_type="thread", title=text[:80], precedence=-float(ts)
            )
        )
        edges += [
            EdgeDraft(
                source=key, relation="in_thread", target=thread, position=Decimal(ts)
            ),
            EdgeDraft(
                source=thread, relation="participant", target=f"slack-user:{user}"
            ),
        ]
    if is_reply:
        parent = f"slack:{channel}:{thread_ts}"
        edges.append(EdgeDraft(source=key, relation="replied_to", target=parent))
    edges = [replace(edge, occurred_at=moment) for edge in edges]
    return Record(
        key=key,
        kind="message",
        body=text,
        nodes=tuple(nodes),
        edges=tuple(edges),
        occurred_at=moment,
        audience=audience,
        version=version,
    )


def take_in(
    project: Project, *records: Record | Failure, source: Source | None = None
) -> Counts:
    """Ingest `records` in one run, and return its counts."""
    source = source or make_source(project)
    return read_records(source, SyncRun.objects.create(source=source), records)
