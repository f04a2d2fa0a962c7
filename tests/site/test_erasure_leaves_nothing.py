"""RULE: after an erasure no table, column, vector or index holds what was erased.

The tables are what the database says there are: one that is added later is read too.
"""

from __future__ import annotations

import hashlib
from unittest.mock import patch

import pytest
from django.db import connection

from connections.models import AudienceMember, Source, SyncError, record_audit
from connections.records import AudienceDraft, EdgeDraft, NodeDraft, Record
from graph.copying import fetch
from graph.embed import embed_backlog
from graph.erasers import erasers
from graph.erasing import erase
from graph.erasing_plan import plan_source
from graph.models import (
    EmbeddingModel,
    ExtractedText,
    ExtractionAnswer,
    Node,
    RefusedText,
    Tombstone,
    Trashed,
)
from graph.residue import scan
from memory.conversations import start_conversation
from memory.models import Citation, Conversation, Observation, Turn
from retrieval.communities.refresh import refresh_communities
from retrieval.frequencies import count_lexemes
from tests.factories import (
    NOON,
    draft_account,
    draft_channel,
    draft_message,
    make_member,
    make_project,
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
    take_in(
        project,
        draft_channel("ZC1", CLOSED),
        draft_account("ZU1", "Zyxquorling Vuxgrommet", "zyx@erased.test"),
        *said,
        waiting,
        source=source,
    )
    run = source.runs.first()
    SyncError.objects.create(run=run, item="zyxquorling.eml", error="qoppaflare")
    remember(project, source)
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
    nodes = list(Node.objects.filter(project=project, content__in=SAID))
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
        **scope, node=first, chosen=first.pk, audience=first.audience, purge_at=NOON
    )
    Tombstone.objects.create(**scope, key=nodes[1].key, content_hash="0" * 64)
    read = ExtractedText.objects.filter(**scope, node__in=nodes).first()
    ExtractionAnswer.objects.create(
        **scope, asked="model", words=read.words, proposed={"entities": [SAID[0]]}
    )


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


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_no_table_column_vector_or_index_holds_what_was_erased(capsys):
    project, other = make_project("acme/main"), make_project("strangers/main")
    source = fill(project)
    fill(other)
    vectors = vectors_of(project)
    before = scan(probes(), vectors=vectors, project=project)
    assert len(vectors) >= 4
    # What is looked for was in many places, else finding nothing would mean little.
    assert len(before.found) >= 40, sorted(before.found)
    assert before.left >= 100
    report = carry_out(project, source)
    after = scan(probes(), vectors=vectors, project=project)
    with capsys.disabled():
        print(  # noqa: T201 - the count is the point
            f"\nerasure: {len(before.found)} columns and {before.left} rows held it; "
            f"{after.left} of {after.rows} rows, {after.vectors} vectors, "
            f"{after.columns} columns, {after.tables} tables hold it now"
        )
    assert after.found == {}
    assert after.tables >= 75
    assert after.columns >= 700
    assert after.rows >= 300
    assert after.vectors >= 1
    assert (report.left, report.records) == (0, 7)
    assert report.probes >= 10
    check_indexes(project, vectors)
    # The stranger's rows say the same words, and keep them.
    assert scan(probes(), vectors=vectors, project=other).left == before.left
    assert Node.objects.filter(project=project, content=NEWS).exists()
    assert not Source.objects.filter(project=project, name="doomed").exists()
    assert Turn.objects.filter(conversation__project=project).count() == 2
    assert not Observation.objects.filter(project=project).exists()


def check_indexes(project, vectors):
    """Ask each kind of index for what was erased, with scans of tables forbidden."""
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
        try:
            for condition, value in (
                ("n.search_vector @@ to_tsquery('english', %s)", WORDS[0]),
                ("n.title ILIKE %s", f"%{WORDS[0]}%"),
                ("n.key LIKE %s", "slack:ZC1%"),
                ("n.tags @> ARRAY[%s]", WORDS[0]),
            ):
                statement = f"SELECT count(*) FROM graph_nodes n WHERE {condition}"  # noqa: S608
                cursor.execute(
                    f"{statement} AND n.project_id = %s", [value, project.pk]
                )
                assert cursor.fetchone() == (0,), condition
            cursor.execute(
                "SELECT min(n.embedding <=> %s::vector) FROM graph_nodes n"
                " WHERE n.project_id = %s",
                [vectors[0], project.pk],
            )
            assert cursor.fetchone()[0] > 0.01
        finally:
            cursor.execute("SET enable_seqscan = on")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "where"),
    [("memory", "turns.answer"), ("retrieval", "retrieval_lexemes.lexeme")],
)
def test_an_eraser_that_is_left_out_is_found_by_reading_everything(name, where):
    project = make_project()
    source = fill(project)
    if name == "memory":
        # Without its eraser the database itself refuses to leave citations behind.
        Citation.objects.update(node=None)
    with patch.dict(erasers):
        del erasers[name]
        carry_out(project, source)
    assert where in scan(probes(), project=project).found


@pytest.mark.django_db
def test_reading_everything_finds_a_word_wherever_it_stands():
    project = make_project()
    source = fill(project)
    found = scan(probes(), project=project).found
    assert {
        "graph_records.body",
        "graph_records.key",
        "graph_nodes.search_vector",
        "graph_nodes.content",
        "graph_evidence.quote",
        "graph_pending_edges.draft",
        "graph_identities.names",
        "audiences.title",
        "audience_members.member",
        "connections_syncerror.item",
        "citations.quote",
        "turns.support",
        "conversations.summary",
        "retrieval_communities.lexemes",
        "retrieval_lexemes.lexeme",
        "audit_details.detail",
        "graph_extracted_texts.words",
        "graph_extraction_answers.proposed",
        "graph_refused_texts.reason",
        "graph_tombstones.key",
        "graph_review_items.why",
    } <= found.keys()
    assert source.name == "doomed"
