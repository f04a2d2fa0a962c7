"""Where a reviewer stands in the queue: what they asked for, and what is next in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone

from connections.admin_scope import capped_count
from connections.models import Project, User
from graph.models import Node, ReviewItem
from graph.querysets import ScopedQuerySet
from graph.review.kinds import review_kinds
from graph.review.reading import COUNTED_MOST, ORDERS, queue_of

# The admin keeps the filters of a list in this parameter of the pages behind it.
KEPT = "_changelist_filters"
ANY, ME = "any", "me"
LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Asked:
    """The filters and the order of a list of the queue."""

    kind: str = ""
    state: str = ReviewItem.State.OPEN.value
    project: str = ""
    assigned: str = ""
    order: str = "priority"

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Asked:
        """Return what was asked for; what is not known is left at its default."""
        known = {
            "kind": given.get("kind") in review_kinds,
            "state": given.get("state") in (ANY, *ReviewItem.State.values),
            "project": _is_id(given.get("project", "")),
            "assigned": given.get("assigned") == ME,
            "order": given.get("order") in ORDERS,
        }
        return cls(**{name: given[name] for name, fits in known.items() if fits})

    def rows(self, user: User) -> ScopedQuerySet[ReviewItem]:
        """Return what `user` may decide of it, in its order."""
        project = None
        if self.project:
            project = Project.objects.visible_to(user).filter(pk=self.project).first()
            if project is None:
                return ReviewItem.objects.none()
        return queue_of(
            user,
            project=project,
            kind=self.kind,
            state="" if self.state == ANY else self.state,
            mine=self.assigned == ME,
            order=self.order,
        )

    def query(self) -> str:
        """Return it as the query of a list's address."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        usual = Asked()
        return urlencode(
            {
                name: value
                for name, value in given.items()
                if value != getattr(usual, name)
            }
        )


def with_nodes(rows: QuerySet[Any], user: User) -> QuerySet[Any]:
    """Return rows with the nodes they are about; None for one `user` may not see."""
    seen = Node.objects.visible_to(user).only("title", "content", "key", "node_type")
    names = [each for each in ("node", "other") if hasattr(rows.model, each)]
    return rows.prefetch_related(*(Prefetch(name, seen) for name in names))


def next_of(asked: Asked, item: ReviewItem, user: User) -> ReviewItem | None:
    """Return the next item that nobody else holds; after the last one the first."""
    free = _free(asked.rows(user), user).exclude(pk=item.pk)
    return _beside(free, item, asked.order, back=False).first() or free.first()


def previous_of(asked: Asked, item: ReviewItem, user: User) -> ReviewItem | None:
    """Return the one before; None for the first."""
    return _beside(asked.rows(user), item, asked.order, back=True).first()


def left_of(asked: Asked, user: User) -> str:
    """Return how many are left of what was asked for, in words for a number."""
    number = capped_count(asked.rows(user), COUNTED_MOST)
    return f"{number:,}+" if number >= COUNTED_MOST else f"{number:,}"


def _free(rows: ScopedQuerySet[ReviewItem], user: User) -> ScopedQuerySet[ReviewItem]:
    unheld = Q(held_until=None) | Q(held_until__lte=timezone.now())
    return rows.filter(unheld | Q(held_by_id=user.pk))


def _beside(
    rows: ScopedQuerySet[ReviewItem], item: ReviewItem, order: str, *, back: bool
) -> ScopedQuerySet[ReviewItem]:
    """Return the rows behind `item` in an order, the nearest first."""
    first, last = (_turned(name) if back else name for name in ORDERS[order])
    name = first.removeprefix("-")
    here = getattr(item, name)
    further, later = ("lt" if each.startswith("-") else "gt" for each in (first, last))
    behind = Q(**{f"{name}__{further}": here})
    beside = Q(**{name: here, f"pk__{later}": item.pk})
    # The bound by itself lets the index begin there.
    bound = Q(**{f"{name}__{further}e": here})
    return rows.filter(bound, behind | beside).order_by(first, last)


def _turned(name: str) -> str:
    return name.removeprefix("-") if name.startswith("-") else f"-{name}"


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST_ID
