"""RULE: every raw query gives exact rows, in one query, for one tenant, or nothing."""

from __future__ import annotations

import pytest
from django.db import connection

from graph.embed import embed_backlog, embed_question
from graph.models import Node
from retrieval import ranked
from retrieval.frequencies import count_lexemes
from retrieval.models import SearchableNode
from retrieval.profiles import Profile
from tests.factories import make_node

pytestmark = pytest.mark.django_db

# SCHEMA.md, word for word but for the parameters; {query} requires all or any words.
REFERENCE = """
WITH q AS (SELECT %(vector)s::vector AS v, {query} AS t),
scored AS (
    SELECT n.id, 1 - (n.embedding <=> q.v) AS sim, ts_rank_cd(n.search_vector, q.t) AS txt
      FROM graph_nodes n, q
     WHERE n.project_id = %(project)s
       AND (1 - (n.embedding <=> q.v) > 0.2 OR n.search_vector @@ q.t)),
ranked AS (
    SELECT id, row_number() OVER (ORDER BY sim DESC NULLS LAST, id) AS v_rank,
               row_number() OVER (ORDER BY txt DESC, id) AS t_rank FROM scored)
SELECT id, 1.0 / (60 + v_rank) + 1.0 / (60 + t_rank) AS score
  FROM ranked ORDER BY score DESC, id LIMIT %(limit)s
"""
ALL_WORDS = "websearch_to_tsquery('english', %(words)s)"
ANY_WORD = "to_tsquery('english', %(words)s)"
EQUAL = Profile("reference", similarity=0.2)
KEYWORD = Profile("keyword", weights={"keyword": 1.0, "vector": 0.0}, similarity=2.0)
VECTOR = Profile("vector", weights={"keyword": 0.0, "vector": 1.0})

TEXTS = [
    "The pump failed in the night.",
    "We bought a new pump from Larsen.",
    "Lunch is at noon in the canteen.",
    "The invoice for the pump is late, the invoice is wrong.",
    "Larsen sent the invoice.",
    "Nobody knows why the alarm was silent.",
    "A pump, a pump, a pump!",
    "Weekend plans: sailing and rest.",
]
QUESTION = "late invoice of the pump from Larsen"


@pytest.fixture
def corpus(project):
    nodes = [make_node(project, f"m{n}", text) for n, text in enumerate(TEXTS)]
    embed_backlog(project.pk)
    count_lexemes(project, always=True)
    return nodes


def rank(project, question, profile=EQUAL, nodes=None, limit=50):
    vector, model = embed_question(question)
    nodes = SearchableNode.objects.of(project) if nodes is None else nodes
    return nodes.ranked(project, question, vector, model, profile, limit=limit)


def keys(ranking):
    return [hit.key for hit in ranking.best]


def reference(project, query, words, limit=50):
    vector, _ = embed_question(QUESTION)
    values = {"vector": vector, "project": project.pk, "words": words, "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(REFERENCE.format(query=query), values)
        found = [row[0] for row in cursor.fetchall()]
    by_id = dict(Node.objects.values_list("pk", "key"))
    return [by_id[node] for node in found]


def test_the_reference_statement_runs_with_all_words_and_with_any(project, corpus):
    every = reference(project, ALL_WORDS, "invoice pump")
    assert every[0] == "m3"
    some = reference(project, ANY_WORD, "late | invoice | pump | Larsen")
    assert {"m0", "m1", "m3", "m4", "m6"} <= set(some)
    assert reference(project, ALL_WORDS, "invoice pump", limit=1) == every[:1]


def test_serving_search_ranks_the_candidates_of_the_reference(project, corpus):
    """Deviations, both meant: words count by how rare they are (`idf * ts_rank` where
    the reference has `ts_rank_cd`), and an arm that did not find a node says nothing
    of it (the reference ranks every candidate in both)."""
    wanted = reference(project, ANY_WORD, "late | invoice | pump | Larsen")
    found = keys(rank(project, QUESTION))
    assert len(wanted) >= 5
    assert set(found) == set(wanted)
    assert found[0] == wanted[0] == "m3"


def test_a_node_without_a_vector_ranks_last_by_vector_and_not_first(project, corpus):
    Node.objects.filter(key="m6").update(embedding=None)
    wanted = reference(project, ANY_WORD, "late | invoice | pump | Larsen")
    assert wanted[0] != "m6"
    hit = next(h for h in rank(project, QUESTION).best if h.key == "m6")
    assert set(hit.contributions) == {"keyword"}


def test_a_score_is_the_sum_of_what_each_arm_gives(project, corpus):
    ranking = rank(project, QUESTION)
    for hit in ranking.best:
        given = sum(1 / (60 + c.rank) for c in hit.contributions.values())
        assert hit.score == pytest.approx(given)
    assert [h.score for h in ranking.best] == sorted(
        (h.score for h in ranking.best), reverse=True
    )
    for arm in ("keyword", "vector"):
        ranks = [
            h.contributions[arm].rank for h in ranking.best if arm in h.contributions
        ]
        assert sorted(ranks) == list(range(1, ranking.arms[arm] + 1))


def test_a_rare_word_counts_more_than_a_common_one(project, corpus):
    found = rank(project, "pump alarm", KEYWORD)
    assert keys(found)[0] == "m5"
    assert set(keys(found)) == {"m0", "m1", "m3", "m5", "m6"}


def test_the_vector_arm_gives_the_nearest_in_order(project, corpus):
    vector, _ = embed_question(QUESTION)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT key FROM graph_nodes WHERE project_id = %s AND 1 - (embedding"
            " <=> %s::vector) > 0 ORDER BY embedding <=> %s::vector, id",
            [project.pk, vector, vector],
        )
        exact = [row[0] for row in cursor.fetchall()]
    assert len(exact) >= 4
    assert keys(rank(project, QUESTION, VECTOR))[: len(exact)] == exact


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ('"new pump"', {"m1"}),
        ("pump -invoice", {"m0", "m1", "m6"}),
        ("alarm or sailing", {"m5", "m7"}),
    ],
)
def test_operators_that_a_person_types_are_kept(project, corpus, question, found):
    assert set(keys(rank(project, question, KEYWORD))) == found


