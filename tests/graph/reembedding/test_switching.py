"""Another model takes over: every vector is its own, and searches go on meanwhile."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest
from django.db import connection, connections

from graph import embed
from graph import reembed as module
from graph.embed import embed_backlog, index_exists
from graph.models import Node
from graph.reembed import ReembedError, Wanted, reembed
from retrieval.arms import vector as by_vector
from retrieval.arms.base import Plan
from retrieval.search import search
from tests.graph.reembedding.other_embedder import LIVE, OtherEmbedder, columns, sizes
from tests.graph.test_ingest_killed import address_of
from tests.retrieval.asking import make_ask

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class TestSwitch:
    def test_all_vectors_are_of_the_new_model_after_it(self, filled):
        assert sizes() == {256}
        model = reembed("other")
        assert model.is_active
        assert model.filling_since is None
        assert sizes() == {8}
        assert columns() == LIVE
        assert index_exists()
        made_by = Node.objects.values_list("embedding_model__name", flat=True)
        assert set(made_by) == {"other"}
        assert search(filled, "Message 3", user=None).arms["vector"] == 5

    def test_keys_and_indexes_are_named_as_before(self, filled):
        def names():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT indexname FROM pg_indexes WHERE tablename = 'graph_nodes'"
                    " UNION SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
                    " AND tgrelid = 'graph_nodes'::regclass UNION"
                    " SELECT a.attname || ' to ' || c.confrelid::regclass::text"
                    " FROM pg_constraint c JOIN pg_attribute a ON a.attrelid ="
                    " c.conrelid AND a.attnum = c.conkey[1]"
                    " WHERE c.conrelid = 'graph_nodes'::regclass AND c.contype = 'f'"
                )
                return {row[0] for row in cursor.fetchall()}

        before = names()
        assert {"graph_nodes_embedding", "graph_nodes_not_embedded"} <= before
        reembed("other")
        assert names() == before

    def test_new_words_go_back_to_the_queue_of_the_new_model(self, filled):
        reembed("other")
        Node.objects.filter(key="slack:C1:1.000001").update(content="Changed")
        assert embed.backlog() == 1
        assert embed_backlog() == 1
        assert sizes() == {8}

    def test_to_the_model_that_is_active_it_does_nothing(self, filled):
        model = reembed("static")
        assert (model.name, model.dimensions) == ("static-embedder", 256)
        assert columns() == LIVE

    def test_a_reader_is_waited_for_without_holding_others_up(self, filled, settings):
        reader = psycopg.connect(address_of("default"))
        reader.execute("SELECT count(*) FROM graph_nodes")
        longest, done = [0.0], threading.Event()

        def ask():
            with psycopg.connect(address_of("default"), autocommit=True) as other:
                while not done.is_set():
                    started = time.monotonic()
                    other.execute("SELECT count(*) FROM graph_nodes")
                    longest[0] = max(longest[0], time.monotonic() - started)

        asking = threading.Thread(target=ask)
        release = threading.Timer(3, reader.close)
        asking.start()
        release.start()
        try:
            # Readers are in the way of the first step, too: it adds columns.
            assert reembed("other").is_active
        finally:
            done.set()
            asking.join()
            release.join()
        assert 0.1 < longest[0] < 1.5, "lock_timeout bounds how long others wait"

    def test_a_table_that_is_never_free_is_said_so_and_nothing_is_lost(
        self, filled, monkeypatch
    ):
        monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.5)

        def read(text: str) -> None:
            if text == "switching":
                reader.execute("SELECT count(*) FROM graph_nodes")

        with (
            psycopg.connect(address_of("default")) as reader,
            pytest.raises(ReembedError, match="run it again"),
        ):
            reembed("other", progress=read)
        OtherEmbedder.asked.clear()
        assert reembed("other").is_active
        assert OtherEmbedder.asked == []


class TestSearchMeanwhile:
    def test_it_answers_all_the_time_and_never_of_mixed_models(self, filled):
        """Also where both models have one size, which no error would betray."""
        problems: list[str] = []
        done, count = threading.Event(), [0]

        def ask():
            try:
                while not done.is_set():
                    answer = search(filled, "Message 3", user=None)
                    count[0] += 1
                    if answer.arms["vector"] != 5:
                        problems.append(f"{answer.arms}")
                    near = [
                        hit.contributions["vector"].score
                        for hit in answer.results
                        if hit.key == "slack:C1:3.000001"
                    ]
                    if not near or near[0] < 0.2:
                        problems.append(f"similarity {near}")
            except Exception as error:  # noqa: BLE001 - whatever breaks is a failure
                problems.append(repr(error))
            finally:
                connections.close_all()

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            for wanted in (
                Wanted.configured("static", dimensions=128),
                Wanted.configured("static", storage="halfvec"),
                Wanted.configured("static", dimensions=128, index="ivfflat"),
                Wanted.configured("static", dimensions=128, storage="halfvec"),
            ):
                before = count[0]
                reembed(wanted)
                while count[0] < before + 5 and asking.is_alive():
                    time.sleep(0.01)
        finally:
            done.set()
            asking.join()
        assert problems == []
        assert count[0] >= 20

    def test_a_question_of_the_old_model_finds_no_vector_of_the_new(
        self, filled, monkeypatch
    ):
        """Between the look-up of the model and the statement the switch may come.

        By the index, which would raise an error for a question of another size.
        """
        monkeypatch.setattr(by_vector, "EXACT_BELOW", 0)
        asked: list[int] = []
        found: list[int] = []

        def find(vector: str | None, model_id: int) -> None:
            asked.append(model_id)
            if len(asked) == 1:
                reembed(Wanted.configured("static", dimensions=128))
            with connection.cursor() as cursor:
                cursor.execute("SET enable_seqscan = off; SET enable_sort = off")
                cursor.execute("SET enable_bitmapscan = off")
            ask = make_ask(filled, "Message 3", vector=vector, model_id=model_id)
            found.append(len(by_vector.find(ask, Plan(pool=5))))

        try:
            embed.with_vector("Message 3", find)
        finally:
            connection.cursor().execute("RESET ALL")
            connection.close()
        assert found == [0, 5]
        assert asked[0] != asked[1]
