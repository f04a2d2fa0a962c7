"""From ranked nodes to results: parts folded into wholes, rows read, ages told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from connections.models import Project
from graph.models import Node
from graph.models.node import MEMORY
from graph.querysets import NodeQuerySet
from graph.staleness import age_of, thresholds_of
from retrieval.arms.base import whole_key
from retrieval.fusion import Fused
from retrieval.ranking import authority, recency, scale_relevance
from retrieval.results import Result, Staleness

# Of a node and its record what a result tells.
READ = (
    *("key", "node_type", "title", "content", "context", "tags", "metadata"),
    *("source_kind", "origin", "occurred_at", "updated_at", "confirmed_at"),
    *("last_evidence_at", "gone_at", "record__permalink"),
)


@dataclass(frozen=True, slots=True)
class _Found:
    """A ranked node, its row, and the row of what it is a part of, or its own."""

    fused: Fused
    part: Node
    whole: Node


def read_results(
    visible: NodeQuerySet,
    project: Project,
    ranked: Sequence[Fused],
    *,
    now: datetime,
    limit: int,
    scaled: bool = True,
) -> tuple[Result, ...]:
    """Return the best `limit` of `ranked` as results, the parts of one thing as one.

    Their relevance is their score, `scaled` to a share of the best one's. A node that
    has gone since it was ranked is left out.
    """
    folded: dict[str, Fused] = {}
    for node in ranked:
        folded.setdefault(whole_key(node.key, node.is_part), node)
        if len(folded) >= limit:
            break
    found = _rows(visible, project, folded)
    scores = [one.fused.score for one in found]
    relevance = scale_relevance(scores) if scaled else scores
    thresholds = thresholds_of(project) if found else {}
    return tuple(
        _result(one, share, now, thresholds)
        for one, share in zip(found, relevance, strict=True)
    )


def _rows(
    visible: NodeQuerySet, project: Project, folded: dict[str, Fused]
) -> list[_Found]:
    nodes = visible.select_related("record").only(*READ)
    by_id = nodes.in_bulk([node.node_id for node in folded.values()])
    parts = [key for key, node in folded.items() if key != node.key]
    wholes: dict[str, Node] = {}
    if parts:
        wholes = {node.key: node for node in nodes.of(project).filter(key__in=parts)}
    return [
        _Found(node, part, wholes.get(key, part))
        for key, node in folded.items()
        if (part := by_id.get(node.node_id)) is not None
    ]


def _result(
    found: _Found,
    relevance: float,
    now: datetime,
    thresholds: Mapping[str, int | None],
) -> Result:
    part, whole, fused = found.part, found.whole, found.fused
    metadata = dict(whole.metadata)
    if part is not whole:
        metadata |= {
            "part": part.key,
            "part_node_id": part.pk,
            "part_title": part.title,
        }
    said = part.occurred_at or whole.occurred_at
    return Result(
        key=whole.key,
        node_id=whole.pk,
        node_type=whole.node_type,
        title=whole.title or part.title,
        text=part.content,
        context=part.context,
        url=part.url or whole.url,
        score=fused.score,
        relevance=relevance,
        recency=recency(said, now),
        authority=authority(cross_validated=False),
        timestamp=said,
        source_kind=whole.source_kind,
        tags=tuple(whole.tags),
        is_gone=whole.gone_at is not None,
        stale=Staleness.of(age_of(whole, now, thresholds)),
        contributions=fused.contributions,
        metadata=metadata,
        store="memory" if whole.origin == MEMORY else "graph",
    )
