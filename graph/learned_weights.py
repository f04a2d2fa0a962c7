"""What a higher layer has learned about edges: how much use they were."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from connections.models import Project
from connections.registry import Registry


@dataclass(frozen=True, slots=True)
class LearnedWeight:
    """How often an edge, told by its ends too, led to what was cited, faded to now."""

    edge: int
    source: int
    target: int
    uses: float


# Given a project, nodes and a moment, the edges among the nodes that were used by then.
Learn = Callable[[Project, Collection[int], datetime], Sequence[LearnedWeight]]
learned_weights: Registry[Learn] = Registry("source of learned weights")


def learned_among(
    project: Project, nodes: Collection[int], now: datetime
) -> list[LearnedWeight]:
    """Return what all sources have learned about the edges among `nodes`."""
    if not nodes:
        return []
    return [
        learned
        for learn in learned_weights.values()
        for learned in learn(project, nodes, now)
    ]
