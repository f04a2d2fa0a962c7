from __future__ import annotations

import pytest
from django.utils import timezone

from graph.embed import embed_backlog
from memory.agent import run
from retrieval.frequencies import count_lexemes
from tests.factories import make_node


@pytest.fixture
def corpus(project):
    nodes = [
        make_node(
            project,
            key,
            text,
            title=title,
            context=f"Ann Lee · {key}",
            occurred_at=timezone.now(),
        )
        for key, title, text in (
            ("m1", "Pump", "The pump of line 4 failed because its seal was dry."),
            ("m2", "Lunch", "Lunch is at noon in the canteen of Hamburg."),
            ("m3", "Standup", "We moved the standup to ten o'clock."),
        )
    ]
    for node in nodes:
        node.record.permalink = f"https://chat.test/{node.key}"
        node.record.save()
    embed_backlog(project.pk)
    count_lexemes(project, always=True)
    return nodes


@pytest.fixture
def use(monkeypatch):
    """Return a function that lets a model answer."""

    def put(model):
        monkeypatch.setattr(run, "model_for", lambda project, purpose="chat": model)
        return model

    return put
