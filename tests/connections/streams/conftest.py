"""A chat server on the loopback, and a model that asks it."""

from __future__ import annotations

import pytest

from tests.connections.chat_server import ChatServer
from tests.connections.streams.telling import TEXT, model_at


@pytest.fixture
def server(settings):
    settings.FABRIC = settings.FABRIC | {
        "MODEL_SILENCE_SECONDS": 0.3,
        "MODEL_FIRST_SECONDS": 0.6,
    }
    with ChatServer() as server:
        server.reply = lambda messages, tools: TEXT
        yield server


@pytest.fixture
def model(server, name):
    return model_at(server, name)
