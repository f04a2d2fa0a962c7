"""Weights fitted leaving one whole conversation or meeting out, never by question.

Each arm's hits are collected once; a trial of weights fuses them again in memory. What
comes after the fusion (merging, boosts) is not in it, so the means differ from those of
`quality`: they are for comparing weights with each other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.arms import alone, arms_of, contributed, registered, weights_of
from benchmarks.fitting import Asked, Rows, Settings, Trials
from benchmarks.report import Table, progress
from benchmarks.sets import COMPARED, RetrievalSet, ingested, set_folders
from retrieval.evaluation import Question
from retrieval.fusion import RRF_K
from retrieval.profiles import profiles

DEFAULT = "default"


def run() -> list[Table]:
    """Collect all arms' hits on every set, then fit with each group left out."""
    default = profiles[DEFAULT]
    arms = arms_of(default)
    begin = Settings(weights_of(default), float(default.k or RRF_K))
    trials = _collected(arms)
    everything = np.ones(len(trials.asked), dtype=bool)
    rows, chosen = trials.held_out(begin, progress)
    best = trials.fitted(begin, everything)
    return [
        _means(
            trials,
            {
                "weights as they are": trials.scores(begin),
                "fitted without the group asked": rows,
                "fitted on everything": trials.scores(best),
            },
        ),
        _weights(arms, begin, best, list(chosen.values())),
    ]


def _collected(arms: Sequence[str]) -> Trials:
    asked: list[Asked] = []
    sets: list[str] = []
    groups: list[str] = []
    for folder in set_folders():
        with ingested(folder) as found:
            for question in found.questions:
                progress(f"{found.name}: {len(asked)}")
                hits = _hits(found, question, arms)
                asked.append(Asked.of(question, hits, arms))
        sets += [found.name] * len(found.questions)
        groups += [f"{found.name}/{group}" for group in found.groups]
    return Trials(asked, sets, groups)


def _hits(
    found: RetrievalSet, question: Question, arms: Sequence[str]
) -> dict[str, list[str]]:
    hits = {}
    project = found.projects[question.project]
    for arm in arms:
        with registered(alone(profiles[DEFAULT], arm)) as name:
            hits[arm] = contributed(arm, project, question.query, profile=name)
    return hits


def _means(trials: Trials, runs: dict[str, Rows]) -> Table:
    table = Table("set", "weights", *COMPARED, "mean")
    names = np.array(trials.sets)
    for name in dict.fromkeys(trials.sets):
        inside = names == name
        groups = {
            g for g, s in zip(trials.groups, trials.sets, strict=True) if s == name
        }
        for label, rows in runs.items():
            means = rows[inside].mean(axis=0)
            table.add(
                f"{name} ({inside.sum()}, {len(groups)} groups)",
                label,
                *(f"{mean:.3f}" for mean in means),
                f"{means.mean():.3f}",
            )
    return table


def _weights(
    arms: Sequence[str], begin: Settings, best: Settings, chosen: Sequence[Settings]
) -> Table:
    table = Table("arm", "now", "fitted on everything", "least and most of the folds")
    for place, arm in enumerate(arms):
        seen = [settings.weights[place] for settings in chosen]
        table.add(
            arm, begin.weights[place], best.weights[place], f"{min(seen)}-{max(seen)}"
        )
    constants = [settings.k for settings in chosen]
    table.add("(k)", begin.k, best.k, f"{min(constants)}-{max(constants)}")
    return table
