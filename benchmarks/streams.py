"""Many streams at once from a real server, and how many connections they took."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx2 as httpx
import psycopg
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
    with _Watched() as watched:
        streams, took = asyncio.run(_crowd(token, project, questions))
    return Crowd(streams, watched.most, took)


async def _crowd(
    token: str, project: str, questions: Sequence[str]
) -> tuple[tuple[Streamed, ...], float]:
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
        started = time.perf_counter()
        streams = await asyncio.gather(
            *(_stream(client, project, question) for question in questions)
        )
        took = (time.perf_counter() - started) * 1000
    server.should_exit = True
    await serving
    return tuple(streams), took


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


class _Watched:
    """Counts the sessions of the database, on a connection that is none of the pool's."""

    def __init__(self) -> None:
        self.most = 0
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> _Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._thread.join()

    def _watch(self) -> None:
        at = connection.settings_dict
        with psycopg.connect(
            host=at["HOST"],
            port=at["PORT"],
            user=at["USER"],
            password=at["PASSWORD"],
            dbname=at["NAME"],
            autocommit=True,
        ) as own:
            while not self._left.wait(0.1):
                row = own.execute(SESSIONS).fetchone()
                self.most = max(self.most, row[0] if row else 0)
