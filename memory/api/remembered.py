"""Observations as their reader may see them now."""

from __future__ import annotations

from typing import Any

from django.db.models import (
    Case,
    Exists,
    F,
    FloatField,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Cast, Ln
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from connections.api.permissions import caller, visible
from connections.models import Project
from graph.matching import matching
from graph.models import Evidence, Node
from memory.api.observation_fields import ObservationSerializer
from memory.api.reading import own_conversations
from memory.importance import FADED
from memory.models import Observation, Reference
from memory.scopes import IS_CURRENT
from retrieval.results import utc

HAS_LEFT = Q(superseded_by=None) & (
    Q(left_at__isnull=False) | Q(leaves_at__lte=F("scope__ticks"))
)
STATE = {
    "current": IS_CURRENT,
    "left": HAS_LEFT,
    "superseded": Q(superseded_by__isnull=False),
}
MOST_SHOWN = 50


def seen_observations(request: Request) -> QuerySet[Observation]:
    """Return what the caller may see of memory, in whatever state: what is theirs, and
    what is shared with them."""
    node = visible(Node.objects.current(), request).filter(pk=OuterRef("node_id"))
    mine = Q(scope__user=caller(request)) | Q(scope__user=None)
    rows = Observation.objects.filter(mine, Exists(node))
    return rows.select_related("node", "scope", "project__tenant")


def observations_asked(
    request: Request, asked: dict[str, Any]
) -> QuerySet[Observation]:
    """Return the observations that a list's parameters name."""
    rows = seen_observations(request).filter(STATE[asked["state"]])
    if project := asked.get("project"):
        rows = rows.filter(tenant_id=project.tenant_id, project_id=project.pk)
    if kind := asked.get("type"):
        rows = rows.filter(observation_type=kind)
    if words := asked.get("q"):
        nodes = Node.objects.filter(matching(words, asked.get("project")))
        rows = rows.filter(Exists(nodes.filter(pk=OuterRef("node_id"))))
    if wanted := asked.get("conversation"):
        found = own_conversations(request).filter(pk=wanted).first()
        if found is None:
            raise NotFound(f"You have no conversation {wanted}.")
        rows = rows.filter(conversation=found)
    return rows


def observation_with_evidence(row: Observation, request: Request) -> dict[str, Any]:
    """Return an observation with what it rests on, its references and what it
    superseded, as far as the caller may see each."""
    shown = ObservationSerializer(row, context={"request": request}).data
    older = seen_observations(request).filter(superseded_by=row)
    return {
        **shown,
        "evidence": _evidence(row, request),
        "references": _references(row, request),
        "supersedes": list(older.order_by("pk").values_list("pk", flat=True)),
    }


def _evidence(row: Observation, request: Request) -> list[dict[str, Any]]:
    quotes = dict(
        Evidence.objects.filter(
            tenant_id=row.tenant_id, project_id=row.project_id, node_id=row.node_id
        ).values_list("part", "quote")
    )
    nodes = visible(Node.objects.current(), request).select_related("record")
    cited = nodes.filter(
        incoming__source_id=row.node_id, incoming__relation="supported_by"
    )
    return [
        {
            "node_id": node.pk,
            "key": node.key,
            "type": node.node_type,
            "title": node.title,
            "url": node.url,
            "quote": quotes.get(f"memory:{node.key}", ""),
            "timestamp": utc(node.occurred_at),
        }
        for node in cited.order_by("pk").distinct()[:MOST_SHOWN]
    ]


def _references(row: Observation, request: Request) -> list[dict[str, Any]]:
    rows = Reference.objects.filter(
        observation=row, conversation__in=own_conversations(request)
    ).select_related("conversation")
    return [
        {
            "conversation": str(reference.conversation_id),
            "title": reference.conversation.title,
            "at": utc(reference.created_at),
        }
        for reference in rows.order_by("-pk")[:MOST_SHOWN]
    ]


def session_context(request: Request, project: Project, limit: int) -> dict[str, Any]:
    """Return what a session should start with: what is pinned, what is promised and
    open, what is strongest and what came last."""
    held = seen_observations(request).filter(
        IS_CURRENT, tenant_id=project.tenant_id, project_id=project.pk
    )
    promised = held.filter(
        observation_type=Observation.Type.COMMITMENT, status=Observation.Status.OPEN
    )
    # Logarithms: 0.9 to the power of thousands is no number any more.
    fading = Cast(F("scope__ticks") - F("counted_at"), FloatField()) * Ln(Value(FADED))
    by_strength = Ln("strength") + Case(
        When(is_pinned=True, then=Value(0.0)), default=fading, output_field=FloatField()
    )
    parts = {
        "pinned": held.filter(is_pinned=True).order_by("-pk"),
        "commitments": promised.order_by(F("due_at").asc(nulls_last=True), "-pk"),
        "strongest": held.annotate(now=by_strength).order_by("-now", "-pk"),
        "latest": held.order_by("-pk"),
    }
    context = {"request": request}
    return {"project": project.path} | {
        name: ObservationSerializer(rows[:limit], many=True, context=context).data
        for name, rows in parts.items()
    }
