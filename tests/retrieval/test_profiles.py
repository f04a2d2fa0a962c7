"""Each published profile by name: its ranking computed by hand on a small graph."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from graph.embed import embed_question
from graph.models import Node
from retrieval.communities.refresh import refresh_communities
from retrieval.profiles import DEFAULT, profiles
from retrieval.search import search
from tests.factories import make_edge, make_node
from tests.retrieval.asking import found_by as arm_finds
from tests.retrieval.asking import index, keys, make_ask

pytestmark = pytest.mark.django_db
TEXTS = {
    "spare": "The spare key is under the mat.",
    "key": "The key opens the garage.",
    "lunch": "Quarterly revenue fell by nine percent.",
    "both": "Is the key a spare key? The spare key!",
}
QUESTION = "spare key"


@pytest.fixture
def corpus(project):
    nodes = {key: make_node(project, key, text) for key, text in TEXTS.items()}
    index(project)
    return nodes


def asked(project, profile, question=QUESTION, **given):
    return search(project, question, user=None, profile=profile, **given)


def similarities(project, question=QUESTION):
    return {h.key: h.score for h in arm_finds("vector", make_ask(project, question))}


def by_hand(weights, k, **ranked):
    """Fuse lists of keys by weight / (k + rank), the best first, then by key."""
    scores = {}
    for arm, found in ranked.items():
        for rank, key in enumerate(found, start=1):
            scores[key] = scores.get(key, 0) + weights[arm] / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def ranking(answer):
    return [(result.key, pytest.approx(result.score)) for result in answer.results]


def contributed(answer, arm):
    ranks = {
        result.key: result.contributions[arm].rank
        for result in answer.results
        if arm in result.contributions
    }
    return sorted(ranks, key=ranks.__getitem__)


def test_fabric_fuses_all_words_and_vectors_above_a_fifth_equally(project, corpus):
    vector, _ = embed_question(QUESTION)
    away = [-float(x) for x in vector.strip("[]").split(",")]
    Node.objects.filter(key="lunch").update(embedding=away)
    near = similarities(project)
    vector = [key for key in near if near[key] > 0.2]
    assert set(vector) == {"spare", "key", "both"}
    # Only two texts have both words; by cover density the one that has them thrice.
    expected = by_hand(
        {"keyword": 1, "vector": 1}, 60, keyword=["both", "spare"], vector=vector
    )
    answer = asked(project, "fabric")
    assert expected == ranking(answer)
    assert answer.arms == {"keyword": 2, "vector": len(vector)}
    for result in answer.results:
        assert set(result.contributions) <= {"keyword", "vector"}


def test_engram_reads_metadata_as_well_and_names_three_arms(project, corpus):
    Node.objects.filter(key="lunch").update(metadata={"topics": ["spare key"]})
    tool = make_node(project, "pgvector", node_type="technology", title="pgvector")
    make_edge(corpus["key"], tool, "mentions")
    index(project)
    question = "spare key pgvector"
    near = similarities(project, question)
    answer = asked(project, "engram", "pgvector")
    # The thing itself is worth 1, the text that mentions it half; no text has the word.
    assert contributed(answer, "graph") == ["pgvector", "key"]
    assert set(DEFAULT.arms) != set(profiles["engram"].arms)
    assert set(profiles["engram"].arms) == {"keyword", "vector", "graph"}
    by_words = asked(project, "engram")
    assert set(contributed(by_words, "keyword")) == {"both", "spare", "lunch"}
    assert near
    expected = by_hand(
        {"keyword": 1, "vector": 1},
        60,
        keyword=contributed(by_words, "keyword"),
        vector=list(similarities(project)),
    )
    assert expected == ranking(by_words)


def test_athena_weighs_four_arms_and_always_reranks(project, corpus):
    Node.objects.filter(key="lunch").update(tags=["spare"])
    Node.objects.filter(key__in=["key", "both"]).update(node_type="meeting")
    Node.objects.filter(key="key").update(title="spare parts")
    for far, near in (("spare", "both"), ("key", "both"), ("key", "spare")):
        make_edge(corpus[far], corpus[near], "replied_to")
    index(project)
    refresh_communities(project)
    answer = asked(project, "athena")
    found = {arm: contributed(answer, arm) for arm in profiles["athena"].arms}
    assert found["tags"] == ["lunch"]
    assert found["filename"] == ["key"]
    assert set(found["community"]) == {"spare", "both", "key"}
    weights = {"vector": 0.30, "tags": 0.25, "community": 0.25, "filename": 0.20}
    fused = dict(by_hand(weights, 60, **found))
    assert answer.reranked_by == "rules"
    best = max(fused.values())
    # Half of the score is the fused one's share, half that of the rules.
    for result in answer.results:
        rules = 2 * result.score - fused[result.key] / best
        assert -1e-9 <= rules <= 1 + 1e-9
        has_words = any(word in result.text for word in ("spare", "key"))
        assert (rules > 1e-9) == has_words


def test_memory_fabric_scores_recency_relevance_and_authority(project):
    now = timezone.now()
    tool = make_node(
        project,
        "pgvector",
        "pgvector is what we use.",
        node_type="technology",
        title="pgvector",
        occurred_at=now - timedelta(days=6),
    )
    for key, text, days in (
        ("new", "We chose an index for the search.", 3),
        ("old", "Nobody had time to look at the tables yet.", 300),
    ):
        node = make_node(project, key, text, occurred_at=now - timedelta(days=days))
        make_edge(node, tool, "mentions")
    index(project)
    answer = asked(project, "memory-fabric", "pgvector")
    # Recency 1 - days/30, at least 0.1; relevance 1 for the name and half a hop away;
    # authority 1.1. No text names another thing, so nothing is boosted.
    assert ranking(answer) == [
        ("pgvector", 0.3 * (1 - 6 / 30) + 0.5 * 1.0 + 0.2 * 1.1),
        ("new", 0.3 * (1 - 3 / 30) + 0.5 * 0.5 + 0.2 * 1.1),
        ("old", 0.3 * 0.1 + 0.5 * 0.5 + 0.2 * 1.1),
    ]
    assert answer.arms == {"graph": 3}


def test_memory_fabric_boosts_what_names_a_thing_and_merges_copies(project):
    now = timezone.now()
    tool = make_node(project, "pgvector", node_type="technology", title="pgvector")
    for key in ("first", "second"):
        node = make_node(
            project, key, "The index is made by pgvector.", occurred_at=now
        )
        make_edge(node, tool, "mentions")
    index(project)
    answer = asked(project, "memory-fabric", "pgvector")
    first = next(r for r in answer.results if r.key == "first")
    assert first.cross_validated
    assert first.cross_referenced
    assert first.metadata["source_key"] == "second"
    # Half a hop's relevance, boosted by 1.2; two texts say it, so authority is 1.3.
    assert first.score == pytest.approx(0.3 * 1.0 + 0.5 * (0.5 * 1.2) + 0.2 * 1.3)
    assert "second" not in [r.key for r in answer.results]


def test_memory_fabric_caps_each_source_before_merging(project, monkeypatch):
    monkeypatch.setitem(settings.FABRIC, "MAX_RESULTS", 2)
    tool = make_node(project, "pgvector", node_type="technology", title="pgvector")
    for n in range(5):
        make_edge(make_node(project, f"m{n}", f"text {n}"), tool, "mentions")
    index(project)
    assert len(asked(project, "memory-fabric", "pgvector").results) == 2
    assert len(asked(project, "engram", "pgvector").results) > 2


def test_default_weighs_the_walk_most(project, corpus):
    make_edge(corpus["lunch"], corpus["spare"], "follows")
    answer = asked(project, "default")
    found = {arm: contributed(answer, arm) for arm in DEFAULT.arms}
    assert found["keyword"][0] == "both"
    assert "lunch" in found["walk"]
    assert by_hand(DEFAULT.weights, DEFAULT.k, **found) == ranking(answer)


def test_every_profile_names_arms_that_there_are_and_none_searches_alone():
    from retrieval.arms.base import arms

    assert set(profiles) == {"fabric", "engram", "athena", "memory-fabric", "default"}
    for profile in profiles.values():
        for name in profile.arms:
            assert set(arms[name].after) <= set(profile.arms)


def test_an_answer_needs_no_more_than_it_is_asked_for(project, corpus):
    assert keys(asked(project, "default", limit=1).results) == keys(
        asked(project, "default").results[:1]
    )
