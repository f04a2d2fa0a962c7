"""A loopback server that speaks both chat protocols, streaming (SSE) and not.

How to use it::

    with ChatServer() as server:
        settings.FABRIC = settings.FABRIC | settings_for(server, "anthropic")
        server.reply = lambda messages, tools: "Four words of text."
        server.faults = [(429, BUSY), broken_after(3)]

- `reply(messages, tools)` is given what was said so far, as `Message`s of
  `connections.providers.chat` (the same for both protocols, without the system text,
  which is in `server.asked[n]`), and the names of the tools offered. It returns a text,
  or a `Said` with text, calls and why it stopped. For an agent that calls a tool and
  then answers::

      def reply(messages, tools):
          if messages[-1].role == "tool":
              return "It ships on Friday [1]."
          return Said(calls=(Called("search", {"query": "launch"}),))

- `faults` are used up one a request, before `reply`: a status with a body (`(529,
  BUSY)`; `(0, None)` drops the connection before the first byte), `None` for a request
  without a fault, or what happens to the answer's events: `broken_after(n)`,
  `silent_after(n, seconds)`, `ends_after(n)`, `with_bytes_after(n, raw)`.
- `omits` makes OpenAI's protocol that of lesser servers: any of "usage", "ids" (of
  calls), "index" (of calls), "pieces" (arguments come at once), "done" (no `[DONE]`).
- `pace` is the seconds between events; `before()` is called before an answer begins.
- `left` (an Event) is set once a client closed the connection before the end:
  `assert server.left.wait(1)`.
- `asked` lists the requests as they came, with "path" and "auth".

Every request is counted as 11 tokens read and 7 written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from connections.providers.chat import Message, ToolCall
from tests.connections.loopback import RESET, Answer, Loopback, Piece
from tests.connections.model_server import BUSY, settings_for

__all__ = [
    "BUSY",
    "Called",
    "ChatServer",
    "Said",
    "broken_after",
    "ends_after",
    "settings_for",
    "silent_after",
    "with_bytes_after",
]

READ, WRITTEN = 11, 7
Events = Iterator[Piece]
Fault = Answer | Callable[[Events], Events] | None


@dataclass(frozen=True, slots=True)
class Called:
    """A call to a tool; arguments that are text are sent as they are, broken or not."""

    name: str
    arguments: Mapping[str, Any] | str
    id: str = ""

    @property
    def sent(self) -> str:
        given = self.arguments
        return given if isinstance(given, str) else json.dumps(dict(given))


@dataclass(frozen=True, slots=True)
class Said:
    """What the model answers; `stopped` is the protocol's own word, if not its usual."""

    text: str = ""
    calls: tuple[Called, ...] = ()
    stopped: str = ""


def broken_after(events: int) -> Callable[[Events], Events]:
    """The connection is reset after so many events."""

    def fault(stream: Events) -> Events:
        yield from islice(stream, events)
        # What was sent must not be lost to the reset that follows it.
        yield 0.1
        yield RESET

    return fault


def silent_after(events: int, seconds: float) -> Callable[[Events], Events]:
    """Nothing comes for so long after so many events; then the rest."""

    def fault(stream: Events) -> Events:
        yield from islice(stream, events)
        yield seconds
        yield from stream

    return fault


def ends_after(events: int) -> Callable[[Events], Events]:
    """The stream ends in order after so many events, without having said so."""
    return lambda stream: islice(stream, events)


def with_bytes_after(events: int, raw: bytes) -> Callable[[Events], Events]:
    """Other bytes come after so many events; then the rest."""

    def fault(stream: Events) -> Events:
        yield from islice(stream, events)
        yield raw
        yield from stream

    return fault


