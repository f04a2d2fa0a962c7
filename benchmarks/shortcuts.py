"""What the arms' short cuts cost: their best ten beside the best ten there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.db import connection, transaction

from benchmarks import reference_sql as sql
from benchmarks.arms import hits_of, unlimited
from benchmarks.report import progress
from connections.models import Project
from graph.embed import structure_types

TOP = 10


def vector_recall(project: Project, vectors: Mapping[str, str | None]) -> float:
    """Return how much of the nearest ten by all distances the vector arm finds."""
    return _mean_kept(
        vectors,
        lambda question: hits_of("vector", project, question, TOP),
        lambda question: nearest(project, vectors[question]),
    )


def keyword_kept(project: Project, asked: Sequence[str]) -> float:
    """Return how much of the best ten of every match the keyword arm finds."""

    def every(question: str) -> list[str]:
        with unlimited():
            return hits_of("keyword", project, question, TOP)

    return _mean_kept(
        asked, lambda question: hits_of("keyword", project, question, TOP), every
    )


def peer_recall(
    project: Project,
    vectors: Mapping[str, str | None],
    ask: Callable[[str], Sequence[str]],
) -> float:
    """Return the same of a peer's vector search."""
    return _mean_kept(
        vectors,
        lambda question: ask(question)[:TOP],
        lambda question: nearest(project, vectors[question]),
    )


def nearest(project: Project, vector: str | None) -> list[str]:
    """Return the keys of the ten nearest nodes, every distance computed."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_indexscan = off")
        cursor.execute(sql.NEAREST, [project.pk, structure_types(), vector, TOP])
        return [row[0] for row in cursor.fetchall()]


def _mean_kept(
    asked: Sequence[str] | Mapping[str, object],
    find: Callable[[str], Sequence[str]],
    best: Callable[[str], Sequence[str]],
) -> float:
    shares = []
    for question in asked:
        progress(question[:60])
        if true := set(best(question)):
            shares.append(len(true & set(find(question))) / len(true))
    return sum(shares) / len(shares) if shares else 1.0
