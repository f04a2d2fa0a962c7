"""Whether edges that learned from use help the walk arm: half a set teaches the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from django.db import transaction

from benchmarks.arms import registered
from benchmarks.bootstrap import RESAMPLES, paired
from benchmarks.report import Table, progress
from benchmarks.sets import (
    COMPARED,
    METRICS,
    RetrievalSet,
    columns,
    ingested,
    scored,
    set_folders,
)
from graph.models import Node
from memory.edge_uses import count_uses, edges_that_led
from memory.models import EdgeUse
from retrieval.arms.walk import SEEDS
from retrieval.evaluation import CUTS, Question
from retrieval.profiles import Profile, profiles
from retrieval.search import search
from retrieval.text_hits import text_hits

STRENGTHS = (0.5, 2.0, 8.0)
HALVES = 2


def run() -> list[Table]:
    """Teach by one half of each set's questions and ask the other, both ways round."""
    table = Table(
        "set",
        "walk's `learned`",
        "edges learned",
        *METRICS,
        *(f"{name} minus 0 [95 %]" for name in COMPARED),
        caption=(
            "What is relevant to the teaching half counts as cited. Differences with "
            f"the 95 % interval of a paired bootstrap ({RESAMPLES:,} resamples)."
        ),
    )
    for folder in set_folders():
        with ingested(folder) as asked:
            _add(table, asked)
    return [table]


def _add(table: Table, asked: RetrievalSet) -> None:
    found: dict[float, list[list[float]]] = {}
    edges = 0
    for half in range(HALVES):
        EdgeUse.objects.all().delete()
        taught = [q for at, q in enumerate(asked.questions) if at % HALVES != half]
        tested = [q for at, q in enumerate(asked.questions) if at % HALVES == half]
        for question in taught:
            _teach(asked, question)
        edges += EdgeUse.objects.count()
        for strength in (0.0, *STRENGTHS):
            progress(f"{asked.name}: half {half}, learned {strength}")
            found.setdefault(strength, []).extend(_scores(asked, tested, strength))
    plain = np.array(found[0.0])
    for strength, rows in found.items():
        scores = np.array(rows)
        differences = paired(columns(scores), columns(plain)) if strength else ()
        table.add(
            f"{asked.name} ({len(asked.questions)})",
            f"{strength:g}",
            f"{edges / HALVES:,.0f}",
            *(f"{mean:.3f}" for mean in scores.mean(axis=0)),
            *(differences or ("",) * len(COMPARED)),
        )


def _teach(asked: RetrievalSet, question: Question) -> None:
    """Count the edges to what is relevant, as after an answer that cited it."""
    project = asked.projects[question.project]
    wanted = Node.objects.of(project).filter(key__in=question.relevant)
    cited = list(wanted.values_list("pk", flat=True))
    seeds = text_hits(project, question.query, user=None, limit=SEEDS)
    edges = edges_that_led(project, None, seeds=seeds, cited=cited)
    with transaction.atomic():
        count_uses(project, edges)


def _scores(
    asked: RetrievalSet, questions: Sequence[Question], strength: float
) -> list[list[float]]:
    with registered(_learning(strength)) as name:
        return [
            scored(
                [
                    result.key
                    for result in search(
                        asked.projects[question.project],
                        question.query,
                        user=None,
                        limit=max(CUTS),
                        profile=name,
                    ).results
                ],
                question,
            )
            for question in questions
        ]


def _learning(strength: float) -> Profile:
    """Return the default profile with a walk that counts use so much."""
    default = profiles["default"]
    plan = default.arms["walk"]
    walk = replace(plan, options={**plan.options, "learned": strength})
    return replace(
        default, name=f"learned {strength:g}", arms={**default.arms, "walk": walk}
    )
