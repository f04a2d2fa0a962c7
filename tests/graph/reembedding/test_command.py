"""The command and the task: what they say, hand on and try again."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from celery.exceptions import Retry
from django.core.management import CommandError, call_command

from graph import tasks
from graph.models import EmbeddingModel
from graph.reembed import Wanted, choose_model, reembed
from tests.factories import make_node
from tests.graph.reembedding.other_embedder import OtherEmbedder, sizes

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


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
