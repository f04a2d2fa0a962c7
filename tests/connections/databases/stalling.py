"""A loopback way to a server, which lets nothing more through when a test says so."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Proxy:
    """Carries bytes both ways until `stall_after` bytes came from the server."""

    target: tuple[str, int]
    port: int = 0
    stall_after: int | None = None
    _listener: socket.socket = field(init=False)
    _sockets: list[socket.socket] = field(default_factory=list)
    _is_open: bool = True

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self.target)
                self._sockets += [client, server]
                for pair in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, to: socket.socket, counts: bool) -> None:
        sent = 0
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if counts and self.stall_after is not None:
                    if sent >= self.stall_after:
                        continue
                    data = data[: self.stall_after - sent]
                to.sendall(data)
                sent += len(data)
        if not (counts and self.stall_after is not None):
            for one in (source, to):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for one in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextmanager
def proxy_to(host: str, port: int, stall_after: int | None = None) -> Iterator[Proxy]:
    proxy = Proxy((host, port), stall_after=stall_after)
    try:
        yield proxy
    finally:
        proxy.close()


@contextmanager
def silent_server() -> Iterator[int]:
    """Yield the port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listener:
        yield listener.getsockname()[1]
