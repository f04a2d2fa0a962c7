"""Chat models by OpenAI's protocol: OpenAI itself, or anything that speaks it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from connections.providers.chat import (
    Access,
    BadAnswer,
    Delta,
    Finished,
    Message,
    ModelUnavailable,
    Structured,
    Tool,
    ToolCall,
    access_of_settings,
    arguments_of,
    chat_models,
    parse_answer,
)
from connections.providers.ladder import Ladder
from connections.providers.streamed import Meter, Said, Streamed

OWN_URL = "https://api.openai.com/v1"
CHAT_MODEL, SMALL_MODEL = "gpt-5.6-terra", "gpt-5.4-mini"
# What servers of this protocol differ in. OpenAI's own models from 5.6 on take tools
# here only with "none"; other servers do not know the word.
TRIED: Mapping[str, tuple[Any, ...]] = {
    "reasoning_effort": (None, "none"),
    "stream_options": ({"include_usage": True}, None),
    "max_completion_tokens": (True, False),
}


class OpenAIChat:
    """A model behind the Chat Completions API, at any address."""

    name = "openai"

    def __init__(self, model: str = "", access: Access | None = None) -> None:
        # The SDK is slow to import and not needed without a key.
        import openai

        from connections.providers.wire import Wire

        self.model = model or SMALL_MODEL
        access = access or access_of_settings("OPENAI", "OpenAI")
        self._wire = Wire(self.model, openai, openai.OpenAIError, access)
        self._client = openai.OpenAI(**self._wire.client_options(OWN_URL))
        self._ladder = Ladder.of(access.base_url, self.model, TRIED)

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        wanted: Any = {"name": "answer", "schema": dict(schema), "strict": True}
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": user},
        ]
        answer_format = {"type": "json_schema", "json_schema": wanted}
        return self._wire.asked(
            lambda: self._read_whole(
                self._send(
                    max_tokens, messages=messages, response_format=answer_format
                ),
                schema,
                len(system) + len(user),
            )
        )

    def stream(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        max_tokens: int,
    ) -> Streamed:
        sent = [{"role": "system", "content": system}] if system else []
        sent += [_message(message) for message in messages]
        asked: dict[str, Any] = {"messages": sent, "stream": True}
        if tools:
            asked["tools"] = [_tool(tool) for tool in tools]
        meter = Meter(len(json.dumps([sent, asked.get("tools")])))
        return self._wire.streamed(
            lambda: self._send(max_tokens, **asked), self._read_stream, meter
        )

    def _send(self, max_tokens: int, **asked: Any) -> Any:
        """Send the request, with another setting where the server refuses one."""
        while True:
            ladder = self._ladder
            is_new = ladder["max_completion_tokens"]
            asked["max_completion_tokens" if is_new else "max_tokens"] = max_tokens
            if "tools" in asked and (effort := ladder["reasoning_effort"]):
                asked["reasoning_effort"] = effort
            if "stream" in asked:
                asked["stream_options"] = ladder["stream_options"]
            try:
                return self._client.chat.completions.create(
                    model=self.model,
                    **{
                        name: value
                        for name, value in asked.items()
                        if value is not None
                    },
                )
            except (
                self._wire.sdk.BadRequestError,
                self._wire.sdk.UnprocessableEntityError,
            ) as error:
                if not ladder.lower(str(error)):
                    raise
                asked.pop("max_completion_tokens", None)

    def _read_whole(
        self, answer: Any, schema: Mapping[str, Any], asked_characters: int
    ) -> Structured:
        choice = answer.choices[0]
        stopped, message = choice.finish_reason, choice.message
        text, refusal = message.content or "", getattr(message, "refusal", None)
        meter = Meter(asked_characters, len(text))
        _count(answer, meter)
        usage = meter.usage(is_whole=True)
        if refusal or stopped == "content_filter":
            why = f": {refusal}" if refusal else "."
            raise BadAnswer(f"{self.model} declines to answer this{why}", usage)
        if stopped != "stop":
            raise BadAnswer(f"{self.model} stopped before the end: {stopped}.", usage)
        return Structured(parse_answer(text, schema, usage), usage)

    def _read_stream(self, stream: Any, meter: Meter) -> Iterator[Said]:
        turn = _Turn(meter)
        for chunk in stream:
            if text := turn.take(chunk):
                yield Delta(text)
        if turn.is_declined:
            raise BadAnswer(f"{self.model} declines to answer this.")
        if not turn.is_known:
            raise BadAnswer(f"{self.model} gave no message.")
        if not turn.stopped:
            raise ModelUnavailable(
                f"{self.model} broke off before the end of its answer; ask again.",
                passes=True,
            )
        yield turn.finished()


@dataclass(slots=True)
class _Call:
    """A call as its pieces build it up."""

    id: str
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class _Turn:
    """A turn of the model as its chunks build it up."""

    meter: Meter
    calls: list[_Call] = field(default_factory=list)
    places: dict[int, _Call] = field(default_factory=dict)
    stopped: str = ""
    is_known: bool = False
    is_declined: bool = False

    def take(self, chunk: Any) -> str:
        """Take in a chunk; return the text it adds."""
        _count(chunk, self.meter)
        choices = getattr(chunk, "choices", None)
        if not choices:
            return ""
        self.is_known = True
        choice = choices[0]
        self.stopped = str(getattr(choice, "finish_reason", None) or self.stopped)
        delta = getattr(choice, "delta", None)
        refusal = getattr(delta, "refusal", None)
        self.is_declined |= bool(refusal) or self.stopped == "content_filter"
        for piece in getattr(delta, "tool_calls", None) or ():
            self._add(piece)
        return str(getattr(delta, "content", None) or "")

    def _add(self, piece: Any) -> None:
        function = getattr(piece, "function", None)
        name = getattr(function, "name", None) or ""
        arguments = getattr(function, "arguments", None) or ""
        call = self._call_of(
            getattr(piece, "index", None), getattr(piece, "id", None) or "", name
        )
        call.name = call.name or name
        call.arguments += arguments
        self.meter.said_characters += len(arguments)

    def _call_of(self, place: int | None, id_: str, name: str) -> _Call:
        """Return the call that a piece belongs to.

        Some servers give no place, or the same to calls of one turn: then a new id,
        or a name after whole arguments, begins the next call.
        """
        last = self.calls[-1] if self.calls else None
        call = last if place is None else self.places.get(place)
        is_another = call is not None and (
            (id_ and id_ != call.id)
            or (name and (place is None or arguments_of(call.arguments) is not None))
        )
        if call is None or (is_another and call.name):
            call = _Call(id_ or f"call_{secrets.token_hex(8)}")
            self.calls.append(call)
        if place is not None:
            self.places[place] = call
        return call

    def finished(self) -> Finished:
        calls = tuple(
            ToolCall(call.id, call.name, arguments_of(call.arguments or "{}"))
            for call in self.calls
        )
        usage = self.meter.usage(is_whole=True)
        if self.stopped == "length":
            return Finished("length", calls, usage)
        return Finished("tools" if calls else "end", calls, usage)


def _count(chunk: Any, meter: Meter) -> None:
    """Note what a chunk says of its cost; many say nothing, some zero."""
    usage = getattr(chunk, "usage", None)
    if read := getattr(usage, "prompt_tokens", None):
        meter.read = read
        meter.written = getattr(usage, "completion_tokens", None) or 0


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {
            "role": "tool",
            "tool_call_id": message.call_id,
            "content": message.text,
        }
    said: dict[str, Any] = {"role": message.role, "content": message.text or None}
    if message.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(dict(call.arguments or {})),
                },
            }
            for call in message.calls
        ]
    elif not message.text:
        said["content"] = ""
    return said


chat_models.add("openai", OpenAIChat)