@pytest.mark.parametrize(
    "question",
    [
        "'",
        "\\",
        "a'b\\c",
        "%s %(x)s",
        "{allowed}",
        "&|!():*",
        "?" * 50,
        "💥",
        "-",
        '"',
        "x" * 1999,
    ],
)
def test_odd_questions_find_something_or_nothing_but_never_fail(
    project, corpus, question
):
    assert isinstance(rank(project, question).arms["keyword"], int)


def test_ranking_stays_within_its_queryset_and_its_project(
    project, other_project, corpus
):
    make_node(other_project, "theirs", TEXTS[3])
    embed_backlog()
    assert "theirs" not in keys(rank(project, QUESTION))
    some = SearchableNode.objects.of(project).filter(key__in=["m0", "m4"])
    assert set(keys(rank(project, QUESTION, nodes=some))) == {"m0", "m4"}
    with_percent = SearchableNode.objects.of(project).filter(content__contains="pump")
    assert set(keys(rank(project, QUESTION, nodes=with_percent))) == {
        "m0",
        "m1",
        "m3",
        "m6",
    }


def test_nothing_is_found_in_nothing(project, other_project, corpus):
    assert rank(other_project, QUESTION).best == ()
    none = SearchableNode.objects.none()
    assert rank(project, QUESTION, nodes=none).arms == {"keyword": 0, "vector": 0}


def test_ranking_is_one_query(project, corpus, django_assert_num_queries):
    vector, model = embed_question(QUESTION)
    with django_assert_num_queries(1):
        SearchableNode.objects.of(project).ranked(
            project, QUESTION, vector, model, EQUAL, limit=5
        )


def test_a_limit_keeps_the_best(project, corpus):
    every = keys(rank(project, QUESTION))
    assert keys(rank(project, QUESTION, limit=2)) == every[:2]


def test_candidates_by_rarity_find_the_best_of_any_word(project, corpus, monkeypatch):
    best = keys(rank(project, "alarm pump", KEYWORD))[0]
    monkeypatch.setattr(ranked, "ANY_WORD_BELOW", 1)
    monkeypatch.setattr(ranked, "RARE_BUDGET", 1)
    assert keys(rank(project, "alarm pump", KEYWORD))[0] == best == "m5"


def test_the_index_gives_what_exact_distances_give(project, corpus, monkeypatch):
    exact = keys(rank(project, QUESTION, VECTOR))
    monkeypatch.setattr(ranked, "EXACT_BELOW", 1)
    assert keys(rank(project, QUESTION, VECTOR)) == exact


def test_vectors_of_another_model_are_not_compared(project, corpus):
    vector, model = embed_question(QUESTION)
    nodes = SearchableNode.objects.of(project)
    assert nodes.ranked(project, QUESTION, vector, model, VECTOR, limit=9).arms[
        "vector"
    ]
    found = nodes.ranked(project, QUESTION, vector, model + 1, VECTOR, limit=9)
    assert found.arms["vector"] == 0


def test_a_text_in_another_language_is_found_by_its_own_stems(project, corpus):
    make_node(project, "de", "Die Rechnungen sind verspätet", language="german")
    count_lexemes(project, always=True)
    assert keys(rank(project, "Rechnung", KEYWORD)) == ["de"]
