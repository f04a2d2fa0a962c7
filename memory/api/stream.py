"""An answer as server-sent events."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Mapping

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from connections.records import JSON
from memory.agent import events
from memory.agent.events import Event
from memory.agent.problems import problem_of
from memory.agent.run import Asked, run

# Proxies close a connection that is silent for a minute or less.
PING_SECONDS = 15.0


def streamed(asked: Asked) -> StreamingHttpResponse:
    """Return the events of an answer, which begins when the first of them is sent."""
    return StreamingHttpResponse(
        told(asked),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def told(asked: Asked) -> AsyncIterator[bytes]:
    """Yield each event as it happens, and `ping` while nothing does.

    Every step runs in the request's own thread, which gives its connection to the
    database back whenever it has none of its own to ask. Where the client leaves, the
    answer is stopped, and what came of it kept.
    """
    stop = threading.Event()
    feed = run(asked, stop=stop.is_set)
    following = sync_to_async(lambda: next(feed, None))
    step: asyncio.Future[Event | None] | None = None
    try:
        while True:
            step = asyncio.ensure_future(following())
            while not (await asyncio.wait({step}, timeout=PING_SECONDS))[0]:
                yield sent(events.ping())
            try:
                event = step.result()
            except Exception as error:  # noqa: BLE001 # told in the stream, and logged
                problem = problem_of(error)
                yield sent(events.error(problem, answer=None, can_retry=True))
                return
            if event is None:
                return
            yield sent(event)
            if event.name in ("done", "error"):
                return
    finally:
        stop.set()
        if step is not None and not step.done():
            await asyncio.wait({step})
        await sync_to_async(feed.close)()  # type: ignore[attr-defined] # a generator


def sent(event: Event) -> bytes:
    """Return an event as it is sent."""
    return sse(event.name, event.data)


def sse(name: str, data: Mapping[str, JSON]) -> bytes:
    """Return one event; its data is one line of JSON."""
    return f"event: {name}\ndata: {json.dumps(data, default=str)}\n\n".encode()
