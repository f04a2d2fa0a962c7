"""A streamed answer: counted as it comes, closed from any thread."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from connections.providers.base import ProviderError
from connections.providers.chat import Delta, Finished, Usage

# English words as tokenizers cut them.
CHARACTERS_A_TOKEN = 4.0

Said: TypeAlias = Delta | Finished


def tokens_of(characters: int) -> int:
    """Return about how many tokens so many characters are."""
    return math.ceil(characters / CHARACTERS_A_TOKEN)


@dataclass(slots=True)
class Meter:
    """What a stream has cost so far, as far as its provider has said so."""

    asked_characters: int = 0
    said_characters: int = 0
    read: int | None = None
    written: int | None = None
    is_begun: bool = False

    def usage(self, *, is_whole: bool) -> Usage:
        """Return the tokens; an estimate stands in for what was not said.

        A count of written tokens holds only for a stream that came whole.
        """
        written = self.written if is_whole else None
        guess = max(tokens_of(self.said_characters), self.written or 0)
        return Usage(
            tokens_of(self.asked_characters) if self.read is None else self.read,
            guess if written is None else written,
            estimated=self.read is None or written is None,
        )


@dataclass(slots=True)
class Cutter:
    """Ends a request from any thread, whatever it waits for."""

    is_cut: threading.Event = field(default_factory=threading.Event)
    _socket: socket.socket | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def holds(self, connection: socket.socket) -> None:
        """Note the connection of the request as it is now."""
        with self._lock:
            self._socket = connection
            if self.is_cut.is_set():
                _shut(connection)

    def cut(self) -> None:
        with self._lock:
            self.is_cut.set()
            if self._socket is not None:
                _shut(self._socket)


def _shut(connection: socket.socket) -> None:
    """Wake whoever reads from the connection: it has ended."""
    with suppress(OSError):
        # Not TLS's own shutdown, which is no business of another thread.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class Streamed(Iterator[Said]):
    """The pieces of an answer; after `close()`, by whichever thread, no more come."""

    def __init__(
        self, pieces: Generator[Said, None, None], cutter: Cutter, meter: Meter
    ) -> None:
        self._pieces, self._cutter, self.meter = pieces, cutter, meter

    def __next__(self) -> Said:
        if self._cutter.is_cut.is_set():
            self._pieces.close()
            raise StopIteration
        try:
            return next(self._pieces)
        except ProviderError:
            if self._cutter.is_cut.is_set():
                raise StopIteration from None
            raise

    def close(self) -> None:
        """End the request at once; who waits for its next piece gets none."""
        self._cutter.cut()
        # Another thread may be inside: the cut connection brings it out.
        with suppress(ValueError):
            self._pieces.close()

    def __enter__(self) -> Streamed:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
