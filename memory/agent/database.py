"""The database while an answer is made: a few at a time, and given back at once.

An answer waits for a model most of its time. A connection that it kept meanwhile would
be missing for the others, and a stream that finds none breaks when its status is sent.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection

_held = threading.local()
_gate = threading.BoundedSemaphore(settings.FABRIC["AGENT_READERS"])


@contextmanager
def database() -> Iterator[None]:
    """Wait for a turn at the database, and give the connection back after it."""
    depth: int = getattr(_held, "depth", 0)
    if depth:
        yield
        return
    # What this thread still has would be held while it waits for its turn.
    release()
    with _gate:
        _held.depth = 1
        try:
            yield
        finally:
            _held.depth = 0
            release()


def release() -> None:
    """Give this thread's connection back to the pool, but within a transaction."""
    if connection.connection is not None and not connection.in_atomic_block:
        connection.close()
