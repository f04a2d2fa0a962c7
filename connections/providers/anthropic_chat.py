"""Chat models of Anthropic."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    Usage,
    access_of_settings,
    arguments_of,
    chat_models,
    parse_answer,
)
from connections.providers.ladder import Ladder
from connections.providers.streamed import Meter, Said, Streamed

OWN_URL = "https://api.anthropic.com"
CHAT_MODEL, SMALL_MODEL = "claude-sonnet-5-5", "claude-haiku-5-5"
# Models of 2026 think unless told not to, out of the tokens meant for the answer; what
# tells them differs by model, and some cannot be told.
THINKING = ({"type": "disabled"}, {"type": "between_tools"}, None)
LENGTH = ("max_tokens", "model_context_window_exceeded")


class AnthropicChat:
    """A model behind Anthropic's Messages API."""

    name = "anthropic"

    def __init__(self, model: str = "", access: Access | None = None) -> None:
        # The SDK is slow to import and not needed without a key.
        import anthropic

        from connections.providers.wire import Wire

        self.model = model or SMALL_MODEL
        access = access or access_of_settings("ANTHROPIC", "Anthropic")
        self._wire = Wire(self.model, anthropic, anthropic.AnthropicError, access)
        self._client = anthropic.Anthropic(**self._wire.client_options(OWN_URL))
        self._ladder = Ladder.of(access.base_url, self.model, {"thinking": THINKING})
        # A turn that thought before it called must come back with its thoughts.
        self._thoughtful: dict[str, list[dict[str, Any]]] = {}

    def structured(
        self, system: str, user: str, schema: Mapping[str, Any], *, max_tokens: int
    ) -> Structured:
        asked = {
            "system": system,
            "messages": [{"role": "user", "content": user}],
            "max_tokens": max_tokens,
            "output_config": {
                "format": {"type": "json_schema", "schema": dict(schema)}
            },
        }
        return self._wire.asked(
            lambda: self._read_whole(self._send(lambda: asked), schema)
        )

    def stream(
        self,
        system: str,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        max_tokens: int,
    ) -> Streamed:
        asked: dict[str, Any] = {
            "system": system,
            "max_tokens": max_tokens,
            "stream": True,
        }
        if tools:
            asked["tools"] = [_tool(tool) for tool in tools]

        def request() -> dict[str, Any]:
            return {**asked, "messages": _messages(messages, self._thoughtful)}

        meter = Meter(len(json.dumps(request())))
        return self._wire.streamed(
            lambda: self._send(request), self._read_stream, meter
        )

    def _send(self, request: Callable[[], dict[str, Any]]) -> Any:
        """Send the request, with another setting where the model refuses one."""
        while True:
            asked = {"thinking": self._ladder["thinking"], **request()}
            try:
                return self._client.messages.create(
                    model=self.model,
                    **{name: value for name, value in asked.items() if value},
                )
            except self._wire.sdk.BadRequestError as error:
                if not self._may_try_another(str(error)):
                    raise

    def _may_try_another(self, refusal: str) -> bool:
        """Change what is refused: thoughts that are no more taken, then the setting."""
        if "thinking" in refusal and self._thoughtful:
            self._thoughtful.clear()
            return True
        return self._ladder.lower(refusal)

    def _read_whole(self, answer: Any, schema: Mapping[str, Any]) -> Structured:
        stopped = answer.stop_reason
        text = "".join(b.text for b in answer.content if b.type == "text")
        usage = Usage(_read_tokens(answer.usage) or 0, answer.usage.output_tokens)
        if stopped == "refusal":
            raise BadAnswer(f"{self.model} declines to answer this.", usage)
        if stopped != "end_turn":
            raise BadAnswer(f"{self.model} stopped before the end: {stopped}.", usage)
        return Structured(parse_answer(text, schema, usage), usage)

    def _read_stream(self, stream: Any, meter: Meter) -> Iterator[Said]:
        turn = _Turn(meter)
        for event in stream:
            if text := turn.take(event):
                yield Delta(text)
        if not turn.is_known:
            raise BadAnswer(f"{self.model} gave no message.")
        if not turn.is_ended:
            raise ModelUnavailable(
                f"{self.model} broke off before the end of its answer; ask again.",
                passes=True,
            )
        if turn.stopped == "refusal":
            raise BadAnswer(f"{self.model} declines to answer this.")
        finished = turn.finished()
        if finished.calls and turn.is_thoughtful:
            self._thoughtful[finished.calls[0].id] = turn.content()
        yield finished


