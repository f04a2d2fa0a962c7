"""The socket under a driver: how much came in, and how to end it from any thread."""

from __future__ import annotations

import os
import socket
import struct
import threading
from contextlib import suppress

# struct tcp_info of Linux since 4.1: tcpi_bytes_received lies behind 128 bytes.
_RECEIVED_AT = 128
_RECEIVED = struct.Struct("=Q")
# Closed with a reset, whatever was sent or read before.
_AT_ONCE = struct.pack("ii", 1, 0)


class Wire:
    """A socket of somebody else's: a copy of its descriptor, which closes alone.

    The copy stays of this socket even when the driver closes its own and the system
    gives the number to another one.
    """

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=os.dup(descriptor))
        # Cut by one thread, closed by another: never a number that is somebody's else.
        self._lock = threading.Lock()

    def received(self) -> int:
        """Return how many bytes came in; 0 where the system does not tell."""
        option = getattr(socket, "TCP_INFO", None)
        if option is None:
            return 0
        try:
            info = self._socket.getsockopt(socket.IPPROTO_TCP, option, 192)
        except OSError:
            return 0
        if len(info) < _RECEIVED_AT + _RECEIVED.size:
            return 0
        return int(_RECEIVED.unpack_from(info, _RECEIVED_AT)[0])

    def cut(self) -> None:
        """End the connection at once: whoever waits for it is woken with an error.

        So is the server. One that was waiting to send, for nobody read, would go on
        waiting: a driver reads to the end before it closes, after which the system owes
        nobody a reset, and says nothing for a minute.
        """
        with self._lock, suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with self._lock:
            self._socket.close()
