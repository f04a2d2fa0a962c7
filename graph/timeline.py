"""Everything around a node that has a date, in order."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.utils import timezone

from connections.models import Project
from graph.querysets import NodeQuerySet
from graph.timeline_sql import TIMELINE

Kind = Literal[
    "said",
    "valid",
    "ended",
    "confirmed",
    "gone",
    "item",
    "edge_began",
    "edge_ended",
    "evidence",
]
KINDS: Mapping[str, str] = {
    "said": "It was said, sent or held.",
    "valid": "It holds from here on.",
    "ended": "It was replaced or ended.",
    "confirmed": "Somebody confirmed it.",
    "gone": "It vanished at its source.",
    "item": "Something tied to it was said: a post, a sentence, a text that mentions it.",
    "edge_began": "A tie holds from here on.",
    "edge_ended": "A tie ended.",
    "evidence": "A record speaks of it.",
}
OLDEST, NEWEST = "oldest", "newest"
_ORDERS = {OLDEST: (">", "ASC"), NEWEST: ("<", "DESC")}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page of a timeline ended; the next one goes on behind it."""

    at: datetime
    kind: str
    id: int

    @classmethod
    def of_cursor(cls, cursor: str) -> Place:
        """Return the place that `cursor` names; a ValueError for any other text."""
        try:
            packed = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
            at, kind, number = json.loads(packed)
            place = cls(datetime.fromisoformat(at), kind, number)
        except (TypeError, RecursionError) as error:
            raise ValueError(cursor) from error
        is_id = type(number) is int and 0 <= number < 2**63
        if kind not in KINDS or not is_id or place.at.tzinfo is None:
            raise ValueError(cursor)
        return place

    @property
    def cursor(self) -> str:
        """Return this place as one word of an address."""
        packed = json.dumps([self.at.isoformat(), self.kind, self.id]).encode()
        return base64.urlsafe_b64encode(packed).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Moment:
    """Something at a time: `id` is of an edge, of evidence or of the node itself.

    `node_id` is what it is about: the other end of an edge, else the node itself.
    """

    at: datetime
    kind: Kind
    id: int
    node_id: int
    relation: str
    forward: bool

    @property
    def place(self) -> Place:
        return Place(self.at, self.kind, self.id)


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of moments; `next` is where the following one goes on, if there is one."""

    moments: tuple[Moment, ...]
    next: Place | None


def timeline(
    nodes: NodeQuerySet,
    node: int,
    *,
    project: Project,
    limit: int,
    order: str = OLDEST,
    after: Place | None = None,
    relations: Iterable[str] | None = None,
    as_of: datetime | None = None,
) -> Timeline:
    """Return up to `limit` moments of `node` and what it is tied to, within `nodes`.

    With `as_of` there is nothing later, and only what was valid then. `relations` keep
    to the ties of those names.
    """
    try:
        allowed, params = nodes.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return Timeline((), None)
    behind, direction = _ORDERS[order]
    values: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "audiences": nodes.audiences,
        "relations": None if relations is None else list(relations),
        "live": as_of or timezone.now(),
        "as_of": as_of,
        "node": node,
        "at": after.at if after else None,
        "kind": after.kind if after else "",
        "id": after.id if after else 0,
        "limit": limit + 1,
    }
    named, bound = _named(allowed, params)
    text = TIMELINE.format(allowed=named, after=behind, order=direction)
    with connections[nodes.db].cursor() as cursor:
        cursor.execute(text, {**values, **bound})
        rows = [Moment(*row) for row in cursor.fetchall()]
    more = rows[limit - 1].place if len(rows) > limit else None
    return Timeline(tuple(rows[:limit]), more)


def _named(text: str, params: Iterable[Any]) -> tuple[str, dict[str, Any]]:
    """Return a compiled queryset whose values are bound by name, not by place."""
    bound = {f"allowed_{number}": value for number, value in enumerate(params)}
    names = iter(bound)

    def name(found: re.Match[str]) -> str:
        return f"%({next(names)})s" if found[0] == "%s" else found[0]

    return re.sub("%[%s]", name, text), bound
