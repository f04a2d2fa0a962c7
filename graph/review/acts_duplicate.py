"""Two nodes of one name: merged into one with the evidence of both, or held apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connections.models import User
from connections.records import JSON
from graph.merging import merge_nodes
from graph.merging import unmerge as take_apart
from graph.models import Node, ReviewItem
from graph.review.errors import NotDecidable
from graph.review.kinds import Decision


def hold_apart(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Hold the two to be two things; the decision alone says so."""
    return {}


def unhold(item: ReviewItem, before: Mapping[str, Any], by: User) -> None:
    """Nothing was written beside the decision."""


def merge(item: ReviewItem, decision: Decision) -> Mapping[str, JSON]:
    """Merge the two into `decision.into`, the item's own node where none is named."""
    into = decision.into or item.node_id
    both = [pk for pk in (item.node_id, item.other_id) if pk is not None]
    if into not in both or len(both) < 2:
        raise NotDecidable("What they are merged into must be one of the two.")
    seen = Node.objects.visible_to(decision.by).of(item.project).current()
    if seen.filter(pk__in=both).count() < len(set(both)):
        raise NotDecidable("One of the two is gone, or not yours to see.")
    others = [node for node in both if node != into]
    # A merged node may go, and an item that names it with it.
    _point(item, None, None)
    merged = merge_nodes(
        item.project, into, others, by=decision.by, reason=decision.reason
    )
    _point(item, *both)
    return {"both": [*both], "merged": dict(merged.before)}


def unmerge(item: ReviewItem, before: Mapping[str, Any], by: User) -> None:
    """Part what was merged, as it was."""
    _point(item, None, None)
    take_apart(item.project, before["merged"], by)
    _point(item, *before["both"])


def _point(item: ReviewItem, node: int | None, other: int | None) -> None:
    """Point `item` at those of two nodes that are there."""
    there = set(
        Node.objects.of(item.project)
        .filter(pk__in=[pk for pk in (node, other) if pk is not None])
        .values_list("pk", flat=True)
    )
    ReviewItem.objects.filter(pk=item.pk).update(
        node=node if node in there else None, other=other if other in there else None
    )
