"""Chat models of Anthropic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connections.providers.chat import (
    BadAnswer,
    Structured,
    Usage,
    chat_models,
    client_options,
    errors_of,
    parse_answer,
)

SMALL_MODEL = "claude-haiku-5-5"


class AnthropicChat:
    """A model behind Anthropic's Messages API."""

    name = "anthropic"

    def __init__(self, model: str = "") -> None:
        # The SDK is slow to import and not needed without a key.
        from anthropic import Anthropic

        self.model = model or SMALL_MODEL
        self._client = Anthropic(**client_options("ANTHROPIC", "Anthropic"))

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        import anthropic

        with errors_of(self.model, anthropic, anthropic.AnthropicError):
            answer = self._client.messages.create(
                model=self.model,
                max_tokens=max_tokens,
                system=system,
                messages=[{"role": "user", "content": user}],
                output_config={
                    "format": {"type": "json_schema", "schema": dict(schema)}
                },
            )
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
