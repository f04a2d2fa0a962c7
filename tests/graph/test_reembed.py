from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np
import psycopg
import pytest
from celery.exceptions import Retry
from django.core.management import CommandError, call_command
from django.db import connection, connections

from connections.providers.base import (
    ProviderError,
    TextsRefused,
    Vectors,
    embedders,
    to_unit_length,
)
from graph import embed, tasks
from graph import reembed as module
from graph.embed import embed_backlog, forget_model, index_exists
from graph.embedded_text import embedded_text
from graph.models import EmbeddingModel, Node, RefusedText
from graph.reembed import (
    OutOfTime,
    ReembedBusy,
    ReembedCancelled,
    ReembedError,
    Wanted,
    cancel,
    choose_model,
    filling,
    reembed,
)
from retrieval.arms import vector as by_vector
from retrieval.arms.base import Plan
from retrieval.search import search
from tests.connections.embedding_server import FakeOpenAI
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_node,
    take_in,
)
from tests.graph.test_ingest_killed import CHECKOUT, address_of
from tests.retrieval.asking import make_ask

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


class OtherEmbedder:
    """Eight dimensions: one that all texts share, and one by their letters."""

    name = "other"
    is_local = True
    leading = 0
    failing = False
    asked: list[str] = []

    def __init__(self, model: str = "", dimensions: int = 0) -> None:
        self.dimensions = dimensions or 8

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.failing:
            raise ProviderError("The provider went away.")
        if any("refused" in text for text in texts):
            raise TextsRefused("I do not take this.")
        type(self).asked += texts
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, [0, 1 + sum(text.encode()) % (self.dimensions - 1)]] = 1
        return to_unit_length(vectors)


@pytest.fixture(autouse=True)
def _other(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(OtherEmbedder, "asked", [])
    with patch.dict(embedders, {"other": OtherEmbedder}):
        embed._embedder.cache_clear()
        yield
        monkeypatch.undo()
        cancel()
        reembed("static")
        EmbeddingModel.objects.filter(is_active=False).delete()
        embed._embedder.cache_clear()
        forget_model()


@pytest.fixture
def filled(project):
    messages = [draft_message(f"{n}.000001", f"Message {n}") for n in range(1, 6)]
    take_in(project, draft_account(), draft_channel(), *messages)
    embed_backlog()
    return project


def sizes() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT vector_dims(embedding) FROM graph_nodes"
            " WHERE embedding IS NOT NULL"
        )
        return {row[0] for row in cursor.fetchall()}


def columns() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_name = 'graph_nodes' AND column_name LIKE 'embedding%%'"
        )
        return {row[0] for row in cursor.fetchall()}


LIVE = {"embedding", "embedding_model_id"}


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


