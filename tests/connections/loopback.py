"""A server on the loopback that says what a test wants to hear."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

# A status and what is said with it; None drops the connection, bytes are sent as is.
Answer = tuple[int, dict[str, Any] | bytes | None]


class Loopback(ABC):
    """Serves while it is open; `asked` is each request, with its path and its key."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers = {"retry-after-ms": "1"}
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                said = json.loads(self.rfile.read(int(self.headers["content-length"])))
                key = self.headers.get("authorization", self.headers.get("x-api-key"))
                request = {"path": self.path, "auth": key, **said}
                loopback.asked.append(request)
                status, answer = loopback.next(request)
                if answer is None:
                    self.connection.close()
                    return
                is_raw = isinstance(answer, bytes)
                raw = answer if is_raw else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                for name, value in loopback.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(
            target=self.http.serve_forever, args=(0.01,), daemon=True
        )

    @abstractmethod
    def next(self, request: dict[str, Any]) -> Answer:
        """Return what this request is answered with."""

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
