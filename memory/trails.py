"""Trails of answers and observations, and what memory made of nodes and records."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q
from django.urls import reverse

from connections.models import User
from graph.models import Evidence, Node
from graph.trails import (
    MOST,
    Caused,
    Claim,
    Start,
    claim_of_node,
    icon_of,
    replace_proofs,
    trail_of_node,
    trail_steps,
)
from memory.models import Citation, Observation, Turn


def trail_of_turn(turn: Turn, reader: User) -> list[Claim]:
    """Return what an answer rests on: each citation, its node, back to its sources.

    A citation whose node its reader may not see (any more) has no name and no words.
    """
    cited = turn.citations.select_related("node").order_by("n")
    ids = [one.node_id for one in cited if one.node_id]
    rows = Node.objects.visible_to(reader).current().filter(pk__in=ids)
    nodes = rows.select_related("record", "project__tenant").defer(
        "embedding", "search_vector", "metadata_vector"
    )
    visible = {node.pk: node for node in nodes}
    return [_citation(one, visible.get(one.node_id or 0), reader) for one in cited]


def _citation(cited: Citation, node: Node | None, reader: User) -> Claim:
    if node is None:
        is_hidden = cited.node_id is not None
        name = "Not open to you" if is_hidden else "Gone since it was cited"
        return Claim(
            kind="citation",
            name=f"[{cited.n}] {name}",
            address="",
            icon="block",
            hidden=int(is_hidden),
        )
    found = trail_of_node(node, reader)
    named = Claim(
        kind=found.kind,
        name=f"[{cited.n}] {found.name}",
        address=found.address,
        icon=found.icon,
        detail=found.detail,
        quote=cited.quote,
    )
    return replace_proofs(named, found.proofs, hidden=found.hidden, more=found.more)


@trail_steps.register("memory")
def caused_in_memory(start: Start, reader: User) -> Sequence[Caused]:
    """Return the observations that rest on it and the answers that cited it."""
    return [_observations(start, reader), _answers(start, reader)]


def _observations(start: Start, reader: User) -> Caused:
    scope = Q(tenant_id=start.tenant_id, project_id=start.project_id)
    proven = Evidence.objects.filter(
        scope, Q(record_id__in=start.records), node__isnull=False
    )
    every = Observation.objects.filter(scope, node_id__in=proven.values("node_id"))
    mine = Q(scope__user=reader) | Q(scope__user=None)
    seen = every.filter(mine, node__in=Node.objects.visible_to(reader).current())
    count = seen.count()
    return Caused(
        sort="observations",
        title="Observations that rest on it",
        count=count,
        hidden=every.count() - count,
        examples=[
            claim_of_node(row.node)
            for row in seen.select_related("node").order_by("-pk")[:MOST]
        ],
    )


def _answers(start: Start, reader: User) -> Caused:
    every = Turn.objects.filter(
        conversation__tenant_id=start.tenant_id,
        conversation__project_id=start.project_id,
        pk__in=Citation.objects.filter(node_id__in=start.nodes).values("turn_id"),
    )
    seen = every.filter(conversation__user=reader)
    count = seen.count()
    return Caused(
        sort="answers",
        title="Answers that cited it",
        count=count,
        hidden=every.count() - count,
        examples=[
            Claim(
                kind="answer",
                name=turn.question[:200],
                address=reverse("turn_provenance", args=[turn.pk]),
                icon=icon_of("episode"),
            )
            for turn in seen.order_by("-pk")[:MOST]
        ],
    )