class ChatServer(Loopback):
    """Answers each request by `reply`, after the `faults` that are left."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[Fault] = []
        self.reply: Callable[[list[Message], list[str]], Said | str] = (
            lambda messages, tools: "Yes."
        )
        self.omits: set[str] = set()
        self.pace = 0.0
        self.before: Callable[[], object] = lambda: None

    def next(self, request: dict[str, Any]) -> Answer:
        self.before()
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, tuple):
            return fault
        is_anthropic = request["path"].endswith("/messages")
        read = _anthropic_messages if is_anthropic else _openai_messages
        tools = [
            tool.get("function", tool)["name"] for tool in request.get("tools", ())
        ]
        said = self.reply(list(read(request["messages"])), tools)
        said = _with_ids(Said(said) if isinstance(said, str) else said)
        if not request.get("stream"):
            whole = _anthropic_message if is_anthropic else _openai_whole
            answer = whole(said, request["model"])
            raw = json.dumps(answer).encode()
            return 200, fault(iter([raw])) if fault else answer
        events = (
            _anthropic_events(said, request["model"])
            if is_anthropic
            else self._openai_events(said, request)
        )
        paced = self._paced(events)
        return 200, fault(paced) if fault else paced

    def _paced(self, events: Iterator[bytes]) -> Events:
        for event in events:
            if self.pace:
                yield self.pace
            yield event

    def _openai_events(self, said: Said, request: dict[str, Any]) -> Iterator[bytes]:
        base = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": request["model"],
        }

        def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return _sse({**base, "choices": [choice]})

        yield chunk({"role": "assistant", "content": "" if said.text else None})
        for word in _words(said.text):
            yield chunk({"content": word})
        for place, call in enumerate(said.calls):
            for part in self._openai_call(place, call):
                yield chunk({"tool_calls": [part]})
        usual = "tool_calls" if said.calls else "stop"
        yield chunk({}, said.stopped or usual)
        wants_usage = request.get("stream_options", {}).get("include_usage")
        if wants_usage and "usage" not in self.omits:
            yield _sse({**base, "choices": [], "usage": _openai_usage()})
        if "done" not in self.omits:
            yield b"data: [DONE]\n\n"

    def _openai_call(self, place: int, call: Called) -> Iterator[dict[str, Any]]:
        head: dict[str, Any] = {"index": place, "id": call.id, "type": "function"}
        for omitted, name in (("ids", "id"), ("index", "index")):
            if omitted in self.omits:
                del head[name]
        if "pieces" in self.omits:
            yield {**head, "function": {"name": call.name, "arguments": call.sent}}
            return
        yield {**head, "function": {"name": call.name, "arguments": ""}}
        for part in re.findall(r"(?s).{1,8}", call.sent):
            where = {} if "index" in self.omits else {"index": place}
            yield {**where, "function": {"arguments": part}}


def _with_ids(said: Said) -> Said:
    calls = (
        replace(call, id=call.id or f"call_{place}")
        for place, call in enumerate(said.calls, start=1)
    )
    return replace(said, calls=tuple(calls))


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _sse(data: dict[str, Any], event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


# --- Anthropic's Messages ------------------------------------------------------------


def _anthropic_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    for message in messages:
        content = message["content"]
        if isinstance(content, str):
            yield Message(message["role"], content)
            continue
        text = "".join(b["text"] for b in content if b["type"] == "text")
        calls = tuple(
            ToolCall(block["id"], block["name"], block["input"])
            for block in content
            if block["type"] == "tool_use"
        )
        for block in content:
            if block["type"] == "tool_result":
                yield Message("tool", block["content"], call_id=block["tool_use_id"])
        if text or calls:
            yield Message(message["role"], text, calls)


def _anthropic_blocks(said: Said) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": said.text}] if said.text else []
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in said.calls
    ]


def _anthropic_message(said: Said, model: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "stop_sequence": None,
        "stop_reason": said.stopped or ("tool_use" if said.calls else "end_turn"),
        "content": _anthropic_blocks(said),
        "usage": {"input_tokens": READ, "output_tokens": WRITTEN},
    }


def _anthropic_events(said: Said, model: str) -> Iterator[bytes]:
    def event(kind: str, **data: Any) -> bytes:
        return _sse({"type": kind, **data}, kind)

    message = _anthropic_message(said, model)
    usage = {"input_tokens": READ, "output_tokens": 1}
    begun = {**message, "content": [], "stop_reason": None, "usage": usage}
    yield event("message_start", message=begun)
    yield event("ping")
    for place, (block, deltas) in enumerate(_anthropic_parts(said)):
        yield event("content_block_start", index=place, content_block=block)
        for delta in deltas:
            yield event("content_block_delta", index=place, delta=delta)
        yield event("content_block_stop", index=place)
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=ended, usage={"output_tokens": WRITTEN})
    yield event("message_stop")


def _anthropic_parts(
    said: Said,
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each block as it begins, and what is added to it piece by piece."""
    if said.text:
        texts = [{"type": "text_delta", "text": word} for word in _words(said.text)]
        yield {"type": "text", "text": ""}, texts
    for call in said.calls:
        begun = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        yield (
            begun,
            [
                {"type": "input_json_delta", "partial_json": part}
                for part in re.findall(r"(?s).{1,8}", call.sent)
            ],
        )


# --- OpenAI's Chat Completions -------------------------------------------------------


def _openai_messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[Message]:
    for message in messages:
        if message["role"] in ("system", "developer"):
            continue
        calls = tuple(
            ToolCall(
                call["id"],
                call["function"]["name"],
                json.loads(call["function"]["arguments"]),
            )
            for call in message.get("tool_calls", ())
        )
        yield Message(
            message["role"],
            message.get("content") or "",
            calls,
            message.get("tool_call_id", ""),
        )


def _openai_usage() -> dict[str, int]:
    return {
        "prompt_tokens": READ,
        "completion_tokens": WRITTEN,
        "total_tokens": READ + WRITTEN,
    }


def _openai_whole(said: Said, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": said.text or None,
        "refusal": None,
    }
    if said.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.sent},
            }
            for call in said.calls
        ]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": said.stopped or ("tool_calls" if said.calls else "stop"),
        "logprobs": None,
    }
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [choice],
        "usage": _openai_usage(),
    }
