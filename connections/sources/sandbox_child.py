"""The child process of `sandbox`: reads documents one after another, under limits."""

from __future__ import annotations

import json
import logging
import os
import resource
import signal
import sys
from typing import IO

from connections.records import JSON
from connections.sources.documents_base import Unreadable
from connections.sources.documents_formats import parse
from connections.sources.sandbox import OUT_OF_MEMORY, Died, dump, receive, send


def serve(
    requests: IO[bytes], answers: IO[bytes], limits: tuple[int, int, int]
) -> None:
    """Answer requests until they end or enough were read; memory may run out."""
    cpu_seconds, memory_bytes, documents = limits
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    for number in range(1, documents + 1):
        try:
            name = receive(requests).decode()
            data = receive(requests)
        except Died:
            return
        _allow(cpu_seconds)
        answer = _answer(name, data)
        if number == documents:
            answer["last"] = True
        said = json.dumps(answer, ensure_ascii=False)
        send(answers, said.encode("utf-8", "replace"))


def _answer(name: str, data: bytes) -> dict[str, JSON]:
    try:
        return {"document": dump(parse(name, data))}
    except Unreadable as reason:
        return {"reason": str(reason)}


def _allow(seconds: int) -> None:
    """Let the next document take `seconds` of CPU time beyond what was used so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + seconds)


def _limit(what: int, value: int) -> None:
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(what, (value, hard))
    except (ValueError, OSError):
        # Not every system bounds everything (macOS: no RLIMIT_AS); the rest holds.
        logging.getLogger(__name__).info("limit %s is not supported here", what)


def main() -> None:
    """Serve on standard input and output, which parsers cannot reach by printing."""
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cpu, memory, documents = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers, (cpu, memory, documents))
    except MemoryError:
        # There may be none left to say so in words.
        os._exit(OUT_OF_MEMORY)


if __name__ == "__main__":
    main()
