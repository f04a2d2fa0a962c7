"""A loopback server that speaks OpenAI's embeddings on the wire."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Said = dict[str, Any] | bytes | None
Answer = tuple[int, Said]
ERROR = {"error": {"message": "no", "type": "x", "code": "x", "param": None}}
SIZES = {"text-embedding-3-small": 1536, "text-embedding-004": 768}


class FakeOpenAI:
    """`answers` are given in turn, then real ones; what `refuses` holds is refused.

    A status of 0 drops the connection.
    """

    def __init__(self) -> None:
        self.answers: list[Answer | Callable[[dict], Answer]] = []
        self.refuses: Callable[[str], int] = lambda text: 200
        self.before: Callable[[], None] = lambda: None
        self.asked: list[dict[str, Any]] = []
        self.headers = {"retry-after-ms": "1"}
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                request = json.loads(body) | {"auth": self.headers["authorization"]}
                fake.asked.append(request)
                fake.before()
                status, said = fake.next(request)
                if said is None:
                    self.connection.close()
                    return
                raw = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                for name, value in fake.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    @property
    def texts(self) -> list[str]:
        return [text for request in self.asked for text in request["input"]]

    def next(self, request: dict[str, Any]) -> Answer:
        if self.answers:
            said = self.answers.pop(0)
            return said(request) if callable(said) else said
        status = max(map(self.refuses, request["input"]))
        return (200, answer(request)) if status == 200 else (status, ERROR)


@contextmanager
def serving() -> Iterator[FakeOpenAI]:
    fake = FakeOpenAI()
    thread = threading.Thread(
        target=fake.server.serve_forever, args=(0.01,), daemon=True
    )
    thread.start()
    try:
        yield fake
    finally:
        fake.server.shutdown()
        fake.server.server_close()
        thread.join()


def vector_of(text: str, size: int = 1536) -> np.ndarray:
    vector = np.zeros(size, dtype="<f4")
    vector[sum(text.encode()) % size] = 1
    return vector


def answer(request: dict[str, Any]) -> dict[str, Any]:
    assert request["encoding_format"] == "base64"
    size = request.get("dimensions") or SIZES[request["model"]]
    data = [
        {
            "object": "embedding",
            "index": n,
            "embedding": base64.b64encode(vector_of(text, size).tobytes()).decode(),
        }
        for n, text in enumerate(request["input"])
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "data": data, "model": request["model"], "usage": usage}