@dataclass(slots=True)
class _Turn:
    """A turn of the model as its events build it up."""

    meter: Meter
    blocks: dict[int, dict[str, Any]] = field(default_factory=dict)
    stopped: str = ""
    is_known: bool = False
    is_ended: bool = False

    def take(self, event: Any) -> str:
        """Take in an event; return the text it adds. Unknown ones say nothing."""
        match getattr(event, "type", None):
            case "message_start":
                self.is_known = True
                self.meter.read = _read_tokens(event.message.usage)
                self.meter.written = event.message.usage.output_tokens
            case "content_block_start":
                block = event.content_block
                self.blocks[event.index] = {**block.model_dump(), "json": ""}
                return str(getattr(block, "text", "") or "")
            case "content_block_delta":
                return self._add(self.blocks.setdefault(event.index, {}), event.delta)
            case "message_delta":
                self.stopped = str(event.delta.stop_reason or "")
                self.meter.written = event.usage.output_tokens
                read = _read_tokens(event.usage)
                self.meter.read = read if read is not None else self.meter.read
            case "message_stop":
                self.is_ended = True
        return ""

    def _add(self, block: dict[str, Any], delta: Any) -> str:
        match getattr(delta, "type", None):
            case "text_delta":
                block["text"] = block.get("text", "") + delta.text
                return str(delta.text)
            case "input_json_delta":
                block["json"] = block.get("json", "") + delta.partial_json
                self.meter.said_characters += len(delta.partial_json)
            case "thinking_delta":
                block["thinking"] = block.get("thinking", "") + delta.thinking
                self.meter.said_characters += len(delta.thinking)
            case "signature_delta":
                block["signature"] = delta.signature
        return ""

    @property
    def is_thoughtful(self) -> bool:
        return any("thinking" in str(b.get("type")) for b in self.blocks.values())

    def finished(self) -> Finished:
        calls = tuple(
            ToolCall(block["id"], block["name"], _arguments(block))
            for _, block in sorted(self.blocks.items())
            if block.get("type") == "tool_use"
        )
        usage = self.meter.usage(is_whole=True)
        if self.stopped in LENGTH:
            return Finished("length", calls, usage)
        return Finished("tools" if calls else "end", calls, usage)

    def content(self) -> list[dict[str, Any]]:
        """Return the turn as it is sent back, its blocks in their order."""
        kept = {
            "text": ("text",),
            "thinking": ("thinking", "signature"),
            "redacted_thinking": ("data",),
        }
        content = []
        for _, block in sorted(self.blocks.items()):
            kind = block.get("type")
            if kind == "tool_use":
                call = {"id": block["id"], "name": block["name"]}
                content.append({"type": kind, **call, "input": _arguments(block) or {}})
            elif kind in kept and (kind != "text" or block.get("text")):
                content.append({"type": kind, **{k: block[k] for k in kept[kind]}})
        return content


def _arguments(block: Mapping[str, Any]) -> Mapping[str, Any] | None:
    if block["json"]:
        return arguments_of(block["json"])
    whole = block.get("input")
    return whole if isinstance(whole, dict) else None


def _read_tokens(usage: Any) -> int | None:
    """Return all tokens that were read: those of the cache are counted apart."""
    names = (
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    )
    counts = [getattr(usage, name, None) for name in names]
    return None if counts[0] is None else sum(count or 0 for count in counts)


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.parameters),
    }


def _messages(
    messages: Sequence[Message], thoughtful: Mapping[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the turns on the wire: results of calls are the user's, in one turn."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        blocks = _blocks(message, thoughtful)
        role = "assistant" if message.role == "assistant" else "user"
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(
    message: Message, thoughtful: Mapping[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": message.call_id}
        return [{**result, "content": message.text or "Nothing."}]
    if message.calls and message.calls[0].id in thoughtful:
        return list(thoughtful[message.calls[0].id])
    # An empty text is refused.
    text = [{"type": "text", "text": message.text}] if message.text.strip() else []
    return text + [
        {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": dict(call.arguments or {}),
        }
        for call in message.calls
    ]


chat_models.add("anthropic", AnthropicChat)
