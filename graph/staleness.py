"""How old a node may get before it should be looked at again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from graph.models import Node

THRESHOLDS: dict[str, int | None] = {
    "decision": 90,
    "pattern": 180,
    "technology": 120,
    "preference": 365,
    "agent": None,
}
DEFAULT_THRESHOLD = 90


@dataclass(frozen=True, slots=True)
class Age:
    """Whole days since the latest word on a node, and the days allowed its type."""

    days: int | None
    threshold: int | None

    @property
    def is_stale(self) -> bool:
        return (
            self.days is not None
            and self.threshold is not None
            and self.days > self.threshold
        )


def age_of(node: Node, now: datetime) -> Age:
    """Return the days since it was said, confirmed or met again, whichever is last."""
    moments = (
        node.occurred_at or node.updated_at,
        node.confirmed_at,
        node.last_evidence_at,
    )
    latest = max((moment for moment in moments if moment), default=None)
    days = max(0, (now - latest).days) if latest else None
    return Age(days, THRESHOLDS.get(node.node_type, DEFAULT_THRESHOLD))