class TestResuming:
    def test_what_was_filled_before_a_failure_is_not_filled_again(
        self, filled, monkeypatch
    ):
        monkeypatch.setattr(module, "BATCH", 2)
        steps: list[str] = []

        def fail_later(text: str) -> None:
            steps.append(text)
            if len(steps) == 3:
                monkeypatch.setattr(OtherEmbedder, "failing", True)

        with pytest.raises(ProviderError):
            reembed("other", progress=fail_later)
        assert sizes() == {256}
        model = filling()
        assert model.error == "The provider went away."
        assert "filled" in model.progress
        before = list(OtherEmbedder.asked)
        assert search(filled, "Message 3", user=None).arms["vector"] == 5
        monkeypatch.setattr(OtherEmbedder, "failing", False)
        reembed("other")
        assert sizes() == {8}
        assert len(OtherEmbedder.asked) == len(set(OtherEmbedder.asked)) == 5
        assert OtherEmbedder.asked[: len(before)] == before

    def test_words_that_change_behind_it_are_caught_up_before_the_switch(self, filled):
        def change(text: str) -> None:
            if text == "switching":
                Node.objects.filter(key="slack:C1:1.000001").update(content="Changed")
                make_node(filled, "new", "A new one")

        with patch.object(module, "embed_backlog") as after:
            reembed("other", progress=change)
        assert after.called
        assert embed.backlog() == 0
        assert not Node.objects.filter(content__in=["Changed", "A new one"]).exclude(
            embedding__isnull=False
        )
        assert any("Changed" in text for text in OtherEmbedder.asked)

    def test_it_ends_in_time_and_goes_on(self, filled, monkeypatch):
        monkeypatch.setattr(module, "BATCH", 2)
        with pytest.raises(OutOfTime):
            reembed("other", until=time.monotonic() + 0.02)
        assert filling() is not None
        assert reembed("other").is_active

    def test_a_half_built_index_is_built_anew(self, filled, monkeypatch):
        def stop(text: str) -> None:
            if text.startswith("building graph_nodes_embedding"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            reembed("other", progress=stop)
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "CREATE INDEX graph_nodes_embedding_next ON graph_nodes"
                " USING hnsw (embedding_next vector_cosine_ops)"
            )
        superuser_says_invalid = patch.object(
            module, "index_exists", lambda name: False
        )
        with superuser_says_invalid:
            reembed("other")
        assert index_exists()

    def test_two_at_once_are_refused(self, filled, monkeypatch):
        monkeypatch.setattr(module, "KILLED_SECONDS", 0)
        with psycopg.connect(address_of("owner")) as other:
            other.execute("SELECT pg_advisory_lock(%s)", [module.ONE_AT_A_TIME])
            with (
                patch.object(module._only_one, "__defaults__", (0,), create=True),
                pytest.raises(ReembedBusy, match="--status"),
            ):
                reembed("other")

    def test_another_model_than_the_half_filled_is_refused(self, filled, monkeypatch):
        monkeypatch.setattr(OtherEmbedder, "failing", True)
        with pytest.raises(ProviderError):
            reembed("other")
        with pytest.raises(ReembedError, match=r"other \(8\) are half made.*--cancel"):
            reembed(Wanted.configured("static", dimensions=128))


class TestKilled:
    NODES = 2200

    @pytest.fixture
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "DATABASE_URL": address_of("default"),
            "FABRIC_OWNER_DATABASE_URL": address_of("owner"),
            "CELERY_BROKER_URL": "memory://",
            "OPENAI_API_KEY": "sk-test",
        }

    def start(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "manage.py", "reembed", "--provider", "openai"]
        return subprocess.Popen(
            [*command, "--dimensions", "64", "--no-progress"],
            cwd=Path(CHECKOUT),
            stderr=subprocess.PIPE,
            env=environment,
        )

    @pytest.mark.timeout(150)
    def test_killed_in_the_middle_it_ends_right_and_asks_for_nothing_twice(
        self, project, environment
    ):
        messages = [
            draft_message(f"{n}.000001", f"Message {n}") for n in range(self.NODES)
        ]
        take_in(project, draft_account(), draft_channel(), *messages)
        embed_backlog()
        with FakeOpenAI() as fake:
            environment |= {"OPENAI_BASE_URL": fake.url}
            fake.before = lambda: time.sleep(0.1)
            process = self.start(environment)
            try:
                deadline = time.monotonic() + 60
                while len(fake.asked) < 4:
                    assert process.poll() is None, process.stderr.read().decode()
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
            finally:
                process.send_signal(signal.SIGKILL)
                process.wait()
            model = filling()
            assert 0 < model.filled < self.NODES
            done = {
                embedded_text(node)
                for node in Node.objects.filter(pk__lte=model.filled_to)
            } - {""}
            assert done
            assert sizes() == {256}
            fake.asked.clear()
            fake.before = lambda: None
            final = self.start(environment)
            assert final.wait(60) == 0, final.stderr.read().decode()
            again = fake.texts
        assert sizes() == {64}
        assert done.isdisjoint(again)
        assert len(done) + len(again) == self.NODES
        found = Node.objects.filter(node_type="message", embedding__isnull=False)
        assert found.count() == self.NODES


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
        assert embed.search_settings()["ivfflat.iterative_scan"] == "relaxed_order"
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
        assert embed.search_settings() == {}

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

    def test_the_shipped_model_indexes_half_of_its_dimensions(self, filled):
        model = EmbeddingModel.objects.get(is_active=True)
        assert (model.dimensions, model.indexed_dimensions) == (256, 128)
        assert "subvector(embedding, 1, 128)" in self.index()
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


