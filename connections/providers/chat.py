"""The protocol of a chat model: words in, an answer of a given shape out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from django.conf import settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from connections.providers.base import ProviderError
from connections.registry import Registry


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a request read and wrote; `estimated` where the provider is silent.

    What an estimate counts is characters.
    """

    read: int
    written: int
    estimated: bool = False


class ModelUnavailable(ProviderError):
    """The model could not be reached, or had too much to do; later it may answer.

    `passes` where asking again at once is worth it, after the seconds it asks for.
    """

    def __init__(
        self, message: str, *, passes: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(message)
        self.passes, self.wait = passes, wait


class ModelRefused(ProviderError):
    """The provider does not take such a request: its key, model or shape is wrong."""


class BadAnswer(ProviderError):
    """The model answered, but not what was asked for; asking again may not help."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


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

    @property
    def name(self) -> str:
        """Return the provider's name."""
        ...

    @property
    def model(self) -> str:
        """Return the id of the model at its provider."""
        ...

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

        Its `close()`, from any thread, ends the request at once. Raises as
        `structured` does; what came before was said.
        """
        ...


@dataclass(frozen=True, slots=True)
class Access:
    """A provider's address, "" for its own, and the key that opens it."""

    base_url: str
    key: str = field(repr=False)


class MakeChatModel(Protocol):
    """Makes a provider's chat model; `""` is its small one, `None` the settings' key.

    Raises `ModelRefused` where there is no key.
    """

    def __call__(self, model: str = "", access: Access | None = None) -> ChatModel: ...


# By the name that a setting takes.
chat_models: Registry[MakeChatModel] = Registry("chat model")


def access_of_settings(prefix: str, label: str) -> Access:
    """Return the key and address in the settings of that prefix.

    Raises `ModelRefused` where there is no key.
    """
    key = settings.FABRIC[f"{prefix}_API_KEY"]
    if not key:
        raise ModelRefused(f"Set {prefix}_API_KEY to ask a model of {label}.")
    return Access(settings.FABRIC[f"{prefix}_BASE_URL"], key)


def arguments_of(text: str) -> dict[str, Any] | None:
    """Return the arguments of a call; None where the text is no JSON object."""
    try:
        parsed = json.loads(text)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def parse_answer(
    text: str, schema: Mapping[str, Any], usage: Usage | None = None
) -> dict[str, Any]:
    """Return `text` as an object that matches `schema`, or raise `BadAnswer`."""
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise BadAnswer(f"The answer is no JSON: {error}", usage) from error
    wrong = best_match(Draft202012Validator(schema).iter_errors(parsed))
    if wrong is not None:
        raise BadAnswer(
            f"The answer does not match its schema at {wrong.json_path}: "
            f"{wrong.message[:200]}",
            usage,
        )
    if not isinstance(parsed, dict):
        raise BadAnswer("The answer is no JSON object.", usage)
    return parsed
