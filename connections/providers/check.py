"""Whether a stored key opens its models, in a sentence each."""

from __future__ import annotations

from dataclasses import dataclass

from connections.models import ModelCredential
from connections.providers.base import ProviderError
from connections.providers.chat import Message
from connections.providers.choice import Purpose, model_of_credential

WORDS = Message("user", "Say yes.")
# Enough for a model that thinks a little first; a cut answer proves as much.
MOST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Tried:
    """What asking one model came to, for whoever entered its key."""

    is_fine: bool
    sentence: str


def check(credential: ModelCredential) -> list[Tried]:
    """Ask each model of the key for a word; return what came of it."""
    return [_tried(credential, "chat"), _tried(credential, "small")]


def _tried(credential: ModelCredential, purpose: Purpose) -> Tried:
    role = "The chat model" if purpose == "chat" else "The small model"
    try:
        model = model_of_credential(credential, purpose)
        for _ in model.stream("", [WORDS], max_tokens=MOST_TOKENS):
            pass
    except ProviderError as error:
        return Tried(False, f"{role} does not answer. {error}")
    return Tried(True, f"{role} answers: {model.model}.")
