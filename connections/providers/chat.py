"""The protocol of a chat model: words in, an answer of a given shape out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from connections.providers.base import ProviderError
from connections.registry import Registry

TIMEOUT_SECONDS = 60.0
RETRIES = 3


class ModelUnavailable(ProviderError):
    """The model could not be reached, or had too much to do; later it may answer."""


class ModelRefused(ProviderError):
    """The provider does not take such a request: its key, model or shape is wrong."""


class BadAnswer(ProviderError):
    """The model answered, but not what was asked for; asking again may not help."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a request read and wrote, as the provider counts them."""

    read: int
    written: int


@dataclass(frozen=True, slots=True)
class Structured:
    """An answer that matches its schema, and what it cost."""

    parsed: dict[str, Any]
    usage: Usage


class ChatModel(Protocol):
    """Answers in the shape of a JSON schema."""

    name: str
    model: str

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        """Return an answer that matches `schema`.

        Raises `ModelUnavailable`, `ModelRefused` or `BadAnswer`.
        """
        ...


# By the name that a setting takes; a factory is given a model id, "" for its default.
chat_models: Registry[Callable[[str], ChatModel]] = Registry("chat model")


def parse_answer(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return `text` as an object that matches `schema`, or raise `BadAnswer`."""
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise BadAnswer(f"The answer is no JSON: {error}") from error
    wrong = best_match(Draft202012Validator(schema).iter_errors(parsed))
    if wrong is not None:
        raise BadAnswer(
            f"The answer does not match its schema at {wrong.json_path}: "
            f"{wrong.message[:200]}"
        )
    if not isinstance(parsed, dict):
        raise BadAnswer("The answer is no JSON object.")
    return parsed
