"""How old a node may get before it should be looked at again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from connections.models import Project
from connections.prepared import fetch_prepared
from graph import staleness_sql as sql
from graph.models import Node

# As published; what a project sets stands in `StaleThreshold`. None: never.
THRESHOLDS: Mapping[str, int | None] = {
    "decision": 90,
    "pattern": 180,
    "technology": 120,
    "preference": 365,
    "agent": None,
}
DEFAULT_THRESHOLD = 90
# Stands for every type that has no threshold of its own.
DEFAULT = "default"
MONTH, YEAR = 30.44, 365.25


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


def published() -> dict[str, int | None]:
    """Return the published thresholds by type, with that of every other type."""
    return {**THRESHOLDS, DEFAULT: DEFAULT_THRESHOLD}


def thresholds_of(project: Project) -> Mapping[str, int | None]:
    """Return a project's thresholds by type, in one statement; those it did not set are
    the published ones, and `default` stands for every type without one."""
    own = fetch_prepared(sql.THRESHOLDS, (project.tenant_id, project.pk))
    own_days: dict[str, int | None] = dict(own)
    return published() | own_days


def threshold_for(thresholds: Mapping[str, int | None], node_type: str) -> int | None:
    """Return the days allowed a type; None: it is never stale."""
    return thresholds.get(node_type, thresholds[DEFAULT])


def age_of(node: Node, now: datetime, thresholds: Mapping[str, int | None]) -> Age:
    """Return the days since it was said, confirmed or met again, whichever is last.

    `graph.staleness_sql` says the same of many nodes at once.
    """
    moments = (
        node.occurred_at or node.updated_at,
        node.confirmed_at,
        node.last_evidence_at,
    )
    latest = max((moment for moment in moments if moment), default=None)
    days = max(0, (now - latest).days) if latest else None
    return Age(days, threshold_for(thresholds, node.node_type))


def warning(name: str, age: Age) -> str:
    """Return the published warning of a stale node; empty where it is fresh."""
    if not age.is_stale:
        return ""
    return (
        f'STALE NODE: "{name}" is {age.days} days old (threshold: {age.threshold}d). '
        "Verify before using."
    )


def in_words(days: int) -> str:
    """Return a number of days as a person says it: "12 days", "7 months"."""
    for least, length, name in ((2 * YEAR, YEAR, "year"), (60, MONTH, "month")):
        if days >= least:
            return f"{int(days / length)} {name}s"
    return "1 day" if days == 1 else f"{days} days"
