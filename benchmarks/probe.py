"""A reader beside the load, in a process of its own: `python -m benchmarks.probe`.

Asks one question after another until its standard input ends, then prints how long
each took and whether the plan went through the vector index.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.db import connection, connections

from benchmarks.database import use
from benchmarks.statements import Watch, plan_of, was_used
from connections.models import Project
from graph.embed import INDEX, nearness
from retrieval.search import search

PAUSE = 0.25  # seconds between two questions


@dataclass(slots=True)
class Probed:
    """What the reader saw: milliseconds a search, and the index in its plan or not."""

    took_ms: list[float] = field(default_factory=list)
    by_index: bool = False


@contextmanager
def reading(project: Project, questions: list[str]) -> Iterator[Probed]:
    """Search `project` from another process while this is open."""
    found = Probed()
    database = connection.settings_dict["NAME"]
    child = subprocess.Popen(  # noqa: S603 - this module
        [sys.executable, "-m", "benchmarks.probe", project.path, database],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin
    child.stdin.write(json.dumps(questions) + "\n")
    child.stdin.flush()
    try:
        yield found
    finally:
        said, _ = child.communicate()
    if child.returncode:
        raise RuntimeError("The reader beside the load failed; stderr has its reason.")
    answer = json.loads(said)
    found.took_ms, found.by_index = answer["took_ms"], answer["by_index"]


def _vector_statement(project: Project, question: str) -> tuple[str, Any]:
    """Return how the vector arm asks; its thread has a connection of its own."""
    by_distance = f"ORDER BY {nearness('%(vector)s')}"
    watch = Watch(by_distance)
    with (
        patch.dict(settings.FABRIC, {"ARM_THREADS": 0}),
        connection.execute_wrapper(watch),
    ):
        search(project, question, user=None)
    if watch.first is None:
        raise RuntimeError(f"No statement has {by_distance!r}.")
    return watch.first


def main() -> None:
    questions = json.loads(sys.stdin.readline())
    use(dict.fromkeys(connections, sys.argv[2]))
    project = Project.objects.named(sys.argv[1])
    took = []
    for question in cycle(questions):
        started = time.perf_counter()
        search(project, question, user=None)
        took.append((time.perf_counter() - started) * 1000)
        if select.select([sys.stdin], [], [], PAUSE)[0]:
            break
    by_index = was_used(INDEX, plan_of(*_vector_statement(project, question)))
    # The first search opens the connection and loads the embedder.
    print(json.dumps({"took_ms": took[1:], "by_index": by_index}))


if __name__ == "__main__":
    main()
