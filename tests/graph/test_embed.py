from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connections.providers.base import TextsRefused
from connections.records import NodeDraft
from graph import embed, sql
from graph.copying import fetch
from graph.embedded_text import embedded_text
from graph.models import EmbeddingModel, Node, RefusedText
from graph.node_vectors import Waiting
from tests.factories import (
    draft_account,
    draft_channel,
    draft_message,
    make_node,
    make_project,
    take_in,
)

pytestmark = pytest.mark.django_db


def waiting(project):
    return set(
        Node.objects.of(project)
        .filter(embedding_model=None)
        .values_list("key", flat=True)
    )


def test_what_was_taken_in_gets_its_vectors_of_context_title_and_words(project):
    take_in(
        project, draft_account(), draft_channel(), draft_message(text="The pump failed")
    )
    assert embed.backlog(project.pk) >= 1
    embed.embed_backlog(project.pk)
    assert embed.backlog(project.pk) == 0
    node = Node.objects.of(project).get(node_type="message")
    (said,) = embed.embed_texts([f"{node.context}\n{node.content}"])
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT embedding <=> %s::vector FROM graph_nodes WHERE id = %s",
            [said, node.pk],
        )
        assert cursor.fetchone()[0] == pytest.approx(0, abs=1e-5)
    structure = Node.objects.of(project).exclude(node_type="message")
    assert structure.count() >= 3
    assert not structure.exclude(embedding=None).exists()


def test_both_ways_to_a_vector_embed_the_same_text(project):
    """At once for a first load, from the queue after: the words must not differ."""
    record = draft_message(text="The pump failed")
    take_in(project, record)
    asked = []
    embedder, _ = embed.active_embedder()
    real = embedder.embed
    try:
        embedder.embed = lambda texts: asked.extend(texts) or real(texts)
        embed.embed_backlog(project.pk)
    finally:
        del embedder.embed
    assert asked == [embedded_text(record.nodes[0])]


def test_a_text_without_words_has_no_vector_and_does_not_wait(project):
    node = make_node(project, "empty", "   ")
    embed.embed_backlog(project.pk)
    node.refresh_from_db()
    assert node.embedding is None
    assert node.embedding_model_id is not None


def test_the_backlog_of_one_project_leaves_others_waiting(project, other_project):
    make_node(project, "a", "x")
    make_node(other_project, "b", "x")
    assert embed.embed_backlog(project.pk) == 1
    assert (waiting(project), waiting(other_project)) == (set(), {"b"})
    assert embed.backlog() == 1


def test_new_words_go_back_to_the_queue_and_other_changes_do_not(project):
    node = make_node(project, "a", "x", title="T")
    embed.embed_backlog(project.pk)
    Node.objects.filter(pk=node.pk).update(
        tags=["t"], metadata={"a": 1}, node_type="email"
    )
    assert waiting(project) == set()
    for change in (
        {"content": "y"},
        {"title": "U"},
        {"context": "c"},
        {"language": "german"},
    ):
        Node.objects.filter(pk=node.pk).update(**change)
        assert waiting(project) == {"a"}
        assert Node.objects.get(pk=node.pk).embedding is None
        embed.embed_backlog(project.pk)


def test_words_that_change_while_a_provider_is_asked_keep_their_place(
    project, monkeypatch
):
    node = make_node(project, "a", "old words")
    embedder, _ = embed.active_embedder()
    real = embedder.embed
    asked = []

    def slow(texts):
        asked.append(texts)
        if len(asked) == 1:
            Node.objects.filter(pk=node.pk).update(content="new words")
        return real(texts)

    monkeypatch.setattr(embedder, "embed", slow)
    embed.embed_backlog(project.pk)
    assert [texts[0] for texts in asked] == ["old words", "new words"]
    assert waiting(project) == set()


def test_the_active_model_decides_whatever_the_setting_says(project, settings):
    settings.FABRIC = settings.FABRIC | {"EMBEDDER": "openai"}
    embedder, model = embed.active_embedder()
    assert (embedder.name, model.provider) == ("static-embedder", "static")


def test_vectors_of_a_model_that_is_no_longer_active_are_not_written(
    project, monkeypatch
):
    node = make_node(project, "a", "words")
    embedder, model = embed.active_embedder()
    real = embedder.embed
    other = EmbeddingModel.objects.create(name="static-embedder", dimensions=128)

    def switched(texts):
        EmbeddingModel.objects.filter(pk=model.pk).update(is_active=False)
        EmbeddingModel.objects.filter(pk=other.pk).update(is_active=True)
        return real(texts)

    monkeypatch.setattr(embedder, "embed", switched)
    assert embed._embed_some(project.pk) == 1
    node.refresh_from_db()
    assert (node.embedding, node.embedding_model_id) == (None, None)


