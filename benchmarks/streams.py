"""Many streams at once from a real server, and how many connections they took."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx
import uvicorn
from django.core.asgi import get_asgi_application
from django.db import connection

URL = "/api/v1/chat/"
PATIENCE = 180.0
SESSIONS = (
    "SELECT count(*) FROM pg_stat_activity a WHERE a.datname = current_database()"
)


@dataclass(frozen=True, slots=True)
class Streamed:
    """One stream: its status, milliseconds to the first words, and its last event."""

    status: int
    first_ms: float
    last: str
    events: int


@dataclass(frozen=True, slots=True)
class Crowd:
    """Streams that ran at once, and the most database sessions there were meanwhile."""

    streams: tuple[Streamed, ...]
    sessions: int
    took_ms: float

    @property
    def broken(self) -> int:
        return sum(one.status != 200 or one.last != "done" for one in self.streams)


def crowd(token: str, project: str, questions: Sequence[str]) -> Crowd:
    """Ask all questions at once, each as a stream, of a server in this process."""
    return asyncio.run(_crowd(token, project, questions))


async def _crowd(token: str, project: str, questions: Sequence[str]) -> Crowd:
    config = uvicorn.Config(
        get_asgi_application(),
        host="127.0.0.1",
        port=0,
        log_level="error",
        lifespan="off",
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    headers = {"Authorization": f"Bearer {token}"}
    limits = httpx.Limits(max_connections=None)
    base = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(
        base_url=base, headers=headers, timeout=PATIENCE, limits=limits, trust_env=False
    ) as client:
        watching = asyncio.create_task(_watch())
        started = time.perf_counter()
        streams = await asyncio.gather(
            *(_stream(client, project, question) for question in questions)
        )
        took = (time.perf_counter() - started) * 1000
        watching.cancel()
        most = await _most(watching)
    server.should_exit = True
    await serving
    return Crowd(tuple(streams), most, took)


async def _stream(client: httpx.AsyncClient, project: str, question: str) -> Streamed:
    asked = {"project": project, "question": question, "stream": True}
    started, first, name, count, status = time.perf_counter(), 0.0, "", 0, 0
    try:
        async with client.stream("POST", URL, json=asked) as response:
            status = response.status_code
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                    count += 1
                    if name == "delta" and not first:
                        first = (time.perf_counter() - started) * 1000
                elif line.startswith("data: "):
                    json.loads(line.removeprefix("data: "))
    except httpx.HTTPError as error:
        name = type(error).__name__
    return Streamed(status, first, name, count)


class _Most:
    sessions = 0


async def _watch() -> int:
    """Count the sessions of the database every tenth of a second, until cancelled."""
    most = _Most()
    try:
        while True:
            most.sessions = max(most.sessions, await asyncio.to_thread(_sessions))
            await asyncio.sleep(0.1)
    except asyncio.CancelledError:
        return most.sessions


async def _most(watching: asyncio.Task[int]) -> int:
    return await watching


def _sessions() -> int:
    try:
        with connection.cursor() as cursor:
            cursor.execute(SESSIONS)
            return int(cursor.fetchone()[0])
    finally:
        connection.close()
