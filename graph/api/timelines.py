"""The timeline of a node as the API gives it: what it is about, and its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from connections.api.pagination import PageParameters
from graph.api.reading import allowed_in, evidence_of
from graph.api.serializers import TimelineSerializer
from graph.models import Evidence, Node
from graph.timeline import Moment, Place, timeline


@dataclass(frozen=True, slots=True)
class Page:
    """How much is asked for, and behind which moment."""

    limit: int
    after: Place | None


def page_of(request: Request) -> Page:
    """Return the page that is asked for; a cursor of something else is an error."""
    given = PageParameters(data=request.query_params)
    given.is_valid(raise_exception=True)
    cursor = given.validated_data.get("cursor")
    try:
        after = Place.of_cursor(cursor) if cursor else None
    except ValueError:
        message = "This is no cursor of a timeline; begin without one."
        raise serializers.ValidationError({"cursor": [message]}, "invalid") from None
    return Page(given.validated_data["limit"], after)


def moments(
    node: Node,
    request: Request,
    page: Page,
    *,
    order: str,
    relation: list[str] | None = None,
    as_of: datetime | None = None,
) -> dict[str, Any]:
    """Return a page of the timeline of `node`, as the caller may see it."""
    allowed = allowed_in(node.project, request, as_of)
    found = timeline(
        allowed,
        node.pk,
        project=node.project,
        limit=page.limit,
        order=order,
        after=page.after,
        relations=relation,
        as_of=as_of,
    )
    about = allowed.only("key", "node_type", "title", "content").in_bulk(
        list({moment.node_id for moment in found.moments})
    )
    evidence = _evidence(found.moments, node, request)
    rows = [
        _row(moment, about[moment.node_id], evidence)
        for moment in found.moments
        if moment.node_id in about
    ]
    cursor = found.next.cursor if found.next else None
    return dict(TimelineSerializer({"results": rows, "next_cursor": cursor}).data)


def _row(moment: Moment, about: Node, evidence: dict[int, Evidence]) -> dict[str, Any]:
    is_edge = bool(moment.relation)
    return {
        "at": moment.at,
        "kind": moment.kind,
        "node": about,
        "edge": moment.id if is_edge else None,
        "relation": moment.relation,
        "forward": moment.forward,
        "evidence": evidence.get(moment.id) if moment.kind == "evidence" else None,
    }


def _evidence(
    found: Sequence[Moment], node: Node, request: Request
) -> dict[int, Evidence]:
    ids = [moment.id for moment in found if moment.kind == "evidence"]
    return evidence_of(node, request).in_bulk(ids) if ids else {}
