"""What every arm of a search is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core.exceptions import EmptyResultSet

from connections.models import Project
from connections.records import JSON
from connections.registry import Registry
from graph.querysets import NodeQuerySet
from retrieval.results import Parsed


@dataclass(frozen=True, slots=True)
class Hit:
    """A node an arm found, and how well by the arm's own measure: more is better.

    `is_part`: it is a section of a file or a piece of a long text.
    """

    node_id: int
    key: str
    score: float
    is_part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question to an arm: `nodes` are those it may find, on the connection to use.

    `vector` is the question's, as PostgreSQL reads it, by the model `model_id`; None
    where its words have none. `hits` are the best of the arms that it comes `after`.
    """

    project: Project
    nodes: NodeQuerySet
    parsed: Parsed
    vector: str | None
    model_id: int
    now: datetime
    hits: Mapping[str, Sequence[Hit]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An arm in a profile: its weight in the fusion, how many hits it may give, and
    what else it reads."""

    weight: float = 1.0
    pool: int = 100
    options: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to find nodes; `find` returns the best first, none twice.

    It comes `after` the arms whose hits it starts from; all others run beside it.
    """

    find: Callable[[Ask, Plan], Sequence[Hit]]
    after: tuple[str, ...] = ()


arms: Registry[Arm] = Registry("arm")


def allowed_sql(nodes: NodeQuerySet) -> tuple[str, dict[str, Any]]:
    """Return a queryset as a statement that gives ids, and its values by name.

    It goes into a statement with named parameters: `WITH allowed (id) AS ({allowed})`,
    the column named, for it compiles to `"id" AS "pk"`.
    """
    try:
        text, values = nodes.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return "SELECT NULL::bigint WHERE false", {}
    named = {f"allowed_{i}": value for i, value in enumerate(values)}
    # A sign that the queryset itself quoted must stay quoted.
    pieces = [piece.replace("%%", "%").replace("%", "%%") for piece in text.split("%s")]
    places = [*(f"%({name})s" for name in named), ""]
    return "".join(map("".join, zip(pieces, places, strict=True))), named
