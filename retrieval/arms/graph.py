"""The graph arm: the things a question names, and what lies around them.

The published form: a name that is the same is worth 1.0, one that is alike 0.8; what is
reached from it half as much for each hop.
"""

from __future__ import annotations

from django.db.models import F

from graph.paths import hops
from retrieval.arms.base import IS_PART, Arm, Ask, Hit, Plan, arms

EXACT, PARTIAL = 1.0, 0.8
DEPTH, FAN_OUT, HOP = 2, 50, 0.5


def find(ask: Ask, plan: Plan) -> list[Hit]:
    """Return the named things and what lies within `depth` hops of them.

    Of equally relevant ones those of the kind the question asks for come first (a
    decision, a pattern), then the latest.
    """
    relevance = _named(ask)
    for _ in range(int(plan.number("depth", DEPTH))):
        relevance = _spread(ask, relevance)
    nodes = ask.nodes.filter(pk__in=list(relevance)).annotate(is_part=IS_PART)
    rows = nodes.order_by(F("occurred_at").desc(nulls_last=True), "key").values_list(
        "pk", "key", "node_type", "is_part"
    )
    ranked = sorted(
        rows, key=lambda row: (-relevance[row[0]], row[2] != ask.parsed.intent)
    )
    return [
        Hit(node, key, relevance[node], is_part)
        for node, key, _, is_part in ranked[: plan.pool]
    ]


def _named(ask: Ask) -> dict[int, float]:
    named: dict[int, float] = {}
    for hint in ask.parsed.hints:
        if hint.node_id is not None:
            worth = EXACT if hint.similarity >= 1 else PARTIAL
            named[hint.node_id] = max(worth, named.get(hint.node_id, 0.0))
    return named


def _spread(ask: Ask, relevance: dict[int, float]) -> dict[int, float]:
    """Return `relevance` with that of the nodes one hop further."""
    if not relevance:
        return {}
    spread = dict(relevance)
    for hop in hops(
        ask.visible,
        list(relevance),
        project=ask.project,
        as_of=ask.filters.as_of,
        fan_out=FAN_OUT,
    ):
        lent = HOP * relevance[hop.near]
        spread[hop.far] = max(lent, spread.get(hop.far, 0.0))
    return spread


arms.add("graph", Arm(find, hops=DEPTH))
