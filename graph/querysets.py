"""Reading the graph: `visible_to` first, then walks in SQL."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Self, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.utils import timezone

from connections.models import Audience, Project, User
from graph import walk_sql
from graph.steps import BREADTH, FAN_OUT, AnyOf, OneOf, Terms

if TYPE_CHECKING:
    from graph.models import Edge, Node  # noqa: F401 - the forward references

M = TypeVar("M", bound=models.Model)


class ScopedQuerySet(models.QuerySet[M]):
    """Rows of a project; `visible_to` begins every read that a person causes.

    `audiences` are those of the user it is restricted to; None: an operator's read.
    """

    audiences: list[int] | None = None

    def _clone(self) -> Self:
        clone = super()._clone()  # type: ignore[misc] # not in the stubs
        clone.audiences = self.audiences
        return clone

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Keep what `user` may see: in a project of theirs, in an audience of theirs.

        The audiences are looked up once, when this is called.
        """
        audiences = Audience.objects.ids_of(user)
        mine = OneOf(F("audience_id"), audiences)
        visible = self.filter(mine) if audiences else self.none()
        visible.audiences = audiences
        return visible

    def of(self, project: Project) -> Self:
        return self.filter(tenant_id=project.tenant_id, project_id=project.pk)


class NodeQuerySet(ScopedQuerySet["Node"]):
    def current(self) -> Self:
        """Keep what reads may show: not pruned."""
        return self.filter(trashed_at=None)

    def as_of(self, moment: datetime) -> Self:
        """Keep the nodes that were valid at `moment`."""
        return self.filter(
            Q(valid_from=None) | Q(valid_from__lte=moment),
            Q(valid_to=None) | Q(valid_to__gt=moment),
        )

    def reachable_from(
        self,
        seeds: Iterable[int],
        *,
        project: Project,
        depth: int = 2,
        fan_out: int | None = FAN_OUT,
        breadth: int | None = BREADTH,
        relations: Iterable[str] | None = None,
        as_of: datetime | None = None,
    ) -> Self:
        """Keep the nodes within `depth` live edges of `seeds`, through this queryset.

        Each step takes a node's best `fan_out` edges in each direction (by weight,
        then recency) among those whose ends this queryset allows, so nothing is reached
        through a node that may not be seen; and `breadth` edges in all, out of the nodes
        first that the best edges led to. None takes all; `nearest` tells what was cut.
        """
        inside = self.of(project)
        try:
            allowed, params = inside.order_by().values("pk").query.sql_with_params()
        except EmptyResultSet:
            return self.none()
        terms = Terms.of(project, relations, as_of, fan_out, breadth)
        ids = list(dict.fromkeys(seeds))
        values = (*params, ids, *terms.of_level(self.audiences), depth)
        walk = walk_sql.REACHABLE.format(allowed=allowed)
        # `walk` is our own text around a compiled queryset; values are bound.
        return inside.filter(AnyOf(F("pk"), RawSQL(walk, values)))  # noqa: S611


class EdgeQuerySet(ScopedQuerySet["Edge"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Keep the edges `user` may see, both ends of which they may see."""
        visible = super().visible_to(user)
        audiences = visible.audiences
        return visible.filter(
            source__audience_id__in=audiences,
            target__audience_id__in=audiences,
            source__trashed_at=None,
            target__trashed_at=None,
        )

    def live(self, moment: datetime | None = None) -> Self:
        """Keep the edges valid at `moment`, now by default."""
        moment = moment or timezone.now()
        return self.filter(
            Q(valid_from=None) | Q(valid_from__lte=moment),
            Q(valid_to=None) | Q(valid_to__gt=moment),
        )
