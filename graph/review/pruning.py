"""Putting nodes away for 30 days, and taking them out again.

In the trash a node is in no read, and nothing else is changed: what is taken out again
is what it was. Tombstones keep ingest and extraction from bringing it back meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from connections.models import Project, User, record_audit
from connections.records import JSON
from connections.roles import Act, must
from graph.copying import execute, fetch
from graph.locks import lock_project
from graph.models import Node, ReviewDecision, Trashed
from graph.pruned import edge_tombstone, take_out
from graph.review import pruning_sql
from graph.review.confirming import (
    AT_ONCE,
    Consequences,
    check_token,
    confirm_again,
    consequences,
    plan_to,
    told,
)
from graph.review.errors import NoSuchItem
from graph.review.find_orphans import queue_orphans
from graph.review.plans import Plan
from graph.review.purging import purge_due
from graph.review.reopening import take_back

__all__ = [
    "AT_ONCE",
    "Consequences",
    "confirm_again",
    "consequences",
    "cut_edges",
    "mend_edges",
    "prune",
    "purge_due",
    "put_away",
    "restore",
    "uncover",
]

KEPT = timedelta(days=30)
REASON_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Cut:
    """Edges that were ended, and the tombstones that keep them so."""

    edges: list[int]
    keys: list[str]
    parts: list[str]

    def as_json(self) -> dict[str, JSON]:
        return {"edges": [*self.edges], "keys": [*self.keys], "parts": [*self.parts]}


def prune(
    project: Project,
    nodes: Sequence[int],
    *,
    by: User,
    reason: str,
    token: str,
    decision: ReviewDecision | None = None,
    item: int = 0,
) -> list[Trashed]:
    """Put `nodes` in the trash with all that `consequences` named, and return the rows
    of it; `item` is the one of the queue that is decided by this.

    Raises `Unconfirmed`, with the consequences as they are now, unless `token` confirms
    just these.
    """
    must(by, Act.REVIEW, project.pk)
    with transaction.atomic():
        lock_project(project)
        plan = plan_to(project, nodes, by)
        check_token(told(project, plan, by), token)
        rows = put_away(
            project, plan, by=by, reason=reason, decision=decision, item=item
        )
    return rows


def put_away(
    project: Project,
    plan: Plan,
    *,
    by: User,
    reason: str,
    decision: ReviewDecision | None = None,
    item: int = 0,
    token_id: UUID | None = None,
) -> list[Trashed]:
    """Put what `plan` names in the trash; for those who have checked who may, in a
    transaction that holds the project's graph."""
    now, reason = timezone.now(), reason[:REASON_CHARACTERS]
    values = _values(project, now=now, nodes=plan.nodes, reason=reason, item=item)
    execute(pruning_sql.BURY, values)
    execute(pruning_sql.TRASH_NODES, values)
    execute(pruning_sql.WITHDRAW_ITEMS, values)
    found = Node.objects.of(project).in_bulk(plan.nodes)
    rows = [
        Trashed(
            tenant_id=project.tenant_id,
            project=project,
            audience_id=found[node].audience_id,
            node_id=node,
            chosen=plan.along.get(node, node),
            decision=decision,
            reason=reason,
            trashed_by=by,
            purge_at=now + KEPT,
        )
        for node in plan.nodes
    ]
    Trashed.objects.bulk_create(rows, batch_size=1000)
    _queue_left_alone(project, values)
    for node in plan.chosen:
        record_audit(
            "node.pruned",
            target=f"node:{node}",
            project=project,
            actor=by,
            token_id=token_id,
            key=found[node].key,
            reason=reason,
            along=sum(1 for root in plan.along.values() if root == node),
        )
    return rows


def restore(project: Project, chosen: Sequence[int], *, by: User) -> list[int]:
    """Take `chosen` out of the trash with all that went along; return what came back.

    A decision that put them there is taken back with it. Raises `NoSuchItem` for what
    `by` does not see in the trash.
    """
    must(by, Act.REVIEW, project.pk)
    with transaction.atomic():
        seen = Trashed.objects.visible_to(by).of(project)
        rows = seen.filter(node_id__in=chosen, chosen__in=chosen)
        decisions = {row.node_id: row.decision_id for row in rows}
        if set(chosen) - decisions.keys():
            raise NoSuchItem("Some of these are not in the trash; it was emptied?")
        # The items before the project, as a decision locks them.
        for decision in sorted({pk for pk in decisions.values() if pk}):
            take_back(decision, by)
        back = uncover(project, chosen, by=by)
    return back


def uncover(project: Project, chosen: Sequence[int], *, by: User) -> list[int]:
    """Take nodes out of the trash; for undos, which have checked who may."""
    lock_project(project)
    found = Node.objects.of(project).filter(pk__in=chosen).values_list("pk", "key")
    for node, key in found.order_by("key"):
        record_audit(
            "node.restored", target=f"node:{node}", project=project, actor=by, key=key
        )
    back = take_out(project, chosen)
    values = _values(project, now=timezone.now(), nodes=back)
    execute(pruning_sql.REOPEN_ITEMS, values)
    _queue_left_alone(project, values)
    return back


def _queue_left_alone(project: Project, values: dict[str, object]) -> None:
    """Queue what is an orphan without these nodes, or is none with them again."""
    found = fetch(pruning_sql.NEIGHBOURS, values)
    queue_orphans(project, [row[0] for row in found])


def cut_edges(
    project: Project, edges: Sequence[int], *, by: User, reason: str, token: str
) -> Cut:
    """End extracted edges, and keep them from being read out of the same words again.

    Raises `Unconfirmed` as `prune` does.
    """
    must(by, Act.REVIEW, project.pk)
    with transaction.atomic():
        lock_project(project)
        plan = plan_to(project, (), by, edges)
        check_token(told(project, plan, by), token)
        values = _values(
            project, now=timezone.now(), edges=list(plan.cut), reason=reason
        )
        proofs = fetch(pruning_sql.PROOFS_OF_EDGES, values)
        keys = sorted({edge_tombstone(*row[1:5]) for row in proofs})
        ended = [row[0] for row in fetch(pruning_sql.END_EDGES, values)]
        made = fetch(pruning_sql.BURY_EDGES, values | {"keys": keys})
        record_audit(
            "edge.pruned",
            target=", ".join(f"edge:{edge}" for edge in plan.cut),
            project=project,
            actor=by,
            ends=sorted({key for row in proofs for key in (row[1], row[3])}),
            relations=sorted({row[2] for row in proofs}),
            reason=reason,
        )
    parts = sorted({row[5] for row in proofs})
    return Cut(ended, [row[0] for row in made], parts)


def mend_edges(project: Project, before: Mapping[str, Any], *, by: User) -> None:
    """Make edges that `cut_edges` ended live again, where something still says them."""
    lock_project(project)
    values = _values(
        project,
        edges=list(before["edges"]),
        keys=list(before["keys"]),
        parts=list(before["parts"]),
    )
    execute(pruning_sql.DROP_EDGE_TOMBSTONES, values)
    back = fetch(pruning_sql.REOPEN_EDGES, values)
    if len(back) < len(before["edges"]):
        execute(pruning_sql.READ_AGAIN, values)
    record_audit(
        "edge.restored", project=project, actor=by, edges=[row[0] for row in back]
    )


def _values(project: Project, **more: object) -> dict[str, object]:
    now: datetime = timezone.now()
    return {"tenant": project.tenant_id, "project": project.pk, "now": now} | more
