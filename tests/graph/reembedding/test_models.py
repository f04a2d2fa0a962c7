"""The models there may be: their columns, indexes, sizes and settings."""

from __future__ import annotations

import pytest
from django.db import connection

from connections.providers.base import ProviderError
from graph import embed
from graph import reembed as module
from graph.embed import embed_backlog, forget_model
from graph.models import EmbeddingModel, Node, RefusedText
from graph.reembed import Wanted, choose_model, reembed
from retrieval.arms import vector as by_vector
from retrieval.arms.base import Plan
from retrieval.search import search
from tests.factories import make_node
from tests.graph.reembedding.other_embedder import OtherEmbedder, sizes
from tests.retrieval.asking import make_ask

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class TestModels:
    def test_the_same_vectors_in_another_column_ask_nobody(self, filled, monkeypatch):
        reembed("other")
        OtherEmbedder.asked.clear()
        model = reembed(
            Wanted.configured("other", storage="halfvec", index="ivfflat", lists=2)
        )
        assert model.is_active
        assert (model.storage, model.index, model.lists) == ("halfvec", "ivfflat", 2)
        assert OtherEmbedder.asked == []
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT format_type(a.atttypid, a.atttypmod), i.indexdef"
                " FROM pg_attribute a, pg_indexes i WHERE a.attname = 'embedding'"
                " AND a.attrelid = 'graph_nodes'::regclass"
                " AND i.indexname = 'graph_nodes_embedding'"
            )
            kind, index = cursor.fetchone()
        assert kind == "halfvec(8)"
        assert "ivfflat (embedding halfvec_cosine_ops) WITH (lists='2')" in index
        forget_model()
        assert embed.vector_type() == "halfvec"
        assert embed.search_settings(5)["ivfflat.iterative_scan"] == "relaxed_order"
        assert search(filled, "Message 3", user=None).arms["vector"] == 5
        stored = Node.objects.get(key="slack:C1:1.000001").embedding
        assert len(stored) == 8

    def test_the_index_has_the_parameters_of_the_model(self, filled):
        reembed(Wanted.configured("other", m=7, ef_construction=40))
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT indexdef FROM pg_indexes"
                " WHERE indexname = 'graph_nodes_embedding'"
            )
            assert "m='7', ef_construction='40'" in cursor.fetchone()[0]

    def test_more_nodes_need_more_neighbours_to_be_looked_at(self, filled, settings):
        for nodes, looked_at in ((5, {}), (200_000, {}), (500_000, 600), (10**7, 1000)):
            told = embed.search_settings(nodes)
            assert told == (looked_at and {"hnsw.ef_search": str(looked_at)})
        settings.FABRIC = settings.FABRIC | {"EMBEDDING_EF_SEARCH": 100}
        assert embed.search_settings(500_000) == {"hnsw.ef_search": "250"}

    def test_more_dimensions_than_an_index_takes_are_refused(self, filled):
        with pytest.raises(ProviderError, match="FABRIC_EMBEDDING_STORAGE=halfvec"):
            choose_model(Wanted.configured("other", dimensions=3072))
        wide = Wanted.configured("other", dimensions=3072, storage="halfvec")
        assert choose_model(wide).dimensions == 3072
        first = Wanted.configured("other", dimensions=3072, indexed_dimensions=512)
        assert choose_model(first).indexed_dimensions == 512

    def test_an_index_of_the_first_dimensions_finds_by_whole_vectors(
        self, filled, monkeypatch
    ):
        reembed(Wanted.configured("other", indexed_dimensions=2))
        forget_model()
        assert "subvector(embedding, 1, 2)" in self.index()
        # All texts share the first dimension: by two of eight they are nearly equal.
        monkeypatch.setattr(by_vector, "EXACT_BELOW", 0)
        question, _ = embed.embed_question("Message 3")
        hits = by_vector.find(make_ask(filled, "Message 3"), Plan(pool=4))
        assert question
        assert hits[0].score == pytest.approx(1)
        assert [hit.score for hit in hits] == sorted(
            (hit.score for hit in hits), reverse=True
        )

    def test_the_shipped_model_indexes_three_quarters_of_its_dimensions(self, filled):
        model = EmbeddingModel.objects.get(is_active=True)
        assert (model.dimensions, model.indexed_dimensions) == (256, 192)
        assert "subvector(embedding, 1, 192)" in self.index()
        whole = choose_model(Wanted.configured("static", indexed_dimensions=256))
        assert whole.indexed_dimensions == 0
        assert not whole.is_active

    def index(self):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT indexdef FROM pg_indexes"
                " WHERE indexname = 'graph_nodes_embedding'"
            )
            return cursor.fetchone()[0]

    def test_settings_of_model_and_size_are_those_of_the_embedder_they_name(
        self, settings
    ):
        settings.FABRIC = settings.FABRIC | {
            "EMBEDDER": "openai",
            "EMBEDDING_MODEL": "text-embedding-3-large",
            "EMBEDDING_DIMENSIONS": 1024,
            "EMBEDDING_INDEX": "ivfflat",
        }
        own, other = Wanted.configured(), Wanted.configured("static")
        assert (own.name, own.dimensions) == ("text-embedding-3-large", 1024)
        assert (other.name, other.dimensions) == ("", 0)
        assert own.index == other.index == "ivfflat"

    def test_a_text_that_is_refused_is_noted_and_the_rest_switched(self, filled):
        node = make_node(filled, "bad", "refused words")
        embed_backlog()
        reembed("other")
        (note,) = RefusedText.objects.all()
        assert (note.node_id, note.model.name) == (node.pk, "other")
        assert embed.backlog() == 0
        reembed("static")
        assert not RefusedText.objects.exists()


class TestNewInstallation:
    def test_it_begins_with_the_embedder_that_is_set(self, project, settings):
        settings.FABRIC = settings.FABRIC | {"EMBEDDER": "other"}
        assert module.adopt_configured().name == "other"
        assert module.adopt_configured() is None

    def test_vectors_that_are_there_stay(self, filled, settings):
        settings.FABRIC = settings.FABRIC | {"EMBEDDER": "other"}
        assert module.adopt_configured() is None
        assert sizes() == {256}
