"""Which model answers for a project: its own key's, its tenant's, the environment's."""

from __future__ import annotations

from typing import Literal, TypeAlias

from django.conf import settings

from connections.models import ModelCredential, Project
from connections.providers import anthropic_chat, openai_chat
from connections.providers.chat import (
    Access,
    ChatModel,
    ModelRefused,
    chat_models,
)
from connections.secrets import SecretError
from connections.usage import Metered, check_budget

Purpose: TypeAlias = Literal["chat", "small"]

# What a provider is asked with where nobody named a model.
DEFAULTS: dict[str, dict[Purpose, str]] = {
    "anthropic": {
        "chat": anthropic_chat.CHAT_MODEL,
        "small": anthropic_chat.SMALL_MODEL,
    },
    "openai": {"chat": openai_chat.CHAT_MODEL, "small": openai_chat.SMALL_MODEL},
}


def model_for(project: Project, *, purpose: Purpose = "chat") -> Metered | None:
    """Return the model of `project` for that purpose; None where no key opens one.

    Its requests are counted. Raises `BudgetSpent` where the project's tokens of today
    are used up, `ModelRefused` where a stored key does not open.
    """
    credential = ModelCredential.objects.serving(project)
    made = (
        model_of_credential(credential, purpose)
        if credential
        else _of_settings(purpose)
    )
    if made is None:
        return None
    check_budget(project)
    return Metered(made, project, purpose)


def model_of_credential(credential: ModelCredential, purpose: Purpose) -> ChatModel:
    """Return the model that a stored key opens, or raise `ModelRefused`."""
    try:
        access = credential.access
    except SecretError as error:
        raise ModelRefused(str(error)) from error
    name = credential.provider
    model = credential.model_of(purpose) or DEFAULTS[name][purpose]
    return chat_models[name](model, access)


def _of_settings(purpose: Purpose) -> ChatModel | None:
    options = settings.FABRIC
    named = options["SMALL_MODEL" if purpose == "small" else "CHAT_MODEL"]
    for name in ("anthropic", "openai"):
        access = Access(
            options[f"{name.upper()}_BASE_URL"], options[f"{name.upper()}_API_KEY"]
        )
        # A server of one's own may ask for no key.
        if access.key or (name == "openai" and access.base_url):
            return chat_models[name](named or DEFAULTS[name][purpose], access)
    return None
