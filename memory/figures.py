"""What is counted of answers: how many, what readers said, which arms had found it."""

from __future__ import annotations

from collections.abc import Iterator

from connections.models import Project
from graph.figures.counters import Counter, Figure, Span, counters
from graph.figures.of_graph import each_day
from memory import figures_sql


def answers(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many questions were answered on each day, by how that ended."""
    return each_day(figures_sql.ANSWERS, project, span)


def feedback(project: Project, span: Span) -> Iterator[Figure]:
    """Yield what readers said of answers on each day, by their reason."""
    return each_day(figures_sql.FEEDBACK, project, span)


def arms(project: Project, span: Span) -> Iterator[Figure]:
    """Yield how many cited passages each arm had found, by the day of the answer."""
    return each_day(figures_sql.ARMS, project, span)


counters.add("answers", Counter(answers))
counters.add("feedback", Counter(feedback))
counters.add("arms", Counter(arms))
