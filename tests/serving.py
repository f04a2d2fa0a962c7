"""The whole site on the loopback, as uvicorn serves it: streams come as they are made."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from django.core.asgi import get_asgi_application

PATIENCE = 20.0


@contextmanager
def served() -> Iterator[str]:
    """Serve the site in a thread of this process; yield its address."""
    config = uvicorn.Config(
        get_asgi_application(),
        host="127.0.0.1",
        port=0,
        log_level="error",
        lifespan="off",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{_port_of(server)}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive(), "a request still runs"


def _port_of(server: uvicorn.Server) -> int:
    end = time.monotonic() + PATIENCE
    while not server.started:
        assert time.monotonic() < end, "the server does not start"
        time.sleep(0.01)
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
