"""A loopback server that speaks both chat protocols as they are on the wire."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# A status and what is said with it; None drops the connection, bytes are sent as is.
Fault = tuple[int, dict[str, Any] | bytes | None]

BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}


class ModelServer:
    """Answers each request by `reply`, after the `faults` that are left."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.asked: list[dict[str, Any]] = []
        self.reply: Callable[[str], str] = lambda user: "{}"
        self.stopped = ""
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.asked.append(
                    {
                        "path": self.path,
                        "auth": self.headers.get("authorization")
                        or self.headers.get("x-api-key"),
                        **body,
                    }
                )
                status, said = (
                    server.faults.pop(0)
                    if server.faults
                    else (200, server.answer(self.path, body))
                )
                if said is None:
                    self.connection.close()
                    return
                raw = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

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


@contextmanager
def running() -> Iterator[ModelServer]:
    server = ModelServer()
    thread = threading.Thread(
        target=server.http.serve_forever, args=(0.01,), daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
        thread.join()


def settings_for(server: ModelServer, name: str) -> dict[str, str]:
    """Return the settings that make `name` ask this server."""
    return {
        "EXTRACTION": name,
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": f"{server.url}/v1",
    }
