"""A stream that is closed ends its request at once, whatever it waits for."""

from __future__ import annotations

import threading
import time

import pytest

from tests.connections.chat_server import BUSY, silent_after
from tests.connections.streams.telling import BOTH, stream

pytestmark = pytest.mark.parametrize("name", BOTH)


class TestClosing:
    def test_ends_the_request_at_once(self, model, server):
        server.pace = 0.05
        pieces = stream(model)
        next(pieces)
        pieces.close()
        assert server.left.wait(1)
        assert list(pieces) == []

    def test_ends_it_by_another_thread_in_the_midst_of_silence(
        self, model, server, settings
    ):
        settings.FABRIC = settings.FABRIC | {"MODEL_SILENCE_SECONDS": 30}
        server.faults = [silent_after(5, 20)]
        pieces = stream(model)
        next(pieces)
        threading.Timer(0.2, pieces.close).start()
        began = time.monotonic()
        list(pieces)
        assert time.monotonic() - began < 1
        assert server.left.wait(1)

    def test_ends_it_before_the_answer_began(self, model, server, settings):
        settings.FABRIC = settings.FABRIC | {"MODEL_FIRST_SECONDS": 30}
        server.before = lambda: server.closing.wait(5)
        pieces = stream(model)
        threading.Timer(0.2, pieces.close).start()
        began = time.monotonic()
        assert list(pieces) == []
        assert time.monotonic() - began < 1

    def test_ends_a_wait_before_the_next_attempt(self, model, server):
        server.headers = {"retry-after": "15"}
        server.faults = [(429, BUSY)] * 9
        pieces = stream(model)
        threading.Timer(0.2, pieces.close).start()
        began = time.monotonic()
        assert list(pieces) == []
        assert time.monotonic() - began < 1

    def test_letting_go_of_it_ends_it_too(self, model, server):
        server.pace = 0.05
        pieces = stream(model)
        next(pieces)
        del pieces
        assert server.left.wait(1)

    def test_what_was_never_begun_asks_nobody(self, model, server):
        stream(model).close()
        assert server.asked == []
