"""A loopback server that speaks both chat protocols as they are on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.connections.loopback import Answer, Loopback

BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}


class ModelServer(Loopback):
    """Answers each request by `reply`, after the `faults` that are left."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[Answer] = []
        self.reply: Callable[[str], str] = lambda user: "{}"
        self.stopped = ""

    def next(self, request: dict[str, Any]) -> Answer:
        if self.faults:
            return self.faults.pop(0)
        return 200, self.answer(request["path"], request)

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        text = self.reply(body["messages"][-1]["content"])
        if path.endswith("/messages"):
            return {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": body["model"],
                "content": [{"type": "text", "text": text}],
                "stop_reason": self.stopped or "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 11, "output_tokens": 7},
            }
        message = {"role": "assistant", "content": text, "refusal": None}
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": self.stopped or "stop",
                    "logprobs": None,
                }
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }


def settings_for(server: ModelServer, name: str) -> dict[str, str]:
    """Return the settings that make `name` ask this server."""
    return {
        "EXTRACTION": name,
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": f"{server.url}/v1",
    }
