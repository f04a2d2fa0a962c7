"""How much waits in the review queue, for the dashboard; the one place to swap."""

from __future__ import annotations

from dataclasses import dataclass

from connections.admin_scope import capped_count
from connections.models import Project, User
from graph.models import ReviewItem
from graph.review.kinds import review_kinds

COUNTED_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Waiting:
    """A kind of item with how many of it are open and put off, as far as counted."""

    kind: str
    title: str
    open: int
    snoozed: int


def waiting(user: User, project: Project) -> list[Waiting]:
    """Return what waits in a project, of what `user` may see, the most first."""
    items = ReviewItem.objects.visible_to(user).of(project)
    found = []
    for name in _kinds(project):
        of_kind = items.filter(kind=name)
        numbers = (
            capped_count(of_kind.filter(state=state), COUNTED_MOST)
            for state in (ReviewItem.State.OPEN, ReviewItem.State.SNOOZED)
        )
        found.append(Waiting(name, _title(name), *numbers))
    return sorted(found, key=lambda each: (-each.open, each.title))


def _kinds(project: Project) -> list[str]:
    there = ReviewItem.objects.of(project).order_by("kind").values_list("kind")
    return sorted({*review_kinds, *_loosely(there)})


def _loosely(rows: object) -> list[str]:
    """Return the different kinds there are, each by one step in the index."""
    found: list[str] = []
    last = ""
    while True:
        following = rows.filter(kind__gt=last).first()  # type: ignore[attr-defined]
        if following is None:
            return found
        last = following[0]
        found.append(last)


def _title(name: str) -> str:
    known = review_kinds.get(name)
    return known.title if known else name.replace("_", " ").capitalize()
