"""Retrieval quality on real questions: profiles, arms and ablations beside BM25."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.arms import Ranker, ablations, rankers, registered
from benchmarks.bm25 import Bm25
from benchmarks.bootstrap import RESAMPLES, Interval, paired
from benchmarks.report import Table, median, percentile, progress
from benchmarks.reworded import reworded
from benchmarks.sets import (
    COMPARED,
    METRICS,
    RetrievalSet,
    columns,
    ingested,
    scored,
    searched,
    set_folders,
)
from connections.models import Project
from retrieval.evaluation import CUTS
from retrieval.profiles import profiles

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Run:
    """A ranker's `METRICS` of each question, and the milliseconds it took."""

    name: str
    scores: NDArray[np.float64]
    took_ms: list[float]


def run() -> list[Table]:
    """Ingest each set once, ask all rankers, and compare the default with the rest."""
    means = Table("set", "ranker", *METRICS, "p50", "p95")
    sure = Table(
        "set",
        "default minus",
        *(f"{name} [95 %]" for name in COMPARED),
        *(f"{name} [95 %], by group" for name in COMPARED),
        "default is",
        caption=(
            "Mean differences with the 95 % interval of a paired bootstrap "
            f"({RESAMPLES:,} resamples), over questions and over whole projects "
            "(conversations, meetings); the verdicts are of the first."
        ),
    )
    harder = Table(
        "set",
        "asked",
        "default",
        "default minus",
        *(f"{name} [95 %]" for name in COMPARED),
        "default is",
        caption=(
            "The same for questions whose words are of little help: misspelt (a slip in "
            "about half of the words of five letters and more: one left out, doubled, "
            "exchanged with the next or with another); those "
            "alone of which no word (English stems, no stop words) stands in what answers "
            "them; and all without the words that do. `default` is its means."
        ),
    )
    for folder in set_folders():
        with ingested(folder) as asked:
            runs = [_asked(asked, ranker) for ranker in rankers()]
            runs.append(_baseline(asked))
            _add_means(means, asked, runs)
            _add_differences(sure, asked, runs)
            _add_reworded(harder, asked)
    return [means, sure, harder]


def _asked(asked: RetrievalSet, ranker: Ranker) -> Run:
    progress(f"{asked.name}: {ranker.name}")
    with registered(ranker.profile):
        return _measured(
            ranker.name,
            asked,
            lambda project: lambda query: ranker.ask(project, query, max(CUTS)),
        )


def _baseline(asked: RetrievalSet) -> Run:
    """Ask BM25 over the nodes of each project, as they were ingested."""

    def of(project: Project) -> Callable[[str], list[str]]:
        texts = (
            (key, "\n".join((node.context, node.title, node.content)))
            for key, node in searched(project)
        )
        index = Bm25(texts)
        return lambda query: index.search(query, max(CUTS))

    return _measured("BM25", asked, of)


def _measured(
    name: str,
    asked: RetrievalSet,
    ranker_of: Callable[[Project], Callable[[str], list[str]]],
) -> Run:
    rank = {key: ranker_of(project) for key, project in asked.projects.items()}
    scores, took_ms = [], []
    for question in asked.questions:
        started = time.perf_counter()
        keys = rank[question.project](question.query)
        took_ms.append((time.perf_counter() - started) * 1000)
        scores.append(scored(keys, question))
    return Run(name, np.array(scores), took_ms)


def _add_means(table: Table, asked: RetrievalSet, runs: list[Run]) -> None:
    for run in runs:
        table.add(
            f"{asked.name} ({len(asked.questions)})",
            run.name,
            *(f"{mean:.3f}" for mean in run.scores.mean(axis=0)),
            f"{median(run.took_ms):.1f} ms",
            f"{percentile(run.took_ms, 0.95):.1f} ms",
        )


def _add_differences(table: Table, asked: RetrievalSet, runs: list[Run]) -> None:
    ours = next(run for run in runs if run.name == DEFAULT)
    groups = asked.groups
    many = len(set(groups)) > 1
    for other in runs:
        if other is ours:
            continue
        pair = columns(ours.scores), columns(other.scores)
        found = paired(*pair)
        shown: list[Interval | str] = [*found]
        shown += paired(*pair, groups=groups) if many else ["one project"] * len(found)
        verdicts = ", ".join(interval.verdict for interval in found)
        table.add(asked.name, other.name, *shown, verdicts)


def _add_reworded(table: Table, asked: RetrievalSet) -> None:
    """Compare the default with itself without each of its arms, and with BM25."""
    for way, harder in reworded(asked):
        ours = _asked(harder, Ranker(DEFAULT, profiles[DEFAULT]))
        others = [_asked(harder, one) for one in ablations()]
        ours_compared = columns(ours.scores)
        means = ", ".join(f"{mean:.3f}" for mean in ours_compared.mean(axis=0))
        for other in (*others, _baseline(harder)):
            found = paired(ours_compared, columns(other.scores))
            table.add(
                f"{asked.name} ({len(harder.questions)})",
                way,
                means,
                other.name,
                *found,
                ", ".join(interval.verdict for interval in found),
            )
