"""What a prune by an item puts away: its claim, its edge, or the one that does not
hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from connections.models import User
from graph.models import Edge, Node, ReviewItem
from graph.models.node import EXTRACTION
from graph.review.errors import NotDecidable


@dataclass(frozen=True, slots=True)
class Targets:
    """Nodes and edges that are to go."""

    nodes: tuple[int, ...] = ()
    edges: tuple[int, ...] = ()

    @classmethod
    def all_of(cls, several: Iterable[Targets]) -> Targets:
        found = list(several)
        nodes = {node for each in found for node in each.nodes}
        edges = {edge for each in found for edge in each.edges}
        return cls(tuple(sorted(nodes)), tuple(sorted(edges)))


def targets_of(item: ReviewItem, into: int | None, reader: User) -> Targets:
    """Return what goes: the extracted edge that `detail` names, else of two nodes the
    one that is not `into`, else the item's node. What is gone already is left out.

    Raises `NotDecidable` for an item about nothing that can be pruned.
    """
    if edge := item.detail.get("edge"):
        rows = Edge.objects.visible_to(reader).filter(
            pk=edge, tenant_id=item.tenant_id, project_id=item.project_id
        )
        if not rows.filter(origin=EXTRACTION).exists():
            raise NotDecidable(
                "Only an edge that was read out of texts can be pruned; a source's own "
                "ends when the source no longer says it."
            )
        return Targets(
            edges=tuple(rows.filter(valid_to=None).values_list("pk", flat=True))
        )
    if into is not None and into not in (item.node_id, item.other_id):
        raise NotDecidable("The one that holds must be one of the two.")
    gone = item.other_id if into is not None and into == item.node_id else item.node_id
    if gone is None:
        raise NotDecidable("There is nothing here that could be pruned.")
    nodes = Node.objects.visible_to(reader).current().filter(pk=gone)
    return Targets(nodes=tuple(nodes.values_list("pk", flat=True)))