class TestCancel:
    def test_it_drops_what_is_half_filled(self, filled, monkeypatch):
        monkeypatch.setattr(OtherEmbedder, "failing", True)
        with pytest.raises(ProviderError):
            reembed("other")
        assert columns() > LIVE
        assert cancel().name == "other"
        assert columns() == LIVE
        assert filling() is None
        assert search(filled, "Message 3", user=None).arms["vector"] == 5
        assert cancel() is None

    def test_one_that_is_filling_stops(self, filled, monkeypatch):
        monkeypatch.setattr(module, "BATCH", 2)

        def cancelled(text: str) -> None:
            EmbeddingModel.objects.update(filling_since=None)

        with pytest.raises(ReembedCancelled):
            reembed("other", progress=cancelled)
        assert sizes() == {256}
        assert reembed("other").is_active


class TestCommand:
    def test_it_takes_the_provider_by_name_and_says_what_to_set(self, filled, capsys):
        call_command("reembed", "--provider", "other", "--no-progress")
        assert "FABRIC_EMBEDDER=other" in capsys.readouterr().out
        assert EmbeddingModel.objects.filter(is_active=True).count() == 1

    def test_the_status_says_how_far_it_is_and_what_stopped_it(
        self, filled, capsys, monkeypatch
    ):
        call_command("reembed", "--status")
        assert "static-embedder (256), vector, hnsw; 0 nodes wait" in (
            capsys.readouterr().out
        )
        monkeypatch.setattr(OtherEmbedder, "failing", True)
        with pytest.raises(CommandError, match="went away"):
            call_command("reembed", "other", "--no-progress")
        call_command("reembed", "--status")
        said = capsys.readouterr().out
        assert "filling: other (8), filled 0 of" in said
        assert "it stopped: The provider went away." in said
        call_command("reembed", "--cancel")
        assert "Dropped the vectors of other (8)" in capsys.readouterr().out

    def test_the_status_names_what_was_refused(self, filled, capsys):
        make_node(filled, "bad", "refused words")
        reembed("other")
        call_command("reembed", "--status")
        assert "bad: I do not take this." in capsys.readouterr().out
        call_command("reembed", "--retry-refused")
        assert "1 nodes wait" in capsys.readouterr().out

    def test_an_unknown_provider_is_named_with_those_there_are(self, filled):
        with pytest.raises(CommandError, match="there are: google, openai, other"):
            call_command("reembed", "word2vec")


class TestTask:
    def test_it_changes_the_model(self, filled):
        tasks.reembed(choose_model(Wanted.configured("other")).pk)
        assert sizes() == {8}

    def test_without_time_left_it_hands_on_to_the_next(self, filled, monkeypatch):
        monkeypatch.setattr(tasks, "REEMBED_SLICE_SECONDS", 0)
        model = choose_model(Wanted.configured("other"))
        with patch.object(tasks.reembed, "delay") as delay:
            tasks.reembed(model.pk)
        delay.assert_called_once_with(model.pk)

    def test_what_fails_is_shown_and_tried_again(self, filled, monkeypatch):
        monkeypatch.setattr(OtherEmbedder, "failing", True)
        model = choose_model(Wanted.configured("other"))
        with (
            patch.object(tasks.reembed, "retry", side_effect=Retry()) as retry,
            pytest.raises(Retry),
        ):
            tasks.reembed(model.pk)
        assert retry.called
        model.refresh_from_db()
        assert model.error == "The provider went away."

    def test_a_model_that_is_gone_or_active_is_no_error(self, filled):
        tasks.reembed(0)
        tasks.reembed(EmbeddingModel.objects.get(is_active=True).pk)

    def test_the_command_hands_it_to_a_worker(self, filled, capsys):
        with patch.object(tasks.reembed, "delay") as delay:
            call_command("reembed", "other", "--background")
        assert delay.called
        assert "--status" in capsys.readouterr().out
        assert sizes() == {256}
