"""A server on the loopback that says what a test wants to hear."""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

RESET: Final = "reset"
# What a stream does next: sends bytes, is silent for seconds, or breaks.
Piece = bytes | float | str
# A status and what is said with it; None drops the connection, bytes are sent as is,
# pieces one by one as they are made.
Answer = tuple[int, dict[str, Any] | bytes | Iterator[Piece] | None]


class Loopback(ABC):
    """Serves while it is open; `asked` is each request, with its path and its key.

    `left` is set once a client closed the connection before a stream's end.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.left = threading.Event()
        self.closing = threading.Event()
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
                if isinstance(answer, Iterator):
                    loopback.stream(self, status, answer)
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

    def stream(
        self, handler: BaseHTTPRequestHandler, status: int, pieces: Iterator[Piece]
    ) -> None:
        """Send the pieces as chunks; only whole ones end in the last, empty chunk."""
        handler.protocol_version = "HTTP/1.1"
        handler.close_connection = True
        handler.send_response(status)
        handler.send_header("content-type", "text/event-stream; charset=utf-8")
        handler.send_header("transfer-encoding", "chunked")
        handler.send_header("connection", "close")
        handler.end_headers()
        for piece in pieces:
            if piece == RESET:
                _reset(handler.connection)
                return
            if isinstance(piece, bytes):
                if self._is_left(handler.connection):
                    return
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            elif self._waits(handler.connection, float(piece)):
                return
        handler.wfile.write(b"0\r\n\r\n")

    def _waits(self, connection: socket.socket, seconds: float) -> bool:
        """Be silent; return whether the client, or the test, has gone meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._is_left(connection) or self.closing.wait(0.01):
                return True
        return False

    def _is_left(self, connection: socket.socket) -> bool:
        readable, _, _ = select.select([connection], [], [], 0)
        try:
            is_gone = bool(readable) and not connection.recv(1, socket.MSG_PEEK)
        except OSError:
            is_gone = True
        if is_gone:
            self.left.set()
        return is_gone

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def _reset(connection: socket.socket) -> None:
    """Close at once with a reset, as a machine that falls over does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
