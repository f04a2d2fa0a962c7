"""An answer as server-sent events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

from asgiref.sync import sync_to_async
from django.http import JsonResponse, StreamingHttpResponse

from connections.records import JSON
from memory.answers import ChatAnswer, Cited

# Proxies close a connection that is silent for a minute or less.
PING_SECONDS = 15.0
_SENTENCE = re.compile(
    r"(?s).*?(?:[.!?…][\"'\u2019\u201d)]*(?:\s?\[\d{1,3}\])*\s+|\n+|\Z)"
)
_NUMBER = re.compile(r"\[(\d{1,3})\]")


def streamed(
    answering: Callable[[], ChatAnswer | JsonResponse],
) -> StreamingHttpResponse:
    """Return the events of an answer; `answering` must release its connection."""
    return StreamingHttpResponse(
        events(answering),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def events(
    answering: Callable[[], ChatAnswer | JsonResponse],
) -> AsyncIterator[bytes]:
    """Yield `status` at once, `ping` while it takes, the answer, and `done`.

    A failure is an `error` event that holds the problem.
    """
    yield event("status", {"state": "searching"})
    answered = asyncio.ensure_future(sync_to_async(answering)())
    while not (await asyncio.wait({answered}, timeout=PING_SECONDS))[0]:
        yield event("ping", {})
    answer = answered.result()
    if isinstance(answer, ChatAnswer):
        for name, data in told(answer):
            yield event(name, data)
    else:
        yield event("error", json.loads(answer.content))


def told(answer: ChatAnswer) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    """Yield the events of a finished answer, sentence by sentence.

    A citation comes right after the sentence that first refers to it; the deltas
    together are the answer.
    """
    for call in answer.calls:
        if filters := call.arguments.get("filters"):
            yield "filters", {"filters": filters}
    yield "sources", {"sources": [_source(cited) for cited in answer.citations]}
    waiting = {cited.n: cited for cited in answer.citations}
    for sentence in sentences(answer.answer):
        yield "delta", {"text": sentence}
        for n in _NUMBER.findall(sentence):
            if cited := waiting.pop(int(n), None):
                yield "citation", cited.as_json()
    for cited in waiting.values():
        yield "citation", cited.as_json()
    yield "done", answer.as_json()


def sentences(text: str) -> list[str]:
    """Split `text` after its sentences and lines; joined they are `text` again."""
    return [piece for piece in _SENTENCE.findall(text) if piece]


def event(name: str, data: Mapping[str, JSON]) -> bytes:
    """Return one event; its data is one line of JSON."""
    return f"event: {name}\ndata: {json.dumps(data, default=str)}\n\n".encode()


def _source(cited: Cited) -> dict[str, JSON]:
    return {name: value for name, value in cited.as_json().items() if name != "quote"}
