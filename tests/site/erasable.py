"""Two sources in every layer of a project, of which one is to be erased."""

from __future__ import annotations

import hashlib

from connections.audit import seal_all
from connections.models import AudienceMember, SavedView, SyncError, User, record_audit
from connections.records import AudienceDraft, EdgeDraft, NodeDraft, Record
from graph.copying import fetch
from graph.embed import embed_backlog
from graph.erasing import erase
from graph.erasing_plan import plan_source
from graph.figures.keeping import count_figures
from graph.layouts import lay_out
from graph.merging import merge_nodes, unmerge
from graph.models import (
    Alias,
    EmbeddingModel,
    ExtractedText,
    ExtractionAnswer,
    GraphCheck,
    IdentityDecision,
    Node,
    RefusedText,
    ReviewDecision,
    Tombstone,
    Trashed,
)
from memory.conversations import start_conversation
from memory.feedback import give_feedback
from memory.models import Citation, Conversation, Turn
from retrieval.communities.refresh import refresh_communities
from retrieval.frequencies import count_lexemes
from tests.factories import (
    NOON,
    draft_account,
    draft_channel,
    draft_message,
    make_member,
    make_node,
    make_review_item,
    make_source,
    take_in,
)
from tests.memory.making import make_observation

# Stems of these are their own beginnings, so that a search vector shows them too.
WORDS = ("zyxquorling", "vuxgrommet", "qoppaflare")

SAID = (
    "We decided to use zyxquorling for the vuxgrommet pumps.",
    "The zyxquorling of the vuxgrommet is a qoppaflare.",
    "A qoppaflare is what every zyxquorling needs, says the vuxgrommet.",
    "No vuxgrommet without zyxquorling and qoppaflare.",
)

CLOSED = AudienceDraft(
    "members", "slack:ZC1", ("zyxquorling@erased.test",), "#zyxquorling"
)

NEWS = "The canteen serves soup on Monday."


def probes():
    texts = [*WORDS, *(word[:7] for word in WORDS), "slack:ZC1", "zyx@erased.test"]
    for text in SAID:
        texts += [
            hashlib.sha256(text.encode()).hexdigest(),
            hashlib.md5(f"\x01{text}".encode()).hexdigest(),  # noqa: S324 - not for safety
        ]
    return texts


def fill(project):
    """Read two sources, of which one is to go, and let every layer make use of both."""
    take_in(project, draft_channel(), draft_account(), draft_message(text=NEWS))
    source = make_source(project, "doomed")
    said = [
        draft_message(
            f"{n + 5}.000001", text, user="ZU1", channel="ZC1", audience=CLOSED
        )
        for n, text in enumerate(SAID)
    ]
    waiting = Record(
        key="slack:ZC1:99.000001",
        kind="message",
        body=SAID[0],
        nodes=(NodeDraft(key="slack:ZC1:99.000001", node_type="message"),),
        edges=(
            EdgeDraft(
                source="slack:ZC1:99.000001",
                relation="replied_to",
                target="slack:ZC1:zyxquorling",
                quote=SAID[1],
            ),
        ),
        audience=CLOSED,
    )
    topics = Record(
        key="slack:ZC1:98.000001",
        kind="message",
        body=SAID[1],
        nodes=(
            NodeDraft(key="slack:ZC1:98.000001", node_type="message", content=SAID[1]),
            NodeDraft(key="topic:zyxquorling", node_type="topic", title="zyxquorling"),
        ),
        audience=CLOSED,
    )
    take_in(
        project,
        draft_channel("ZC1", CLOSED),
        draft_account("ZU1", "Zyxquorling Vuxgrommet", "zyx@erased.test"),
        *said,
        waiting,
        topics,
        source=source,
    )
    run = source.runs.first()
    SyncError.objects.create(run=run, item="zyxquorling.eml", error="qoppaflare")
    remember(project, source)
    govern(project)
    embed_backlog(project.pk)
    count_lexemes(project, always=True)
    refresh_communities(project)
    RefusedText.objects.create(
        tenant_id=project.tenant_id,
        project=project,
        node=Node.objects.get(project=project, content=SAID[2]),
        model=EmbeddingModel.objects.get(is_active=True),
        reason=SAID[2],
    )
    return source


