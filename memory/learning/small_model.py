"""Which model reads turns; `connections.providers.choice.model_for` takes its place."""

from __future__ import annotations

from django.conf import settings

from connections.models import Project
from connections.providers import anthropic_chat, openai_chat  # noqa: F401 - register
from connections.providers.chat import ChatModel, chat_models


def model_for(project: Project, *, purpose: str = "small") -> ChatModel | None:
    """Return the small model of `project`; None without a key."""
    for name, key in (("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")):
        if settings.FABRIC[key]:
            return chat_models[name]("")
    return None
