"""The agent offline: the first words of an answer, alone and in a crowd."""

from __future__ import annotations

import time
from collections.abc import Sequence
from unittest.mock import patch

from django.conf import settings
from django.db import connection

from benchmarks.report import Table, median, percentile, sampled, sizes
from benchmarks.streams import Crowd, crowd
from benchmarks.workspaces import Workspace, workspace
from connections.models import ApiToken
from memory.agent import storing
from memory.agent.run import Asked
from memory.agent.run import run as run_agent

ASKED, STREAMS, FIRST_MS = 60, 50, 300


def run() -> list[Table]:
    """Ask one after another, then fifty at once, at each size."""
    return [_measured(size) for size in sizes()]


def _measured(size: int) -> Table:
    table = Table(
        "measure", "p50", "p95", "target", "reached", caption=f"{size:,} messages"
    )
    # What is learned from a turn is measured elsewhere, and needs a broker.
    with workspace(size) as filled, patch.object(storing, "_remember"):
        questions = sampled(filled.material.questions(ASKED))
        _first_token(filled, questions)  # warm
        alone = _first_token(filled, questions)
        reached = percentile(alone, 0.95) < FIRST_MS
        table.add(
            "first streamed words, offline, one at a time",
            f"{median(alone):.0f} ms",
            f"{percentile(alone, 0.95):.0f} ms",
            f"p95 under {FIRST_MS} ms",
            "yes" if reached else "no",
        )
        _add_crowd(table, _at_once(filled, questions))
    return table


def _first_token(filled: Workspace, questions: Sequence[str]) -> list[float]:
    took = []
    for question in questions:
        asked = Asked(project=filled.big, user=filled.member, question=question)
        started = time.perf_counter()
        feed = run_agent(asked, stop=lambda: False)
        for event in feed:
            if event.name == "delta":
                took.append((time.perf_counter() - started) * 1000)
                break
        for _ in feed:
            pass
    return took


def _at_once(filled: Workspace, questions: Sequence[str]) -> Crowd:
    _, token = ApiToken.objects.issue(
        user=filled.member, tenant=filled.big.tenant, name="bench", scopes=["ask"]
    )
    connection.close()
    many = [questions[n % len(questions)] for n in range(STREAMS)]
    return crowd(token, filled.big.path, many)


def _add_crowd(table: Table, found: Crowd) -> None:
    first = [one.first_ms for one in found.streams]
    table.add(
        f"first streamed words, {STREAMS} streams at once",
        f"{median(first):.0f} ms",
        f"{percentile(first, 0.95):.0f} ms",
        "",
        "",
    )
    table.add(
        f"streams broken, of {len(found.streams)}",
        found.broken,
        "",
        "0",
        "no" if found.broken else "yes",
    )
    pool = settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"]
    table.add(
        "most database sessions meanwhile (pool, arms, this watcher)",
        found.sessions,
        "",
        f"pool at most {pool}",
        "",
    )
