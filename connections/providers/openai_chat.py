"""Chat models by OpenAI's protocol: OpenAI itself, or anything that speaks it."""

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

SMALL_MODEL = "gpt-5.4-mini"


class OpenAIChat:
    """A model behind the Chat Completions API, at any address."""

    name = "openai"

    def __init__(self, model: str = "") -> None:
        # The SDK is slow to import and not needed without a key.
        from openai import OpenAI

        self.model = model or SMALL_MODEL
        self._client = OpenAI(**client_options("OPENAI", "OpenAI"))

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        import openai

        wanted: Any = {"name": "answer", "schema": dict(schema), "strict": True}
        with errors_of(self.model, openai, openai.OpenAIError):
            answer = self._client.chat.completions.create(
                model=self.model,
                max_completion_tokens=max_tokens,
                messages=[
                    {"role": "system", "content": system},
                    {"role": "user", "content": user},
                ],
                response_format={"type": "json_schema", "json_schema": wanted},
            )
        return self._read(answer, schema)

    def _read(self, answer: Any, schema: Mapping[str, Any]) -> Structured:
        try:
            choice = answer.choices[0]
            stopped, message = choice.finish_reason, choice.message
            text, refusal = message.content or "", getattr(message, "refusal", None)
            spent = answer.usage
            usage = Usage(
                getattr(spent, "prompt_tokens", 0),
                getattr(spent, "completion_tokens", 0),
            )
        except (AttributeError, TypeError, IndexError) as error:
            raise BadAnswer(f"{self.model} gave no message: {error}") from error
        if refusal or stopped != "stop":
            raise BadAnswer(
                f"{self.model} stopped before the end: {refusal or stopped}."
            )
        return Structured(parse_answer(text, schema), usage)


chat_models.add("openai", OpenAIChat)
