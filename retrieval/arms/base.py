"""What every arm of a search is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q

from connections.models import Project
from connections.records import JSON
from connections.registry import Registry
from graph.embed import vector_type
from graph.querysets import NodeQuerySet
from retrieval.allowed import rows_among
from retrieval.results import Filters, Parsed
from retrieval.words import Words

NO_FILTERS = Filters()
# A section of a file, or a piece of a text that was too long for one node.
IS_PART = ExpressionWrapper(
    Q(node_type="section") | Q(metadata__has_key="piece"), BooleanField()
)


def whole_key(key: str, is_part: bool) -> str:
    """Return the key of what a part is a part of, else its own."""
    return key.rpartition("#")[0] if is_part and "#" in key else key


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

    `visible` are all that the asker may read, whatever the filters. `vector` is the
    question's, as PostgreSQL reads it, by the model `model_id`; None where its words
    have none. `hits` are the best of the arms that it comes `after`.
    """

    project: Project
    nodes: NodeQuerySet
    visible: NodeQuerySet
    parsed: Parsed
    filters: Filters
    words: Words
    vector: str | None
    model_id: int
    now: datetime
    hits: Mapping[str, Sequence[Hit]] = field(default_factory=dict)

    @property
    def is_narrowed(self) -> bool:
        """Return whether filters leave out some of what could be found."""
        return self.filters != replace(NO_FILTERS, as_of=self.filters.as_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An arm in a profile: its weight in the fusion, how many hits it may give, and
    what else it reads."""

    weight: float = 1.0
    pool: int = 100
    options: Mapping[str, JSON] = field(default_factory=dict)

    def number(self, name: str, default: float) -> float:
        """Return an option that is a number."""
        given = self.options.get(name, default)
        if isinstance(given, (int, float)):
            return float(given)
        raise TypeError(f"The option {name!r} of an arm must be a number: {given!r}.")


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to find nodes; `find` returns the best first, none twice.

    It comes `after` the arms whose hits it starts from; all others run beside it. One
    that walks goes `hops` edges far, unless its plan has another `depth`.
    """

    find: Callable[[Ask, Plan], Sequence[Hit]]
    after: tuple[str, ...] = ()
    hops: int = 0

    def hops_of(self, plan: Plan) -> int:
        """Return how many edges far it walks in a profile."""
        return int(plan.number("depth", self.hops)) if self.hops else 0


arms: Registry[Arm] = Registry("arm")


def hits_by(
    statement: str, ask: Ask, pool: int, values: Mapping[str, Any]
) -> list[Hit]:
    """Return the best `pool` hits of a statement that ranks nodes; it has `values`, and
    what the question has."""
    rows = rows_among(
        ask.nodes,
        ask.project,
        statement,
        {
            "now": ask.now,
            "vector": ask.vector,
            "model": ask.model_id,
            "pool": pool,
            **values,
        },
        cast=vector_type(),
    )
    return [Hit(node, key, float(score), part) for node, key, score, part in rows]
