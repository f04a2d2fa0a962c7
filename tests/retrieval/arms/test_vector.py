"""RULE: every raw query gives exact rows, in one query, for one tenant, or nothing."""

from __future__ import annotations

import pytest
from django.db import connection

from graph.embed import embed_question
from graph.models import Node
from retrieval.arms import vector as arm
from retrieval.arms.base import Plan
from retrieval.models import SearchableNode
from tests.factories import make_audience, make_node
from tests.retrieval.asking import found_by, index, keys, make_ask

pytestmark = pytest.mark.django_db
QUESTION = "late invoice of the pump from Larsen"
TEXTS = [
    "The pump failed in the night.",
    "We bought a new pump from Larsen.",
    "Lunch is at noon in the canteen.",
    "The invoice for the pump is late.",
    "Larsen sent the invoice.",
]


@pytest.fixture
def corpus(project):
    for n, text in enumerate(TEXTS):
        make_node(project, f"m{n}", text)
    index(project)


def found(project, plan=None, **fields):
    return found_by("vector", make_ask(project, QUESTION, **fields), plan)


def exact(project):
    question, _ = embed_question(QUESTION)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key, 1 - (embedding <=> %s::vector) FROM graph_nodes"
            " WHERE project_id = %s ORDER BY embedding <=> %s::vector",
            [question, project.pk, question],
        )
        return cursor.fetchall()


def test_it_gives_the_nearest_in_order_with_their_cosine(project, corpus):
    nearest = exact(project)
    assert len(nearest) == 5
    assert [(h.key, pytest.approx(h.score)) for h in found(project)] == nearest


def test_the_index_gives_what_exact_distances_give(project, corpus, monkeypatch):
    every = keys(found(project, Plan(pool=3)))
    monkeypatch.setattr(arm, "EXACT_BELOW", 0)
    assert keys(found(project, Plan(pool=3))) == every


def test_an_index_that_runs_out_is_made_up_for_exactly(project, corpus, monkeypatch):
    """A scan of the index that stops short finds too few of a small audience."""
    monkeypatch.setattr(arm, "EXACT_BELOW", 0)
    with connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL hnsw.iterative_scan = off; SET LOCAL hnsw.ef_search=1"
        )
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        some = SearchableNode.objects.filter(key="m2")
        assert keys(found(project, Plan(pool=3), nodes=some)) == ["m2"]


def test_only_what_is_similar_enough_is_found(project, corpus):
    least = exact(project)[1][1]
    plan = Plan(options={"similarity": least})
    assert len(found(project, plan)) == 1


def test_vectors_of_another_model_are_not_compared(project, corpus):
    _, model = embed_question(QUESTION)
    assert found(project)
    assert found(project, model_id=model + 1) == []


def test_a_node_or_a_question_without_a_vector_is_not_found(project, corpus):
    Node.objects.filter(key="m3").update(embedding=None)
    assert "m3" not in keys(found(project))
    assert found(project, vector=None) == []


def test_it_is_one_query_within_its_queryset(
    project, other_project, corpus, django_assert_num_queries
):
    make_node(other_project, "theirs", TEXTS[3])
    index(other_project)
    ask = make_ask(project, QUESTION)
    with django_assert_num_queries(1):
        assert "theirs" not in keys(found_by("vector", ask))
    assert found(project, nodes=SearchableNode.objects.none()) == []


def test_three_users_find_what_each_may_see(
    project, corpus, member, outsider, stranger
):
    closed = make_audience(project, "slack:P1", [member])
    make_node(project, "secret", QUESTION, audience=closed)
    index(project)
    assert keys(found(project, user=member))[0] == "secret"
    assert len(found(project, user=outsider)) == 5
    assert "secret" not in keys(found(project, user=outsider))
    assert found(project, user=stranger) == []
