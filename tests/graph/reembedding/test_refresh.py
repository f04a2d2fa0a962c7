"""The index of vectors is fitted to what they have in common, while people search."""

from __future__ import annotations

import json
import math
from unittest.mock import patch

import psycopg
import pytest
from django.db import connection

from graph import embed, vector_index, vector_refresh
from graph.embed import forget_model
from graph.models import EmbeddingModel
from graph.reembed import ONE_AT_A_TIME, Wanted, only_one, reembed
from graph.tasks import refresh_vector_index
from graph.vector_refresh import FORMER, FRESH, is_off, refresh_index
from retrieval.arms import vector as by_vector
from retrieval.arms.base import Plan
from tests.factories import draft_message, take_in
from tests.graph.reembedding.other_embedder import OtherEmbedder
from tests.graph.test_ingest_killed import address_of
from tests.retrieval.asking import make_ask

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


@pytest.fixture(autouse=True)
def _a_few_suffice(monkeypatch):
    monkeypatch.setattr(vector_index, "LEAST_SAMPLED", 5)
    monkeypatch.setattr(by_vector, "EXACT_BELOW", 0)


def indexes() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes"
            " WHERE indexname LIKE 'graph_nodes_embedding%%'"
        )
        return dict(cursor.fetchall())


def active() -> EmbeddingModel:
    return EmbeddingModel.objects.get(is_active=True)


def found(project, question="Message 3") -> list[tuple[str, float]]:
    hits = by_vector.find(make_ask(project, question), Plan(pool=4))
    return [(hit.key, pytest.approx(hit.score)) for hit in hits]


def plan() -> str:
    """Return how the nearest are found where reading and sorting all is dear."""
    nearest = f"SELECT id FROM graph_nodes ORDER BY {embed.nearness('%s')} LIMIT 3"  # noqa: S608
    question, _ = embed.embed_question("Message 3")
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_sort = off")
        try:
            cursor.execute(f"EXPLAIN {nearest}", [question])
            return "\n".join(row[0] for row in cursor.fetchall())
        finally:
            cursor.execute("RESET enable_seqscan; RESET enable_sort")


class TestCenter:
    def test_it_is_the_mean_of_the_vectors(self, filled):
        reembed("other")
        center = json.loads(active().center)
        assert len(center) == 8
        # Every text has half of its square in the first dimension (other_embedder).
        assert center[0] == pytest.approx(math.sqrt(0.5), abs=1e-3)
        with connection.cursor() as cursor:
            cursor.execute("SELECT avg(embedding)::text FROM graph_nodes")
            mean = json.loads(cursor.fetchone()[0])
        assert center == pytest.approx(mean, abs=1e-4)

    def test_too_few_vectors_have_none(self, filled, monkeypatch):
        monkeypatch.setattr(vector_index, "LEAST_SAMPLED", 1000)
        reembed("other")
        assert active().center == ""
        assert " - " not in indexes()["graph_nodes_embedding"]

    def test_vectors_with_little_in_common_have_none(self, filled, monkeypatch):
        monkeypatch.setattr(vector_index, "LEAST_IN_COMMON", 1.0)
        reembed("other")
        assert active().center == ""

    def test_clusters_have_none(self, filled):
        reembed(Wanted.configured("other", index="ivfflat", lists=2))
        assert active().center == ""

    @pytest.mark.parametrize(
        "given",
        [
            {},
            {"storage": "halfvec"},
            {"indexed_dimensions": 4},
            {"storage": "halfvec", "indexed_dimensions": 4},
        ],
    )
    def test_the_index_is_used_and_finds_what_all_distances_find(self, filled, given):
        with patch.object(vector_index, "LEAST_SAMPLED", 1000):
            reembed(Wanted.configured("other", **given))
            before = found(filled)
        reembed("static")
        EmbeddingModel.objects.filter(is_active=False).delete()
        reembed(Wanted.configured("other", **given))
        assert active().center
        assert " - '[" in indexes()["graph_nodes_embedding"]
        assert "graph_nodes_embedding" in plan()
        assert found(filled) == before
        assert len(before) == 4


class TestRefresh:
    def test_an_index_about_what_its_vectors_were_once_is_made_anew(self, filled):
        assert active().center == ""
        before = found(filled)
        assert refresh_index(patience=0)
        assert len(json.loads(active().center)) == 192
        assert set(indexes()) == {"graph_nodes_embedding"}
        assert "graph_nodes_embedding" in plan()
        assert found(filled) == before
        assert not refresh_index(patience=0)

    def test_what_was_written_since_is_in_it(self, filled):
        refresh_index(patience=0)
        take_in(filled, draft_message("9.000001", "The compressor of hall two"))
        embed.embed_backlog()
        assert found(filled, "compressor of hall two")[0][0] == "slack:C1:9.000001"

    def test_a_process_that_knows_only_the_former_center_has_its_index(
        self, filled, monkeypatch
    ):
        plans = []

        def look(seconds: float) -> None:
            known = embed._recent_embedder(0)
            plans.append(plan())
            with patch.object(embed, "_recent_embedder", lambda _: former):
                plans.append(plan())
            assert known[1].center != former[1].center

        former = embed.active_embedder()
        monkeypatch.setattr(vector_refresh.time, "sleep", look)
        assert refresh_index()
        assert "using graph_nodes_embedding on" in plans[0]
        assert f"using {FORMER} on" in plans[1]

    @pytest.mark.parametrize("step", ["_switch", "sleep"])
    def test_killed_at_any_point_it_leaves_an_index_and_the_next_tidies_up(
        self, filled, step
    ):
        place = vector_refresh.time if step == "sleep" else vector_refresh
        with patch.object(place, step, _killed), pytest.raises(KeyboardInterrupt):
            refresh_index(patience=0)
        forget_model()
        assert FRESH in indexes() if step == "_switch" else FORMER in indexes()
        assert "Index Scan using graph_nodes_embedding on" in plan()
        assert refresh_index(patience=0) == (step == "_switch")
        assert set(indexes()) == {"graph_nodes_embedding"}
        assert active().center

    def test_while_vectors_are_changed_it_waits_for_tomorrow(self, filled, monkeypatch):
        monkeypatch.setattr(OtherEmbedder, "failing", True)
        with pytest.raises(Exception, match="went away"):
            reembed("other")
        assert not refresh_index(patience=0)
        assert active().center == ""

    def test_a_second_process_leaves_it_to_the_first(self, filled, monkeypatch):
        monkeypatch.setattr(only_one.__wrapped__, "__defaults__", (0,))
        with psycopg.connect(address_of("owner")) as other:
            other.execute("SELECT pg_advisory_lock(%s)", [ONE_AT_A_TIME])
            refresh_vector_index()
        assert active().center == ""


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_center_is_off_when_it_is_elsewhere():
    assert not is_off("", "")
    assert is_off("", "[1.0, 0.0]")
    assert is_off("[1.0, 0.0]", "")
    assert not is_off("[1.0, 0.0]", "[0.95, 0.0]")
    assert is_off("[1.0, 0.0]", "[0.85, 0.0]")
