"""How much waits in the review queue, for the dashboard, and where its list is."""

from __future__ import annotations

from connections.models import Project, User
from fabric_site.dashboard_parts import listed
from graph.models import ReviewItem
from graph.review.reading import QueueSize, sizes_of


def waiting(user: User, project: Project) -> list[QueueSize]:
    """Return what waits in a project for `user` to decide, the most first."""
    found = sizes_of(user, project=project)
    return sorted(found, key=lambda each: (-each.open, each.title))


def queue_list(project: Project, kind: str = "") -> str:
    """Return the address of the open items of `project`."""
    of_kind = {"kind": kind} if kind else {}
    state = ReviewItem.State.OPEN.value
    return listed(ReviewItem, project=project.pk, state=state, **of_kind)
