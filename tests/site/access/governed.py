"""Canaries in the rows of the review, the trash, the checks and the erasures."""

from __future__ import annotations

from datetime import timedelta

from connections.models import Audience, Project, SavedView, User
from graph.models import (
    DailyFigure,
    ErasedName,
    Erasure,
    GraphCheck,
    Merge,
    Node,
    NodePosition,
    ReviewDecision,
    StaleThreshold,
    Trashed,
)
from graph.review.reopening import state_of
from tests.factories import NOON, make_node, make_review_item

# Stands for the class `private` where there is no room for words.
PRIVATE_PLACE = 918273.5


def reviewed_rows(
    project: Project, node: Node, other: Node, said: str, audience: Audience
) -> None:
    """Make what has an audience and is for its reviewers: `said` of all of it."""
    scope = {"tenant_id": project.tenant_id, "project": project}
    item = make_review_item(project, node, why=said, detail={"words": said})
    make_review_item(
        project, node, kind="duplicate", subject=said, other=other, why=said
    )
    ReviewDecision.objects.create(
        item=item, verb="assign", reason=said, before={"item": state_of(item)}, **scope
    )
    away = make_node(
        project, f"{node.key}:away", said, audience=audience, title=said,
        trashed_at=NOON,
    )  # fmt: skip
    Trashed.objects.create(
        node=away, chosen=away.pk, reason=said, audience=audience,
        purge_at=NOON + timedelta(days=3650), **scope,
    )  # fmt: skip
    Merge.objects.create(key=f"{node.key}:was", target=node.key, reason=said, **scope)


def place_nodes(nodes: list[Node], x: float) -> None:
    """Give nodes their places in the picture."""
    for node in nodes:
        NodePosition.objects.create(
            tenant_id=node.tenant_id, project_id=node.project_id, node=node,
            x=x, y=1.0, ties=1, version=1,
        )  # fmt: skip


def kept_views(project: Project, user: User, own: str, shared: str) -> None:
    """Make a list that is one user's alone, and one that a project shares."""
    common = {"owner": user, "model": "graph.node"}
    SavedView.objects.create(name=own, query=f"q={own}", **common)
    SavedView.objects.create(
        name=shared, query=f"q={shared}", shared_with=project, **common
    )


def governed_rows(
    project: Project, user: User, *, members: str, reviewers: str, admins: str
) -> None:
    """Make what has no audience: for `members`, for `reviewers`, for `admins`."""
    scope = {"tenant_id": project.tenant_id, "project": project}
    StaleThreshold.objects.create(node_type=members, days=5, **scope)
    # What is counted and checked is so over closed audiences, too.
    for name in ("queue", "stale", "oldest", "hub", "records", "nodes", "answers"):
        DailyFigure.objects.create(
            day=NOON.date(), name=name, label=reviewers, value=1, counted_at=NOON,
            **scope,
        )  # fmt: skip
    GraphCheck.objects.create(
        at=NOON, seconds=1, faults=1, findings={"ends": {"some": [reviewers]}}, **scope
    )
    Erasure.objects.create(
        kind="person", subject="0" * 64, asked={"name": admins}, reason=admins,
        counts={admins: 1}, residue={"found": {admins: 0}}, asked_by=user, **scope,
    )  # fmt: skip
    ErasedName.objects.create(digest="zzsecretzz", **scope)
