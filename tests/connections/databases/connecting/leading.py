"""Names that lead where a test says, and targets that are there or not."""

from __future__ import annotations

import socket

from connections.databases.connecting import open_connection
from tests.targets import Target

NAME = "db.fabric.test"

GRANT = "GRANT SHOW VIEW ON shop.* TO reader@'127.0.0.1'"


def leads_to(monkeypatch, names):
    """Let names lead to addresses, one after the other; count what was asked."""
    real, asked = socket.getaddrinfo, []

    def resolved(host, port, *args, **options):
        if host not in names:
            return real(host, port, *args, **options)
        asked.append(host)
        left = names[host]
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    return asked


def opened(database, **options):
    connection = open_connection(database, **options)
    connection.close()
    return connection


def server_at(engine, host, port):
    """Return a target that is only an address."""
    return Target(engine, host, port, "shop", "reader", "pw", {})
