"""The vector arm: the nearest by meaning, through the index or exactly."""

from __future__ import annotations

from operator import itemgetter

from django.db import connections, transaction

from graph.embed import nearness, search_settings, vector_type
from retrieval import sql
from retrieval.allowed import rows_among
from retrieval.arms.base import Arm, Ask, Hit, Plan, arms

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
    needed = search_settings(ask.words.nodes)
    if not needed:
        return _hits(ask, plan)
    alias = ask.nodes.db
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute(sql.SET_SETTINGS, [list(needed), list(needed.values())])
        return _hits(ask, plan)


def _hits(ask: Ask, plan: Plan) -> list[Hit]:
    rows = [] if _is_small(ask) else _nearest(ask, plan, nearness("%(vector)s"))
    # A scan of the index that ran out of tuples before it found as many as asked for
    # says nothing of the rest: a small audience of a big project is read exactly.
    if len(rows) < plan.pool:
        exactly = sql.EXACTLY.format(cast=vector_type())
        rows = _nearest(ask, plan, exactly, sql.WITH_VECTOR)
    least = plan.number("similarity", -1.0)
    return [
        Hit(node, key, 1 - distance, is_part)
        for node, key, distance, is_part in rows
        if 1 - distance > least
    ]


def _is_small(ask: Ask) -> bool:
    return ask.words.nodes < EXACT_BELOW


def _nearest(
    ask: Ask, plan: Plan, order: str, besides: str = ""
) -> list[tuple[int, str, float, bool]]:
    """Return the nearest of those that come first in an order that is nearly theirs."""
    values = {
        "vector": ask.vector,
        "model": ask.model_id,
    }
    rows = rows_among(
        ask.nodes,
        ask.project,
        sql.NEAREST,
        values,
        prepared=True,
        # Written out: of a limit that is not known yet a plan thinks it is a tenth.
        measured=str(plan.pool * MEASURED),
        cast=vector_type(),
        order=order,
        besides=besides,
    )
    return sorted(rows, key=itemgetter(2, 1))[: plan.pool]


arms.add("vector", Arm(find))
