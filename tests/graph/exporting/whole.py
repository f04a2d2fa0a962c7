"""A project with a row in every table that an export has."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from connections.models import (
    Audience,
    Database,
    DatabaseColumn,
    DatabaseKey,
    DatabaseTable,
    Project,
    SyncError,
    SyncRun,
    User,
)
from connections.secrets import Secret
from graph.audiences import Audiences
from graph.models import (
    Alias,
    Evidence,
    ExtractionAnswer,
    Identity,
    IdentityDecision,
    Merge,
    Node,
    PendingEdge,
    ReviewDecision,
    StaleThreshold,
    Tombstone,
    Trashed,
)
from memory.models import (
    EdgeUse,
    Feedback,
    Reference,
    ReferencedPair,
    SavedQuery,
    Turn,
    TurnTable,
    VerifiedExample,
)
from retrieval.models import Community, CommunityMember, CommunityRun
from tests.factories import (
    NOON,
    make_audience,
    make_edge,
    make_member,
    make_node,
    make_review_item,
    make_source,
)
from tests.memory.making import make_conversation, make_observation

# Nothing that the export may hold contains these.
CANARIES = {
    "password": "canary-password-4711",
    "certificate": "canary-certificate-4711",
    "token": "canary-token-4711",
}


def make_whole(project: Project, email: str = "ann@acme.test") -> User:
    """Fill `project`, every table of it; return the user whose memory it has."""
    user = make_member(project, email)
    scope = {"tenant_id": project.tenant_id, "project": project}
    closed = make_audience(project, "slack:P1", [user, "bob@elsewhere.test"])
    audiences = Audiences(project)
    either = Audience.objects.get(
        pk=audiences.any_of([closed.pk, audiences.private_to(user)])
    )
    both = Audience.objects.get(
        pk=audiences.all_of([either.pk, make_audience(project, "slack:P2", [user]).pk])
    )
    _add_graph(project, scope, closed, both, user)
    _add_review(project, scope, user)
    _add_communities(project, scope)
    _add_database(project, scope, user)
    _add_memory(project, scope, user)
    return user


def _add_graph(project, scope, closed, both, user) -> None:
    one = make_node(
        project,
        "slack:C1:1.0",
        'Hello *x* "\u00fc\u2028" <b> \\ \x7f',
        tags=["launch", "#Plan", "\u00e4"],
        metadata={"a": 1.0, "b": [None, {"c": "\u20ac"}]},
        occurred_at=NOON,
    )
    two = make_node(project, "Slack:C1:1.0", "Hallo", audience=closed, title="A | [B]")
    three = make_node(project, "slack:C1:3.0", "bye", audience=both)
    person = make_node(project, "identity:x", node_type="person", title="Ann")
    scoped = make_edge(
        one, two, "follows", scope=three, position=Decimal("1772452800.000100")
    )
    make_edge(one, two, "follows", scope=three, valid_from=NOON, weight=0.1)
    make_edge(two, three, "mentions", audience=both, valid_to=NOON)
    record = one.record
    run = SyncRun.objects.create(source=record.source, state="finished")
    SyncRun.objects.create(source=record.source)
    record.run, record.permalink = run, "https://slack.test/1"
    record.save()
    SyncError.objects.create(run=run, item="x", error="broken")
    SyncError.objects.create(run=run, item="x", error="broken again")
    make_source(project, "mail", "mail", owner=user, audience=closed)
    Evidence.objects.create(
        **scope,
        record=record,
        edge=scoped,
        part="p",
        start=1,
        end=2,
        quote="x",
        via_source="k",
        assertion={"title": "T", "nothing": None},
    )
    Evidence.objects.create(**scope, record=None, node=person, kind="implied")
    PendingEdge.objects.create(
        **scope,
        record=record,
        source_key="a",
        relation="mentions",
        target_key="b",
        draft={"weight": 1},
    )
    Alias.objects.create(**scope, record=record, key="a", target="b")
    Identity.objects.create(
        **scope,
        node=two,
        person=person,
        key=two.key,
        side="chat",
        names=["Ann"],
        reasons=[["x"]],
    )
    IdentityDecision.objects.create(
        **scope, verb="merge", first_key="a", second_key="b", decided_by=user
    )
    Tombstone.objects.create(**scope, key="gone", content_hash="0" * 64)
    Merge.objects.create(
        **scope, key="late-spelling", target="slack:C1:1.0", merged_by=user
    )
    ExtractionAnswer.objects.create(**scope, asked="m", words="0" * 32, proposed={})


def _add_review(project, scope, user) -> None:
    one = Node.objects.get(project=project, key="slack:C1:1.0")
    StaleThreshold.objects.create(**scope, node_type="decision", days=3)
    item = make_review_item(
        project,
        one,
        assigned_to=user,
        held_by=user,
        held_until=NOON,
        age_days=200,
        threshold=180,
        why="=Nobody has confirmed it.",
        priority=1.25,
    )
    decision = ReviewDecision.objects.create(
        **scope,
        item=item,
        verb="prune",
        fingerprint="0" * 64,
        decided_by=user,
        before={"node": one.pk},
    )
    pruned = make_node(project, "slack:C1:9.0", "old", trashed_at=NOON)
    Trashed.objects.create(
        **scope,
        node=pruned,
        chosen=pruned.pk,
        decision=decision,
        trashed_by=user,
        audience=pruned.audience,
        purge_at=NOON + timedelta(days=30),
    )


def _add_communities(project, scope) -> None:
    one, two = Node.objects.filter(
        project=project, key__in=("slack:C1:1.0", "identity:x")
    ).order_by("key")
    community = Community.objects.create(
        **scope,
        audience=make_audience(project),
        title="Hello",
        summary=[{"node_id": two.pk, "text": "Hello."}],
        lexemes=["hello"],
        size=2,
    )
    for node in (one, two):
        CommunityMember.objects.create(
            **scope, community=community, node=node, centrality=0.5
        )
    CommunityRun.objects.create(**scope, algorithm="leiden", nodes=2)


def _add_database(project, scope, user) -> None:
    database = Database.objects.create(
        **scope,
        name="shop",
        audience=make_audience(project),
        engine="postgres",
        host="db.test",
        port=5432,
        database="shop",
        user="reader",
        password=Secret(CANARIES["password"]),
        certificate=CANARIES["certificate"],
    )
    table = DatabaseTable.objects.create(database=database, schema="public", name="t")
    DatabaseColumn.objects.create(
        table=table,
        name="id",
        position=1,
        data_type="integer",
        family="number",
        values=["1", "2"],
    )
    DatabaseKey.objects.create(
        table=table, name="k", columns=["id"], target=table, target_columns=["id"]
    )
    SavedQuery.objects.create(database=database, user=user, title="q", sql="SELECT 1")
    VerifiedExample.objects.create(
        database=database, question="How many?", sql="SELECT 1", asked_by=user
    )


def _add_memory(project, scope, user) -> None:
    one = Node.objects.get(project=project, key="slack:C1:1.0")
    conversation = make_conversation(
        project, user, cited=[one], is_pinned=True, summary="", summarized_to=0
    )
    turn = conversation.turns.get()
    Turn.objects.filter(pk=turn.pk).update(also_read=[one.pk])
    Turn.objects.create(conversation=conversation, question="And?")
    TurnTable.objects.create(
        turn=turn,
        place=1,
        database=Database.objects.get(project=project),
        database_name="shop",
        question="How many?",
        sql="SELECT 1",
        columns=[["n", "number"]],
        rows=[[1]],
    )
    Feedback.objects.create(turn=turn, user=user, verdict="wrong", note="No.")
    first = make_observation(project, user, "Hollis has the key.", due_at=NOON)
    second = make_observation(
        project,
        user,
        "Ann has it.",
        conversation=conversation,
        turn=turn,
        superseded_by=first,
    )
    make_observation(project, None, "It rains.")
    Reference.objects.create(observation=first, conversation=conversation)
    ReferencedPair.objects.create(
        one=min(first, second, key=lambda o: o.pk),
        other=max(first, second, key=lambda o: o.pk),
        together=2,
    )
    edge = one.outgoing.first()
    EdgeUse.objects.create(**scope, edge=edge, uses=1.5, last_used_at=NOON)
