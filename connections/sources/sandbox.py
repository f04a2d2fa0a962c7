"""Parsing of hostile bytes in a process of its own, under limits.

A parser may loop, or unpack a few bytes to gigabytes. So one child process, kept for
the next file, reads documents under limits of CPU time, wall time and memory, without
this process's environment. It ends when the pipe to it closes, so with this process
however that ends; a fork (a Celery worker) starts a child of its own.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import IO

from connections.records import JSON
from connections.sources.documents_base import Document, Link, Section, Unreadable

CPU_SECONDS = 60
WALL_SECONDS = 120
MEMORY_BYTES = 1536 * 2**20
# What a reader leaks is given back by a new process now and then.
DOCUMENTS_PER_PROCESS = 1_000

CHILD = "connections.sources.sandbox_child"
OUT_OF_MEMORY = 77
LENGTH_BYTES = 8
MAX_PART_BYTES = 2**30
_KEPT_ENVIRONMENT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "SYSTEMROOT",
    "TMPDIR",
)


class Died(Exception):
    """The child process ended before it answered."""


def read(name: str, data: bytes) -> Document:
    """Return the document that the child reads; `Unreadable` past its limits."""
    with _state.lock:
        worker = _state.ready()
        try:
            answer = worker.ask(name, data)
        except BaseException:
            _state.drop()
            raise
        if answer.get("last"):
            _state.drop()
    if "reason" in answer:
        raise Unreadable(str(answer["reason"]))
    return load(answer["document"])


def stop() -> None:
    """End the child process, if there is one."""
    with _state.lock:
        _state.drop()


def send(stream: IO[bytes], *parts: bytes) -> None:
    """Write one frame: for each part its length, then the parts."""
    for part in parts:
        stream.write(len(part).to_bytes(LENGTH_BYTES, "big"))
        stream.write(part)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Return one part of a frame; raise `Died` where the stream ends."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        raise Died
    size = int.from_bytes(head, "big")
    if size > MAX_PART_BYTES:
        raise Died
    part = stream.read(size)
    if len(part) < size:
        raise Died
    return part


class _Worker:
    """One child process that reads documents, one at a time."""

    def __init__(self) -> None:
        limits = json.dumps([CPU_SECONDS, MEMORY_BYTES, DOCUMENTS_PER_PROCESS])
        paths = [os.path.abspath(path) for path in sys.path]
        kept = {key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ}
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-W", "ignore", "-m", CHILD, limits],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={
                    **kept,
                    "PYTHONPATH": os.pathsep.join(paths),
                    # numpy, which openpyxl loads, would reserve memory for each core.
                    "OPENBLAS_NUM_THREADS": "1",
                },
                # Ctrl-C is for this process, which then closes the pipe.
                start_new_session=True,
            )
        except OSError as error:
            raise Unreadable(
                f"the process that reads it did not start: {error}"
            ) from error
        if self.process.stdin is None or self.process.stdout is None:
            raise Unreadable("the process that reads it has no pipes")
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        self.late = False

    def ask(self, name: str, data: bytes) -> Mapping[str, JSON]:
        watchdog = threading.Timer(WALL_SECONDS, self._expire)
        watchdog.daemon = True
        watchdog.start()
        try:
            send(self.stdin, name.encode("utf-8", "replace"), data)
            answer = json.loads(receive(self.stdout))
        except (Died, OSError, ValueError) as error:
            raise Unreadable(self._why()) from error
        finally:
            watchdog.cancel()
        return answer if isinstance(answer, dict) else {"reason": "damaged"}

    def _expire(self) -> None:
        self.late = True
        self.process.kill()

    def _why(self) -> str:
        code = self.end()
        if self.late:
            return f"too slow: not read within {WALL_SECONDS} seconds"
        if code == -signal.SIGXCPU:
            return f"too slow: not read within {CPU_SECONDS} seconds of computing"
        if code == OUT_OF_MEMORY:
            return f"too large: reading it takes over {MEMORY_BYTES // 2**20} MB"
        return f"the process that reads it ended early (exit status {code})"

    def end(self) -> int:
        """End the process and return its exit status, negative for a signal."""
        for stream in (self.stdin, self.stdout):
            with suppress(OSError):
                stream.close()
        try:
            return self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def let_go(self) -> None:
        """Point this process's ends of the pipes elsewhere; the child hears nothing."""
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (self.stdin, self.stdout):
            os.dup2(nowhere, stream.fileno(), inheritable=False)
        os.close(nowhere)


class _State:
    """The child of this process; a fork begins with none."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.worker: _Worker | None = None

    def ready(self) -> _Worker:
        if self.worker is not None and self.worker.process.poll() is not None:
            self.drop()
        if self.worker is None:
            self.worker = _Worker()
        return self.worker

    def drop(self) -> None:
        if self.worker is not None:
            self.worker.end()
            self.worker = None

    def forked(self) -> None:
        """Give up the parent's child, whose pipes a fork inherits."""
        inherited, self.worker = self.worker, None
        self.lock = threading.Lock()
        if inherited is not None:
            inherited.let_go()


def dump(document: Document) -> dict[str, JSON]:
    """Return the document as JSON."""
    moment = document.occurred_at
    return {
        **asdict(document),
        "metadata": dict(document.metadata),
        "occurred_at": moment.isoformat() if moment else None,
    }


def load(said: JSON) -> Document:
    """Return the document that `dump` wrote."""
    facts = _fields(said)
    moment = facts["occurred_at"]
    return Document(
        title=str(facts["title"]),
        sections=tuple(_section(section) for section in _items(facts["sections"])),
        tags=tuple(str(tag) for tag in _items(facts["tags"])),
        metadata=_fields(facts["metadata"]),
        language=str(facts["language"]),
        occurred_at=datetime.fromisoformat(str(moment)) if moment else None,
    )


def _section(said: JSON) -> Section:
    said = _fields(said)
    links = map(_fields, _items(said["links"]))
    return Section(
        title=str(said["title"]),
        content=str(said["content"]),
        path=tuple(str(heading) for heading in _items(said["path"])),
        links=tuple(Link(str(link["target"]), str(link["text"])) for link in links),
    )


def _fields(said: JSON) -> dict[str, JSON]:
    return said if isinstance(said, dict) else {}


def _items(said: JSON) -> Sequence[JSON]:
    return said if isinstance(said, list | tuple) else ()


_state = _State()
atexit.register(stop)
os.register_at_fork(after_in_child=_state.forked)
