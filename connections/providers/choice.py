"""Which chat model answers for a project."""

from __future__ import annotations

from typing import Literal

from django.conf import settings

from connections.models import Project
from connections.providers import anthropic_chat, openai_chat  # noqa: F401 - registered
from connections.providers.chat import ChatModel, chat_models

Purpose = Literal["chat", "small"]


def model_for(project: Project, *, purpose: Purpose = "chat") -> ChatModel | None:
    """Return the model that has a key; None where none has: everything is offline."""
    for name in ("anthropic", "openai"):
        if settings.FABRIC[f"{name.upper()}_API_KEY"]:
            return chat_models[name]("")
    return None