def remember(project, source):
    user = make_member(project, f"reader@{project.tenant.slug}.test")
    said = Node.objects.filter(project=project, content__in=SAID)
    nodes = list(said.filter(node_type="message").order_by("key"))
    AudienceMember.objects.create(audience=nodes[0].audience, user=user)
    first = nodes[0]
    talk = start_conversation(project, user, "What do the pumps need?")
    Conversation.objects.filter(pk=talk.pk).update(summary=SAID[0])
    # The second was answered with the first in view, and names no source of its own.
    turn, second = (
        Turn.objects.create(
            conversation=talk,
            question="What do the pumps need?",
            answer=f"A zyxquorling. [1] {SAID[0]}",
            support=[{"text": SAID[0], "numbers": [1]}],
            calls=[{"name": "search", "arguments": {"q": "zyxquorling"}}],
            followups=["Which qoppaflare?"],
            also_read=also,
        )
        for also in ([nodes[1].pk], [])
    )
    Citation.objects.create(
        turn=turn, n=1, node=first, key=first.key, title="#zyxquorling", quote=SAID[0]
    )
    learned = make_observation(
        project, user, "Pumps need a zyxquorling.", turn=second, conversation=talk
    )
    record_audit(
        "memory.corrected",
        target=f"memory:{learned.pk}",
        project=project,
        before="A qoppaflare",
    )
    record_audit("question.asked", target="x", project=project, seen=[first.key])
    record_audit("source.read", target=source.name, project=project, of="zyxquorling")
    make_review_item(project, first, why=f"zyxquorling: {SAID[0]}")
    scope = {"tenant_id": project.tenant_id, "project": project}
    Trashed.objects.create(
        **scope,
        node=first,
        chosen=first.pk,
        audience=first.audience,
        purge_at=NOON,
        reason="zyxquorling",
    )
    Tombstone.objects.create(**scope, key=nodes[1].key, content_hash="0" * 64)
    read = ExtractedText.objects.filter(**scope, node__in=nodes).first()
    ExtractionAnswer.objects.create(
        **scope, asked="model", words=read.words, proposed={"entities": [SAID[0]]}
    )


def govern(project):
    """Merge, decide, check, count, draw and keep what names the doomed source."""
    scope = {"tenant_id": project.tenant_id, "project": project}
    user = User.objects.get(email=f"reader@{project.tenant.slug}.test")
    pumps = make_node(project, "topic:pumps", node_type="topic", title="pumps")
    doomed = Node.objects.get(project=project, key="topic:zyxquorling")
    apart = make_node(project, "topic:taps", node_type="topic", title="taps")
    unmerge(
        project, merge_nodes(project, apart.pk, [doomed.pk], by=None).before, by=None
    )
    merged = merge_nodes(project, pumps.pk, [doomed.pk], by=user, reason="One.")
    item = make_review_item(
        project, pumps, kind="duplicate", other=doomed, subject="pair:zyxquorling"
    )
    ReviewDecision.objects.create(
        **scope,
        item=item,
        verb="merge",
        reason=f"It is the zyxquorling: {SAID[0]}",
        before={"merged": {**merged.before, "quote": SAID[1]}},
    )
    record_audit(
        "review.merge",
        target=f"review:{item.pk}",
        project=project,
        subject=item.subject,
    )
    IdentityDecision.objects.create(
        **scope, verb="merge", first_key="person:zyx@erased.test", second_key="x:1"
    )
    Alias.objects.create(
        **scope,
        record=doomed.record,
        key="topic:vuxgrommet",
        target=doomed.key,
        own=False,
    )
    GraphCheck.objects.create(
        **scope, at=NOON, seconds=1, findings={"x": {"examples": ["zyxquorling"]}}
    )
    turn = Turn.objects.filter(conversation__project=project).first()
    give_feedback(turn, user, "wrong", "No qoppaflare is a zyxquorling.")
    SavedView.objects.create(
        owner=user,
        shared_with=project,
        name="one",
        model="graph.record",
        query="key=slack:ZC1:98.000001",
    )
    lay_out(project)
    count_figures(project)
    seal_all()


def vectors_of(project):
    rows = fetch(
        "SELECT embedding::text FROM graph_nodes WHERE project_id = %s"
        " AND embedding IS NOT NULL AND content = ANY(%s)",
        [project.pk, list(SAID)],
    )
    return [row[0] for row in rows]


def carry_out(project, source):
    plan = plan_source(source)
    return erase(plan, by=None, reason="asked for", token=plan.token)
