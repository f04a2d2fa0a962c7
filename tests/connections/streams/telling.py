"""What tests of streams ask a model, and what it told them."""

from __future__ import annotations

from connections.providers import anthropic_chat, openai_chat  # noqa: F401 - register
from connections.providers.chat import (
    Access,
    Delta,
    Finished,
    Message,
    Tool,
    chat_models,
)

SEARCH = Tool(
    "search",
    "Searches the graph.",
    {"type": "object", "properties": {"query": {"type": "string"}}},
)

QUESTION = Message("user", "When does it ship?")

TEXT = "It ships on Friday,\n “after” the tests."

ARGUMENTS = {"query": "launch, “date”", "limit": 5}

BOTH = ["anthropic", "openai"]


def model_at(server, name):
    url = server.url if name == "anthropic" else f"{server.url}/v1"
    return chat_models[name]("some-model", Access(url, "sk-secret-7"))


def stream(model, *messages, tools=(SEARCH,)):
    return model.stream("Be short.", messages or (QUESTION,), tools, max_tokens=50)


def told(pieces):
    """Return the text of the pieces, and how they ended."""
    pieces = list(pieces)
    assert all(isinstance(piece, Delta) for piece in pieces[:-1])
    assert isinstance(pieces[-1], Finished)
    return "".join(piece.text for piece in pieces[:-1]), pieces[-1]


def calls_of(finished):
    return [(call.name, call.arguments) for call in finished.calls]
