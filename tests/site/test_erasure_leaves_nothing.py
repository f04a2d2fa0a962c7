"""RULE: after an erasure no table, column, vector or index holds what was erased.

The tables are what the database says there are: one that is added later is read too.
"""

from __future__ import annotations

from unittest.mock import patch

import pytest
from django.db import connection

from connections.models import Source
from graph.copying import fetch
from graph.erasers import erasers
from graph.models import Node
from graph.residue import scan, tables
from graph.residue_sql import TEXT_COLUMNS
from memory.models import Citation, Observation, Turn
from tests.factories import make_project
from tests.site.erasable import NEWS, WORDS, carry_out, fill, probes, vectors_of

# Tables that can hold words and here hold none of what a source said: why.
FREE_OF_WHAT_SOURCES_SAY = {
    **dict.fromkeys(
        (
            "audit",
            "audit_checks",
            "audit_heads",
        ),
        "verbs, ids and seals; what was said stands in the details",
    ),
    **dict.fromkeys(
        (
            "auth_permission",
            "django_celery_beat_crontabschedule",
            "django_celery_beat_intervalschedule",
            "django_celery_beat_periodictask",
            "django_celery_results_chordcounter",
            "django_celery_results_groupresult",
            "django_celery_results_taskresult",
            "django_migrations",
            "graph_embedding_models",
            "model_credentials",
        ),
        "how the installation works: names and times of our own",
    ),
    **dict.fromkeys(
        (
            "axes_accessattempt",
            "axes_accessfailurelog",
            "axes_accesslog",
            "connections_apitoken",
            "connections_membership",
            "connections_user",
            "django_session",
        ),
        "who signs in and how; an account is removed under People",
    ),
    **dict.fromkeys(
        (
            "connections_project",
            "connections_source",
            "connections_syncrun",
            "connections_tenant",
            "django_admin_log",
        ),
        "what people named and when it was read; a source goes with its runs",
    ),
    **dict.fromkeys(
        (
            "database_changes",
            "database_columns",
            "database_keys",
            "database_queries",
            "database_tables",
            "databases",
            "saved_queries",
            "turn_tables",
            "verified_examples",
        ),
        "of the company's own databases, which are removed with their connection",
    ),
    "graph_edges": "two numbers and a registered relation",
    "graph_erasures": "a keyed hash of what was erased; what is asked goes at the end",
    "observations": "its words are its node's, with which it goes",
    "retrieval_community_runs": "when communities were found, and with what settings",
    "retrieval_lexeme_counts": "how many words a project has",
}


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
    assert (report.left, report.records) == (0, 8)
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
    # Every table that can hold words holds some here, or says why it has none of these.
    writable = {table.name for table in tables() if fetch(TEXT_COLUMNS, [table.oid])}
    held = {place.partition(".")[0] for place in found}
    unknown = writable - held - FREE_OF_WHAT_SOURCES_SAY.keys()
    assert not unknown, f"Erase them, or say here why they hold nothing: {unknown}"
    assert not held & FREE_OF_WHAT_SOURCES_SAY.keys()
    assert len(writable) >= 40
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
        "graph_review_decisions.before",
        "graph_merges.key",
        "graph_checks.findings",
        "turn_feedback.note",
    } <= found.keys()
    assert source.name == "doomed"
