from __future__ import annotations

import numpy as np
import pytest
from django.db import connection

from connections.providers.base import ProviderError, embedders
from graph import embed
from graph.embedded_text import embedded_text
from graph.models import EmbeddingModel, Node
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
    real = embed.embed_texts
    asked = []

    def slow(texts):
        asked.append(texts)
        if len(asked) == 1:
            Node.objects.filter(pk=node.pk).update(content="new words")
        return real(texts)

    monkeypatch.setattr(embed, "embed_texts", slow)
    embed.embed_backlog(project.pk)
    assert [texts[0] for texts in asked] == ["old words", "new words"]
    assert waiting(project) == set()


def test_an_embedder_of_another_model_is_refused_with_what_to_do(project, settings):
    class Other:
        name, dimensions = "other-model", 3

        def embed(self, texts):
            return np.ones((len(texts), 3), dtype=np.float32)

    embedders.add("other", Other)
    try:
        settings.FABRIC = settings.FABRIC | {"EMBEDDER": "other"}
        with pytest.raises(ProviderError, match="reembed other"):
            embed.active_embedder()
    finally:
        del embedders["other"]
        embed._embedder.cache_clear()


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
