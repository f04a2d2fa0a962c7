"""Listening to a model without being held up by its silence."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue

from connections.providers.chat import Delta, Finished, ModelUnavailable
from memory.agent.database import release

BEAT_SECONDS = 0.25
_Said = Delta | Finished | Exception | None


def heard(
    speak: Callable[[], Iterator[Delta | Finished]],
) -> Iterator[Delta | Finished | None]:
    """Yield what a model says, and None whenever it is silent for a quarter second.

    The model is listened to in a thread: whoever closes this leaves it behind, and it
    ends the request with the next word, or when the provider's time is up.
    """
    queue: SimpleQueue[_Said] = SimpleQueue()
    left = threading.Event()
    thread = threading.Thread(target=_listen, args=(speak, queue, left), daemon=True)
    thread.start()
    try:
        while True:
            try:
                said = queue.get(timeout=BEAT_SECONDS)
            except Empty:
                yield None
                continue
            if isinstance(said, Exception):
                raise said
            if said is None:
                raise ModelUnavailable("The model broke off before its end.")
            yield said
            if isinstance(said, Finished):
                return
    finally:
        left.set()


def _listen(
    speak: Callable[[], Iterator[Delta | Finished]],
    queue: SimpleQueue[_Said],
    left: threading.Event,
) -> None:
    try:
        stream = speak()
        release()  # its budget was looked up
        for said in stream:
            release()
            queue.put(said)
            if left.is_set():
                close = getattr(stream, "close", None)
                if close:
                    close()
                return
        queue.put(None)
    except Exception as error:  # noqa: BLE001 # raised again where it is heard
        queue.put(error)
    finally:
        release()
