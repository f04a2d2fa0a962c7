"""The vector arm: the nearest by meaning, through the index or exactly."""

from __future__ import annotations

from django.db import connections

from graph.embed import nearness, search_settings, vector_type
from graph.querysets import NodeQuerySet
from retrieval import sql
from retrieval.arms.base import IS_PART, Arm, Ask, Hit, Plan, arms
from retrieval.expressions import condition, number

# Below this many nodes every distance is computed: exact, and faster.
EXACT_BELOW = 10_000
# So many times as many as asked for are measured: the index may hold less than vectors.
MEASURED = 2


def find(ask: Ask, plan: Plan) -> list[Hit]:
    """Return the nodes nearest to the question, by cosine similarity above the plan's.

    Only vectors of the model that made the question's are compared.
    """
    if ask.vector is None:
        return []
    nodes = ask.nodes.filter(
        # None once another model is the active one: its vectors have another size.
        condition(sql.IS_ACTIVE, (ask.model_id,)),
        embedding_model_id=ask.model_id,
    )
    # A scan of the index that ran out of tuples before it found as many as asked for
    # says nothing of the rest: a small audience of a big project is read exactly.
    distance = sql.DISTANCE.format(cast=vector_type())
    if needed := search_settings():
        with connections[ask.nodes.db].cursor() as cursor:
            cursor.execute(sql.SET_SETTINGS, [list(needed), list(needed.values())])
    rows = _nearest(nodes, ask, plan, nearness("%s")) if not _is_small(ask) else []
    if len(rows) < plan.pool:
        some = nodes.filter(embedding__isnull=False)
        rows = _nearest(some, ask, plan, f"({distance}) + 0")
    least = plan.number("similarity", -1.0)
    return [
        Hit(node, key, 1 - distance, is_part)
        for node, key, distance, is_part in rows
        if 1 - distance > least
    ]


def _is_small(ask: Ask) -> bool:
    return ask.words.nodes < EXACT_BELOW


def _nearest(
    nodes: NodeQuerySet, ask: Ask, plan: Plan, order: str
) -> list[tuple[int, str, float, bool]]:
    """Return the nearest of those that come first in an order that is nearly theirs."""
    distance = sql.DISTANCE.format(cast=vector_type())
    measured = nodes.annotate(
        distance=number(distance, (ask.vector,)),
        is_part=IS_PART,
    ).order_by(number(order, (ask.vector,)))
    rows = measured.values_list("pk", "key", "distance", "is_part")
    nearest = sorted(rows[: plan.pool * MEASURED], key=lambda row: (row[2], row[1]))
    return nearest[: plan.pool]


arms.add("vector", Arm(find))
