"""The open items of a queue as a report, for people who decide outside of Fabric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from connections.models import Project, User
from connections.roles import Act, must
from graph.copying import fetch
from graph.models import Node, ReviewItem
from graph.querysets import ScopedQuerySet
from graph.review import report_sql

BATCH = 500
MOST_EVIDENCE, MOST_CLAIM = 3, 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """An item as the report has it, with room for a decision.

    `item` and `version` say what is decided: what changes meanwhile has another one.
    """

    item: int
    version: int
    kind: str
    key: str
    title: str
    claim: str
    other: str
    age_days: int | None
    threshold: int | None
    uses: int
    last_observation: datetime | None
    evidence: Sequence[str]
    why: str
    flagged_at: datetime


def report_rows(project: Project, *, reader: User | None = None) -> Iterator[ReportRow]:
    """Yield the open items of a project, the most pressing first.

    All of them for an operator; for a `reader` what they may see and decide.
    """
    items = _open_items(project, reader)
    rows = items.order_by("-priority", "pk").iterator(chunk_size=BATCH)
    while batch := list(islice(rows, BATCH)):
        evidence = _evidence(project, batch, items.audiences)
        for item in batch:
            yield _row(item, evidence.get(item.node_id or 0, ()))


def _open_items(project: Project, reader: User | None) -> ScopedQuerySet[ReviewItem]:
    rows: ScopedQuerySet[ReviewItem] = ReviewItem.objects.of(project)
    if reader is not None:
        must(reader, Act.REVIEW, project.pk)
        rows = ReviewItem.objects.visible_to(reader).of(project)
    return rows.filter(state=ReviewItem.State.OPEN).select_related("node", "other")


def _row(item: ReviewItem, evidence: Sequence[str]) -> ReportRow:
    node = item.node
    return ReportRow(
        item=item.pk,
        version=item.version,
        kind=item.kind,
        key=node.key if node else item.subject,
        title=node.title if node else "",
        claim=_words(node),
        other=_words(item.other),
        age_days=item.age_days,
        threshold=item.threshold,
        uses=item.uses,
        last_observation=_last_observation(node),
        evidence=evidence,
        why=item.why,
        flagged_at=item.flagged_at,
    )


def _words(node: Node | None) -> str:
    if node is None:
        return ""
    said = node.content or node.title
    return said if len(said) <= MOST_CLAIM else f"{said[:MOST_CLAIM]} ..."


def _last_observation(node: Node | None) -> datetime | None:
    if node is None:
        return None
    moments = (node.occurred_at, node.confirmed_at, node.last_evidence_at)
    return max((moment for moment in moments if moment), default=None)


def _evidence(
    project: Project, items: Sequence[ReviewItem], audiences: list[int] | None
) -> dict[int, list[str]]:
    """Return what each node rests on, in words, newest first."""
    found: dict[int, list[str]] = {}
    values = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": [item.node_id for item in items if item.node_id],
        "everything": audiences is None,
        "audiences": audiences or [],
        "most": MOST_EVIDENCE,
    }
    for node, *said in fetch(report_sql.EVIDENCE, values):
        found.setdefault(node, []).append(_in_words(*said))
    return found


def _in_words(
    source: str, record: str, permalink: str, quote: str, said_at: datetime | None
) -> str:
    day = f", {said_at.astimezone(UTC):%Y-%m-%d}" if said_at else ""
    words = f": \u201c{quote}\u201d" if quote else ""
    return f"{source}{day}, {permalink or record}{words}"
