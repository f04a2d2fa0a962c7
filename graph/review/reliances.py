"""What of the graph relies on nodes: edges that stay behind, and what they also say."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from connections.models import Audience, Project, User
from graph.copying import fetch
from graph.explanations import named, phrase
from graph.models import Edge, Node
from graph.querysets import EdgeQuerySet
from graph.review import reading_sql
from graph.review.kinds import Reliance, dependants
from graph.steps import OneOf

EXAMPLES = 3


@dependants.register("edges")
def edges(project: Project, nodes: Sequence[int], reader: User) -> Sequence[Reliance]:
    """Return the live edges between `nodes` and what stays."""
    ids = list(nodes)
    seen = _between(Edge.objects.visible_to(reader), project, ids)
    everything = _between(Edge.objects.all(), project, ids).filter(
        source__trashed_at=None, target__trashed_at=None
    )
    count = seen.count()
    best = seen.select_related("source", "target").order_by("-weight", "pk")
    return [
        Reliance(
            name="ties to what stays",
            one="tie to what stays",
            count=count,
            examples=[_told(edge, set(ids)) for edge in best[:EXAMPLES]],
            hidden=everything.count() - count,
        )
    ]


def _between(rows: EdgeQuerySet, project: Project, nodes: list[int]) -> EdgeQuerySet:
    from_them, to_them = OneOf(F("source_id"), nodes), OneOf(F("target_id"), nodes)
    out, back = Q(from_them) & ~Q(to_them), Q(to_them) & ~Q(from_them)
    return rows.of(project).live(timezone.now()).filter(out | back)


def _told(edge: Edge, nodes: set[int]) -> tuple[str, str]:
    far = edge.target if edge.source_id in nodes else edge.source
    verb = phrase(edge.relation, forward=True)
    words = f"{named(edge.source)} {verb} {named(edge.target)}"
    return words, reverse("node", args=[far.pk])


@dependants.register("evidence")
def evidence(
    project: Project, nodes: Sequence[int], reader: User
) -> Sequence[Reliance]:
    """Return what else was read out of `nodes`, and has other evidence besides."""
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
    }
    rows = fetch(reading_sql.SAID_THERE_TOO, values)
    mine = set(Audience.objects.ids_of(reader))
    seen = [node for node, audience in rows if audience in mine]
    shown = Node.objects.in_bulk(seen[:EXAMPLES])
    return [
        Reliance(
            name="things that lose one of their proofs",
            one="thing that loses one of its proofs",
            count=len(seen),
            examples=[
                (named(shown[pk]), reverse("node", args=[pk]))
                for pk in seen[:EXAMPLES]
                if pk in shown
            ],
            hidden=len(rows) - len(seen),
        )
    ]
