"""Chat models of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from connections.providers.chat import (
    RETRIES,
    TIMEOUT_SECONDS,
    BadAnswer,
    ModelRefused,
    ModelUnavailable,
    Structured,
    Usage,
    chat_models,
    parse_answer,
)

SMALL_MODEL = "claude-haiku-5-5"


class AnthropicChat:
    """A model behind Anthropic's Messages API."""

    name = "anthropic"

    def __init__(self, model: str = "") -> None:
        # The SDK is slow to import and not needed without a key.
        from anthropic import Anthropic

        key = settings.FABRIC["ANTHROPIC_API_KEY"]
        if not key:
            raise ModelRefused("Set ANTHROPIC_API_KEY to ask a model of Anthropic.")
        self.model = model or SMALL_MODEL
        self._client = Anthropic(
            api_key=key,
            base_url=settings.FABRIC["ANTHROPIC_BASE_URL"] or None,
            timeout=TIMEOUT_SECONDS,
            max_retries=RETRIES,
        )

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        from anthropic import AnthropicError, APIConnectionError, APIStatusError

        try:
            answer = self._client.messages.create(
                model=self.model,
                max_tokens=max_tokens,
                system=system,
                messages=[{"role": "user", "content": user}],
                output_config={
                    "format": {"type": "json_schema", "schema": dict(schema)}
                },
            )
        except APIConnectionError as error:
            raise ModelUnavailable(f"{self.model}: {error}") from error
        except APIStatusError as error:
            later = error.status_code in (408, 409, 429) or error.status_code >= 500
            kind = ModelUnavailable if later else ModelRefused
            raise kind(f"{self.model}: {error}") from error
        # Whatever answers there may be no Anthropic: no JSON, or of another shape.
        except (AnthropicError, ValueError, TypeError) as error:
            raise BadAnswer(f"{self.model}: {error}") from error
        return self._read(answer, schema)

    def _read(self, answer: Any, schema: Mapping[str, Any]) -> Structured:
        try:
            stopped = answer.stop_reason
            text = "".join(b.text for b in answer.content if b.type == "text")
            usage = Usage(answer.usage.input_tokens, answer.usage.output_tokens)
        except (AttributeError, TypeError) as error:
            raise BadAnswer(f"{self.model} gave no message: {error}") from error
        if stopped != "end_turn":
            raise BadAnswer(f"{self.model} stopped before the end: {stopped}.")
        return Structured(parse_answer(text, schema), usage)


chat_models.add("anthropic", AnthropicChat)
