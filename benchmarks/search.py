"""Search: its latency beside the reference statement and two peers, at several sizes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from django.db import connection

from benchmarks import reference_sql as sql
from benchmarks.arms import alone, arms_of, registered, two_arms
from benchmarks.peers import Asked, Peers, as_array, peers
from benchmarks.report import Table, ratio, sampled, sizes, warn
from benchmarks.shortcuts import keyword_kept, peer_recall, vector_recall
from benchmarks.timing import Timing, timed, timed_together
from benchmarks.workspaces import Workspace, workspace
from connections.models import Project
from graph.embed import active_embedder, embed_texts
from retrieval.profiles import profiles
from retrieval.search import search

ASKED, SLOWLY, LIMIT, CALLERS = 80, 20, 20, 8
FASTER, PEER_P50, PEER_P95, WHOLE = 15, 1.0, 1.5, 3.0
RECALL, KEPT, BIG_SIZE, BIG_P95 = 0.99, 0.97, 1_000_000, 100
DEFAULT = "default"
_WORDS = re.compile(r"\w+")

Vectors = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Report:
    """The table of one size; every latency stands beside keyword + vector + fusion."""

    table: Table
    ours: Timing

    def add(
        self, name: str, took: Timing, target: str = "", reached: bool | None = None
    ) -> None:
        self.table.add(
            name,
            f"{took.p50:.1f} ms",
            f"{took.p95:.1f} ms",
            ratio(took.p50, self.ours.p50),
            ratio(took.p95, self.ours.p95),
            target,
            _verdict(reached),
        )

    def add_share(self, name: str, share: float, least: float | None = None) -> None:
        target = "" if least is None else f"at least {least}"
        reached = None if least is None else share >= least
        self.table.add(name, f"{share:.3f}", "", "", "", target, _verdict(reached))


def run() -> list[Table]:
    """Ask the same questions at each size; one table each."""
    tables = []
    for size in sizes():
        with workspace(size) as filled:
            tables.append(_measured(filled))
        warn(tables[-1].markdown())  # a later size may take long, or fail
    return tables


def _measured(filled: Workspace) -> Table:
    asked = sampled(filled.material.questions(ASKED))
    vectors = dict(zip(asked, embed_texts(asked), strict=True))
    table = Table(
        "measure", "p50", "p95", "p50, times ours", "p95, times ours", "target", "reached",
        caption=(
            f"{filled.size:,} messages, nine tenths of them in the project asked; "
            f"{filled.material.name}; {len(asked)} questions"
        ),
    )  # fmt: skip
    others = peers(filled.folder, filled.big, LIMIT)
    report = Report(table, timed(asked, _two_arms(filled.big, vectors)))
    _add_ours(report, filled.size)
    hybrid = _add_peers(report, others, vectors)
    _add_whole(report, filled, vectors, hybrid)
    _add_references(report, filled.big, vectors)
    _add_shares(report, filled, vectors, others)
    _add_callers(report, filled, vectors)
    return table


def _two_arms(project: Project, vectors: Vectors) -> Callable[[str], object]:
    _, model = active_embedder()
    return lambda question: two_arms(
        project, question, vectors[question], model.pk, LIMIT
    )


def _add_ours(report: Report, size: int) -> None:
    name = "ours: keyword + vector + fusion, one call"
    if size < BIG_SIZE:
        report.add(name, report.ours)
    else:
        reached = report.ours.p95 < BIG_P95
        report.add(name, report.ours, f"p95 under {BIG_P95} ms", reached)


def _add_peers(report: Report, others: Peers, vectors: Vectors) -> Timing:
    hybrid = timed(list(vectors), _of_peer(others.hybrid, vectors))
    ours = report.ours
    report.add(
        "LanceDB hybrid: the same rows and filter",
        hybrid,
        f"ours at most {PEER_P50}x its p50, {PEER_P95}x its p95",
        ours.p50 <= PEER_P50 * hybrid.p50 and ours.p95 <= PEER_P95 * hybrid.p95,
    )
    for name, ask in (
        ("LanceDB, vector alone", others.vector),
        ("LanceDB, words alone", others.lance_words),
        ("tantivy, any word", others.words),
    ):
        report.add(name, timed(list(vectors), _of_peer(ask, vectors)))
    return hybrid


def _of_peer(ask: Asked, vectors: Vectors) -> Callable[[str], list[str]]:
    arrays = {
        question: as_array(vector or "[]") for question, vector in vectors.items()
    }
    return lambda question: ask(question, arrays[question])


def _add_whole(
    report: Report, filled: Workspace, vectors: Vectors, hybrid: Timing
) -> None:
    """Add the default as a member asks it, and what each arm takes of it."""
    shares: dict[str, list[float]] = defaultdict(list)

    def ask(question: str) -> None:
        answer = search(filled.big, question, user=filled.member, limit=LIMIT)
        for arm, took in getattr(answer, "timings", {}).items():
            shares[arm].append(took)

    whole = timed(list(vectors), ask)
    report.add(
        "default, end to end, as a member",
        whole,
        f"under {WHOLE:.0f}x LanceDB's p50",
        whole.p50 < WHOLE * hybrid.p50,
    )
    for arm, milliseconds in shares.items():
        report.add(f"- of it, {arm}", Timing.of(milliseconds))
    default = profiles[DEFAULT]
    for arm in arms_of(default):
        with registered(alone(default, arm)) as name:
            took = timed(list(vectors), partial(_asked, filled.big, profile=name))
        report.add(f"{arm} alone, end to end", took)


def _asked(project: Project, question: str, *, profile: str) -> object:
    return search(project, question, user=None, limit=LIMIT, profile=profile)


def _add_references(report: Report, project: Project, vectors: Vectors) -> None:
    """Add the statements that read every row; asked of fewer, for they take seconds."""
    few = list(vectors)[:: max(1, len(vectors) // SLOWLY)]
    ours = timed(few, _two_arms(project, vectors))
    for name, text, times in (
        ("reference statement, words required", sql.REQUIRED, None),
        ("reference statement, any word", sql.ANY_WORD, FASTER),
    ):
        ask = _reference(project, vectors, text)
        ask(few[0])
        took = timed(few, ask, warm=False)
        report.add(
            f"{name} ({len(few)} questions, of which ours {ours.p50:.1f} ms)",
            took,
            f"at least {times}x ours" if times else "",
            took.p50 >= times * ours.p50 if times else None,
        )


def _reference(
    project: Project, vectors: Vectors, text: str
) -> Callable[[str], object]:
    def ask(question: str) -> object:
        with connection.cursor() as cursor:
            cursor.execute(
                text,
                {
                    "vector": vectors[question],
                    "question": question,
                    "words": " | ".join(_WORDS.findall(question)),
                    "project": project.pk,
                    "limit": LIMIT,
                },
            )
            return cursor.fetchall()

    return ask


def _add_shares(
    report: Report, filled: Workspace, vectors: Vectors, others: Peers
) -> None:
    for project in (filled.big, filled.medium, filled.small):
        found = vector_recall(project, vectors)
        name = f"vector arm, recall@10 against exact, {project.path}"
        report.add_share(name, found, RECALL)
    asked = _of_peer(others.vector, vectors)
    found = peer_recall(filled.big, vectors, asked)
    report.add_share("LanceDB vector, recall@10 against exact", found)
    kept = keyword_kept(filled.big, list(vectors))
    name = "keyword arm, top ten that ranking every match has"
    report.add_share(name, kept, KEPT)


def _add_callers(report: Report, filled: Workspace, vectors: Vectors) -> None:
    for callers in (1, CALLERS):
        busy = timed_together(
            list(vectors),
            lambda q: search(filled.big, q, user=filled.member, limit=LIMIT),
            callers=callers,
        )
        errors = ", ".join(f"{n} {kind}" for kind, n in busy.errors.items())
        report.add(
            f"default, {callers} callers at once: {busy.rate:.0f}/s, "
            f"errors: {errors or 'none'}",
            busy.timing,
            "no errors",
            not busy.errors,
        )


def _verdict(reached: bool | None) -> str:
    return "" if reached is None else "yes" if reached else "NO"
