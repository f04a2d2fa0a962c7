"""What is gone at its source while something still relies on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from django.utils import timezone

from connections.models import Project
from graph.copying import fetch
from graph.review import finding_sql
from graph.review.kinds import Flagged, finders, usage_counts
from graph.review.pages import about, evidence_of, fingerprint, pages
from graph.review.uses import MOST_EDGES


@finders.register("vanished")
def find_vanished(project: Project, now: datetime) -> Iterator[Flagged]:
    """Yield what vanished at its source and is cited, or that something which is still
    there refers to; what nothing relies on is left alone."""
    for rows in pages(finding_sql.VANISHED, project, now):
        nodes = [row[0] for row in rows]
        relied = _relied_on(project, nodes)
        evidence = evidence_of(project, nodes)
        for node, key, kind, _, audience, gone in rows:
            counts = relied.get(node)
            if not counts:
                continue
            yield Flagged(
                subject=about(key),
                fingerprint=fingerprint(gone.timestamp(), evidence.get(node, "")),
                why=_why(kind, gone, counts),
                audience_id=audience,
                node_id=node,
                detail={"gone_at": gone.isoformat(), "type": kind, **counts},
                uses=sum(counts.values()),
            )


def _relied_on(project: Project, nodes: Sequence[int]) -> dict[int, dict[str, int]]:
    """Return what relies on each node, by sort; its own edges are no reliance."""
    sorts = {
        name: count(project, nodes)
        for name, count in usage_counts.items()
        if name != "edges"
    }
    sorts["ties"] = ties_of_others(project, nodes)
    found: dict[int, dict[str, int]] = {}
    for name, counts in sorted(sorts.items()):
        for node, number in counts.items():
            if number:
                found.setdefault(node, {})[name] = number
    return found


def ties_of_others(project: Project, nodes: Sequence[int]) -> Mapping[int, int]:
    """Return how many live edges of nodes rest on records other than their own that
    are still there; those of a hub up to a bound."""
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
        "most": MOST_EDGES,
    }
    return dict(fetch(finding_sql.SAID_BY_OTHERS, values))


def _why(kind: str, gone: datetime, counts: Mapping[str, int]) -> str:
    relied = " and ".join(
        f"{number} {name if number > 1 else name.removesuffix('s')}"
        for name, number in counts.items()
    )
    day = timezone.localtime(gone)
    return (
        f"This {kind.replace('_', ' ')} is gone at its source since {day:%-d %B %Y}, "
        f"and relied on: {relied}."
    )
