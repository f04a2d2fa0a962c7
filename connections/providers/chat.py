"""The protocol of a chat model: words in, an answer of a given shape out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal, Protocol

from django.conf import settings
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


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: a name, what it is for, a JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call a model asks for; `arguments` None where it sent no JSON object."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Message:
    """What was said: by the user, by the model with its calls, or by a called tool."""

    role: Literal["user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Delta:
    """Some more text of a streamed answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a streamed answer: why it ended, what it calls for, what it cost."""

    reason: Literal["end", "tools", "length"]
    calls: tuple[ToolCall, ...]
    usage: Usage


class ChatModel(Protocol):
    """Answers in the shape of a JSON schema, or in words as they come."""

    name: str
    model: str

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        """Return an answer that matches `schema`.

        Raises `ModelUnavailable`, `ModelRefused` or `BadAnswer`.
        """
        ...

    def stream(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        max_tokens: int,
    ) -> Iterator[Delta | Finished]:
        """Yield the answer's text as it comes, and last how it ended.

        Closing the iterator ends the request. Raises as `structured` does; what came
        before was said.
        """
        ...


# By the name that a setting takes; a factory is given a model id, "" for its default.
chat_models: Registry[Callable[[str], ChatModel]] = Registry("chat model")


def client_options(prefix: str, label: str) -> dict[str, Any]:
    """Return what the client of an SDK is made with, from the settings of that prefix.

    Raises `ModelRefused` where there is no key.
    """
    key = settings.FABRIC[f"{prefix}_API_KEY"]
    if not key:
        raise ModelRefused(f"Set {prefix}_API_KEY to ask a model of {label}.")
    return {
        "api_key": key,
        "base_url": settings.FABRIC[f"{prefix}_BASE_URL"] or None,
        "timeout": TIMEOUT_SECONDS,
        "max_retries": RETRIES,
    }


@contextmanager
def errors_of(model: str, sdk: ModuleType, base: type[Exception]) -> Iterator[None]:
    """Raise the errors of an SDK, `base` the class of them all, as this module's.

    A stream must be read to its end within it. The SDKs of Anthropic and OpenAI
    are made by one generator and name their errors alike.
    """
    try:
        yield
    except sdk.APIConnectionError as error:
        raise ModelUnavailable(f"{model}: {error}") from error
    except sdk.APIStatusError as error:
        later = error.status_code in (408, 409, 429) or error.status_code >= 500
        kind = ModelUnavailable if later else ModelRefused
        raise kind(f"{model}: {error}") from error
    # Whatever answers there may be another: no JSON, or of another shape.
    except (base, ValueError, TypeError) as error:
        raise BadAnswer(f"{model}: {error}") from error


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
