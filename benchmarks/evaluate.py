"""Retrieval quality on real questions, beside BM25 over the same text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bm25 import Bm25
from benchmarks.report import Table, median, progress, ratio, real_data, warn
from connections.models import Project
from connections.sources.base import SourceError
from graph.models import Node
from graph.removal import remove_project
from retrieval.evaluation import (
    CUTS,
    Question,
    evaluate,
    read_questions,
    recall,
    reciprocal_rank,
)

SETS = ("locomo", "qmsum", "pubmedqa")
LEAST = {"locomo": "0.65, and BM25's", "pubmedqa": "0.005 below BM25's"}


@dataclass(frozen=True, slots=True)
class Row:
    """A ranker's means over a set's questions, and its median latency."""

    recall: tuple[float, ...]
    mrr: float
    p50_ms: float


def run() -> Table:
    """Ask the questions of each set, of Fabric and of BM25."""
    table = Table(
        "recall@10, times BM25",
        "set",
        "ranker",
        *(f"recall@{cut}" for cut in CUTS),
        "MRR",
        "p50",
        "target of recall@10",
    )
    for name in SETS:
        folder = real_data("retrieval", name)
        try:
            ours, baseline, count = _measure(folder)
        except SourceError as error:
            warn(f"{name}: {error}")
            continue
        for ranker, row in (("Fabric", ours), ("BM25", baseline)):
            is_ours = row is ours
            table.add(
                ratio(row.recall[1], baseline.recall[1]),
                f"{name} ({count})",
                ranker,
                *(f"{share:.3f}" for share in row.recall),
                f"{row.mrr:.3f}",
                f"{row.p50_ms:.1f} ms",
                LEAST.get(name, "") if is_ours else "",
            )
    return table


def _measure(folder: Path) -> tuple[Row, Row, int]:
    before = set(Project.objects.values_list("pk", flat=True))
    try:
        scores = evaluate(folder, keep=True, report=progress)
        made = list(Project.objects.exclude(pk__in=before))
        baseline = _baseline(made, read_questions(folder))
    finally:
        for project in Project.objects.exclude(pk__in=before):
            remove_project(project)
    recalls = tuple(scores.recall[cut] for cut in CUTS)
    return Row(recalls, scores.mrr, scores.p50_ms), baseline, scores.questions


def _baseline(projects: Sequence[Project], questions: Sequence[Question]) -> Row:
    """Ask BM25 each question over the nodes of its project, as they were ingested."""
    asked: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        asked[question.project].append(question)
    found: list[tuple[Question, list[str], float]] = []
    for project in projects:
        index = Bm25(_texts(project))
        progress(f"BM25: {project}")
        for question in asked[_name(project, asked)]:
            keys, took = index.search(question.query, max(CUTS))
            found.append((question, keys, took))
    count = len(found)
    return Row(
        tuple(
            sum(recall(k, q.relevant, cut) for q, k, _ in found) / count for cut in CUTS
        ),
        sum(reciprocal_rank(keys, q.relevant) for q, keys, _ in found) / count,
        median([took for *_, took in found]),
    )


def _name(project: Project, names: dict[str, list[Question]]) -> str:
    """Return what the set calls `project`: its file's name, or the only one."""
    (source,) = project.sources.all()
    stem = Path(source.location).stem
    return stem if stem in names else next(iter(names))


def _texts(project: Project) -> Iterator[tuple[str, str]]:
    """Yield key and text of what search ranks; parts under their whole's key."""
    nodes = Node.objects.of(project).current().exclude(embedding=None).order_by("pk")
    for node in nodes.select_related(None).defer("embedding", "search_vector"):
        is_part = node.node_type == "section" or "piece" in node.metadata
        key = node.key.rpartition("#")[0] if is_part else node.key
        yield key, "\n".join((node.context, node.title, node.content))