class Fussy:
    """Refuses every text that holds "bad", and all of them where nothing is left."""

    name, dimensions, is_local, leading = "static-embedder", 256, True, 0

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.real = embed.embedder_of(EmbeddingModel(name=self.name, dimensions=256))

    def embed(self, texts):
        self.asked += texts
        if any("bad" in text for text in texts):
            raise TextsRefused("I do not take this.")
        return self.real.embed(texts)


@pytest.fixture
def fussy(monkeypatch):
    fussy = Fussy()
    monkeypatch.setattr(embed, "embedder_of", lambda model: fussy)
    return fussy


class TestRefusedTexts:
    @pytest.fixture
    def refused(self, project, fussy):
        nodes = [make_node(project, f"k{n}", f"words {n}") for n in range(9)]
        nodes[4].content = "bad words"
        nodes[4].save()
        embed.embed_backlog(project.pk)
        return nodes[4]

    def test_one_does_not_hold_up_the_others_and_says_why(self, project, refused):
        assert embed.backlog() == 0
        without = Node.objects.of(project).filter(embedding=None)
        assert list(without.values_list("key", flat=True)) == ["k4"]
        (note,) = RefusedText.objects.all()
        assert (note.node_id, note.reason) == (refused.pk, "I do not take this.")
        assert (note.tenant_id, note.project_id) == (project.tenant_id, project.pk)

    def test_it_is_not_asked_for_again(self, project, refused, fussy):
        fussy.asked.clear()
        assert embed.embed_backlog() == 0
        assert fussy.asked == []

    def test_other_words_are_tried_and_the_note_goes(self, project, refused):
        Node.objects.filter(pk=refused.pk).update(content="good words")
        assert embed.embed_backlog() == 1
        refused.refresh_from_db()
        assert refused.embedding is not None
        assert not RefusedText.objects.exists()

    def test_on_demand_it_is_tried_again(self, project, refused, fussy):
        assert embed.retry_refused() == 1
        assert waiting(project) == {"k4"}
        embed.embed_backlog()
        assert "bad words" in fussy.asked[-2:]
        assert RefusedText.objects.count() == 1

    def test_the_note_goes_with_its_node(self, refused):
        refused.delete()
        assert not RefusedText.objects.exists()


@given(
    context=st.text(max_size=8),
    title=st.text(max_size=8),
    content=st.text(max_size=8),
    node_type=st.sampled_from(["message", "channel", "email"]),
)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_draft_and_its_stored_node_have_one_embedded_text(
    project, context, title, content, node_type
):
    said = {
        name: value.replace("\x00", "").encode("utf-8", "ignore").decode()
        for name, value in (
            ("context", context),
            ("title", title),
            ("content", content),
        )
    }
    draft = NodeDraft(key="k", node_type=node_type, **said)
    stored = make_node(project, f"k{Node.objects.count()}", node_type=node_type, **said)
    rows = fetch(sql.NOT_EMBEDDED, {"project": project.pk, "limit": 1000})
    (row,) = (row for row in rows if row[0] == stored.pk)
    assert embedded_text(Waiting(*row)) == embedded_text(draft) == embedded_text(stored)


def test_vectors_are_written_as_postgresql_reads_them():
    texts = embed.as_text(np.array([[0.5, -1, 0], [0, 0, 0]], dtype=np.float32))
    assert texts == ["[0.5,-1,0]", None]


def test_one_model_is_active(project):
    assert EmbeddingModel.objects.get(is_active=True).dimensions == 256


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
class TestIndex:
    def test_a_first_load_goes_without_the_index_and_ends_with_it(self):
        with embed.bulk_vectors() as is_empty:
            assert is_empty
            assert not embed.index_exists()
        assert embed.index_exists()
        assert not embed.ensure_index()

    def test_the_index_comes_back_when_a_load_breaks_off(self):
        with pytest.raises(KeyError), embed.bulk_vectors():
            raise KeyError
        assert embed.index_exists()

    def test_where_somebody_searches_the_index_stays(self):
        project = make_project()
        make_node(project, "a", "words")
        embed.embed_backlog(project.pk)
        with embed.bulk_vectors() as is_empty:
            assert not is_empty
            assert embed.index_exists()
