"""Search: its latency beside the reference statement, and what its short cuts cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from django.db import connection, transaction

from benchmarks import reference_sql as sql
from benchmarks.corpus import questions
from benchmarks.database import read
from benchmarks.report import Table, median, percentile, progress, ratio, size
from benchmarks.statements import Watch, plan_of, was_used
from connections.models import Project
from graph.embed import INDEX, embed_backlog, embed_texts, structure_types
from retrieval import ranked
from retrieval.results import Result
from retrieval.search import search

SMALL, ASKED, TOP = 50, 80, 10
EVERY = 200  # results: what two arms of a hundred can bring
FASTER, EXACT = 8.0, 0.99


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of many runs."""

    p50: float
    p95: float

    @classmethod
    def of(cls, took_ms: Sequence[float]) -> Timing:
        return cls(median(took_ms), percentile(took_ms, 0.95))


@dataclass(frozen=True, slots=True)
class Quality:
    """Shares of the top ten that the arms' short cuts keep."""

    vector: float
    keyword: float


def run() -> Table:
    """Fill a big and a small tenant, ask both, and compare with reading everything."""
    count = size()
    big = _filled("big/main", f"big-{count}")
    small = _filled("small/main", f"small-{SMALL}")
    asked = questions("big", ASKED, count)
    asked_small = questions("small", SMALL // 2, SMALL)
    vectors = dict(zip(asked, embed_texts(asked), strict=True))

    _timed(asked, lambda question: search(big, question, user=None))  # warm
    watch = Watch("allowed")
    with connection.execute_wrapper(watch):
        whole = _timed(asked, lambda question: search(big, question, user=None))
        last = watch.last
        tenant = _timed(asked_small, lambda q: search(small, q, user=None))
    alone = Timing.of(watch.took_ms[: len(asked)])
    rows: list[tuple[str, Timing, float]] = [
        ("search(), end to end", whole, 1.0),
        ("its one statement alone", alone, 1.0),
    ]
    for name, text in (
        ("reference statement, words required", sql.REQUIRED),
        ("reference statement, any word", sql.ANY_WORD),
    ):
        took = _timed(asked, _reference(big, vectors, text))
        rows.append((name, took, took.p50 / whole.p50))
    rows.append(("search() in the tenant of 50", tenant, 1.0))

    table = Table("p50, times search()", "measure", "p50", "p95", "target")
    for name, took, times in rows:
        table.add(
            ratio(times, 1),
            name,
            f"{took.p50:.1f} ms",
            f"{took.p95:.1f} ms",
            f"{FASTER:.0f}x" if name.startswith("reference") else "",
        )
    _add_quality(table, "big", _quality(big, asked))
    _add_quality(table, "of 50", _quality(small, asked_small))
    by_index = "yes" if was_used(INDEX, plan_of(*last)) else "no"
    table.add(
        "",
        "vector index used, big tenant",
        by_index,
        "",
        f"yes from {ranked.EXACT_BELOW:,} nodes on",
    )
    return table


def _filled(path: str, name: str) -> Project:
    project, _ = read(path, "made-up", Path("/"), name=name)
    embed_backlog(project.pk)
    return project


def _timed(asked: Sequence[str], ask: Callable[[str], object]) -> Timing:
    took = []
    for number, question in enumerate(asked):
        progress(f"question {number}")
        started = time.perf_counter()
        ask(question)
        took.append((time.perf_counter() - started) * 1000)
    return Timing.of(took)


def _reference(
    project: Project, vectors: dict[str, str | None], text: str
) -> Callable[[str], object]:
    def ask(question: str) -> object:
        with connection.cursor() as cursor:
            cursor.execute(
                text,
                {
                    "vector": vectors[question],
                    "question": question,
                    "words": " | ".join(question.split()),
                    "project": project.pk,
                    "limit": 20,
                },
            )
            return cursor.fetchall()

    return ask


def _quality(project: Project, asked: Sequence[str]) -> Quality:
    vector, keyword = [], []
    for question in asked:
        found = _found(project, question)
        near = _exact(project, embed_texts([question])[0])
        vector.append(_kept(_best(found, "vector"), near))
        with patch.object(ranked, "ANY_WORD_BELOW", 10**9):
            every = _found(project, question)
        keyword.append(_kept(_best(found, "keyword"), _best(every, "keyword")))
    return Quality(sum(vector) / len(asked), sum(keyword) / len(asked))


def _found(project: Project, question: str) -> Sequence[Result]:
    return search(project, question, user=None, limit=EVERY).results


def _best(found: Sequence[Result], arm: str) -> set[str]:
    return {
        hit.key
        for hit in found
        if arm in hit.contributions and hit.contributions[arm].rank <= TOP
    }


def _exact(project: Project, vector: str | None) -> set[str]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_indexscan = off")
        cursor.execute(sql.NEAREST, [project.pk, structure_types(), vector, TOP])
        return {row[0] for row in cursor.fetchall()}


def _kept(found: set[str], true: set[str]) -> float:
    return len(found & true) / len(true) if true else 1.0


def _add_quality(table: Table, tenant: str, quality: Quality) -> None:
    table.add(
        "",
        f"vector arm, recall@{TOP} against exact, tenant {tenant}",
        f"{quality.vector:.3f}",
        "",
        f"{EXACT}",
    )
    table.add(
        "",
        f"keyword arm, same top {TOP} as any word without limit, tenant {tenant}",
        f"{quality.keyword:.3f}",
        "",
        "",
    )
