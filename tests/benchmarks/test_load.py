from __future__ import annotations

import re

import pytest
from django.db import connection

from benchmarks.corpus import ACCOUNTS, CHANNELS
from benchmarks.load import FOREIGN_KEYS, INDEXES, TABLES, fill
from graph.embed import backlog
from graph.models import Edge, Node
from retrieval.search import search

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
TEXTS = [f"The pump number {n} of the plant failed at night." for n in range(120)]


def definitions():
    with connection.cursor() as cursor:
        found = set()
        for table in TABLES:
            for statement in (INDEXES, FOREIGN_KEYS):
                cursor.execute(statement, [table])
                found |= {tuple(map(plainly, row)) for row in cursor.fetchall()}
        return found


def plainly(definition):
    """Return a definition without the casts that PostgreSQL puts in differently once
    it has read its own words."""
    return re.sub(r"::(character varying|text)(\[\])?|[()]", "", str(definition))


def test_a_loaded_project_is_like_an_ingested_one():
    before = definitions()
    big, small = fill({"big/main": (120, TEXTS), "small/main": (2, TEXTS[:2])})
    assert definitions() == before

    messages = Node.objects.of(big).filter(node_type="message")
    threads = Node.objects.of(big).filter(node_type="thread").count()
    assert messages.count() == 120
    assert messages.filter(embedding=None).count() == backlog() == 0
    assert messages.filter(search_vector=None).count() == 0
    assert Node.objects.of(big).count() == 120 + threads + ACCOUNTS + CHANNELS
    assert Node.objects.of(small).filter(node_type="message").count() == 2

    edges = Edge.objects.of(big).live()
    assert edges.filter(relation="sent_by").count() == 120
    replies = edges.filter(relation="replied_to").count()
    assert replies == edges.filter(relation="in_thread").count() == 120 - threads
    assert 0 < edges.filter(relation="follows").count() < 120
    assert not edges.filter(relation="follows", source_id__lte=1).exists()

    best = search(small, "pump number 1", user=None).results[0]
    assert best.text == TEXTS[1]
    assert {"keyword", "vector"} <= set(best.contributions)


def test_nodes_written_after_a_load_get_ids_of_their_own():
    (project,) = fill({"big/main": (5, TEXTS[:5])})
    last = Node.objects.of(project).order_by("-pk").values_list("pk", flat=True)[0]
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('graph_nodes', 'id'))")
        assert cursor.fetchone()[0] > last
