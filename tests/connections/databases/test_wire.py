"""The socket under a driver: who was sending into it learns at once that it was cut."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from connections.databases.wire import Wire

CHUNK = b"x" * 65536


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection: the client's end and the server's."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
        with client, server:
            yield client, server


def fill(server: socket.socket) -> None:
    """Send until nothing more fits, neither there nor here."""
    server.settimeout(0.3)
    with suppress(TimeoutError):
        while True:
            server.send(CHUNK)


def test_who_waits_to_send_is_told_although_all_that_came_was_read(ends):
    """A driver reads what came to its end, and only then sees that it was cut: nothing
    unread is left that would have its end of the connection reset by itself."""
    client, server = ends
    wire = Wire(client.fileno())
    fill(server)
    wire.cut()
    while client.recv(65536):
        pass
    client.close()
    wire.close()
    server.settimeout(5)
    began = time.monotonic()
    with pytest.raises(ConnectionError):
        server.sendall(CHUNK)
    assert time.monotonic() - began < 4, "it waits to send for a minute otherwise"


def test_what_came_in_is_counted(ends):
    client, server = ends
    wire = Wire(client.fileno())
    before = wire.received()
    server.sendall(CHUNK)
    end = time.monotonic() + 10
    while wire.received() < before + len(CHUNK) and time.monotonic() < end:
        time.sleep(0.01)
    assert wire.received() == before + len(CHUNK)
    wire.close()
    assert wire.received() == 0
