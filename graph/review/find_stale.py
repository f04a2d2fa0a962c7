"""Claims beyond the threshold of their type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from psycopg.types.json import Jsonb

from connections.models import Project
from graph.review import finding_sql
from graph.review.kinds import Flagged, finders
from graph.review.pages import about, evidence_of, fingerprint, pages
from graph.review.uses import uses_of
from graph.staleness import Age, in_words, thresholds_of, warning


@finders.register("stale")
def find_stale(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield the claims nobody said, confirmed or met again for longer than allowed.

    The evidence of each is what it rests on, its words, and its latest moment: a
    claim that was kept comes back when that confirmation is too old itself.
    """
    thresholds = Jsonb(dict(thresholds_of(project)))
    for rows in pages(finding_sql.STALE_CLAIMS, project, now, thresholds=thresholds):
        nodes = [row[0] for row in rows]
        uses, evidence = uses_of(project, nodes), evidence_of(project, nodes)
        for node, key, kind, name, audience, latest, days, threshold, words in rows:
            age = Age(days, threshold)
            yield Flagged(
                subject=about(key),
                fingerprint=fingerprint(
                    latest.timestamp(), words, evidence.get(node, "")
                ),
                why=_why(kind, age),
                audience_id=audience,
                node_id=node,
                detail={
                    "warning": warning(name, age),
                    "latest": latest.isoformat(),
                    "type": kind,
                },
                age_days=days,
                threshold=threshold,
                uses=uses[node],
            )


def _why(kind: str, age: Age) -> str:
    return (
        f"This {kind} is {in_words(age.days or 0)} old: nothing has confirmed it for "
        f"{age.days} days (threshold: {age.threshold})."
    )
