"""Edges learn from use: those that led to what an answer cited are counted.

A source was reached over edges where the text arms did not find it. Then the shortest
ways to it from what they found, along a conversation, are what a walk took.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from connections.models import Project, User
from connections.providers.base import ProviderError
from graph.learned_weights import LearnedWeight, learned_weights
from graph.models import Node
from graph.steps import Hop, Terms, step
from memory import gk_sql as sql
from memory.models import Turn
from retrieval.arms.walk import DEPTH, FAN_OUT, RELATIONS, SEEDS
from retrieval.errors import RetrievalError
from retrieval.text_hits import text_hits

logger = logging.getLogger(__name__)

DAY = 24 * 3600.0
# Fewer uses than this are none: the row goes.
LEAST = 0.01
# What is walked to find how a source was reached; the rest is not learned from.
MOST_HOPS, MOST_TURNS = 5_000, 100
# Calls of the agent that walk from a node it names.
WALKS = ("walk", "paths", "timeline")


def count_uses(
    project: Project,
    edges: Iterable[int],
    *,
    at: datetime | None = None,
    times: float = 1.0,
) -> int:
    """Count `times` uses of edges of `project`; return how many of them there are."""
    values: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "edges": sorted(set(edges)),
        "at": at or timezone.now(),
        "times": times,
        "half_life": _half_life(),
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.COUNT_USES, values)
        return cursor.rowcount


@learned_weights.register("use")
def uses_among(
    project: Project, nodes: Collection[int], now: datetime
) -> list[LearnedWeight]:
    """Return the edges of `project` among `nodes` that were used, faded to `now`."""
    values: dict[str, Any] = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "nodes": list(nodes),
        "at": now,
        "half_life": _half_life(),
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.LEARNED, values)
        return [LearnedWeight(*row) for row in cursor.fetchall()]


def forget_unused(now: datetime | None = None) -> int:
    """Delete the counts that have faded away; return how many."""
    values: dict[str, Any] = {
        "at": now or timezone.now(),
        "half_life": _half_life(),
        "least": LEAST,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.FORGET_UNUSED, values)
        return cursor.rowcount


def count_waiting(now: datetime | None = None, most: int = MOST_TURNS) -> int:
    """Count the uses of the turns that wait for it, the oldest first; return how many.

    One that cannot be counted now waits; after a day it is let go.
    """
    waiting = Turn.objects.filter(
        uses_counted_at=None,
        state=Turn.State.DONE,
        created_at__gte=(now or timezone.now()) - timedelta(days=1),
    ).select_related("conversation__project__tenant", "conversation__user")
    counted = 0
    for turn in waiting.order_by("pk")[:most]:
        try:
            count_turn(turn)
        except (ProviderError, RetrievalError) as error:
            logger.warning("The edges of turn %s wait: %s", turn.pk, error)
        else:
            counted += 1
    return counted


def count_turn(turn: Turn) -> int:
    """Count the edges that led to what `turn` cited, once; return how many.

    What the text arms find for its question is looked up anew, so call it in the
    background.
    """
    conversation = turn.conversation
    project, user = conversation.project, conversation.user
    known = turn.citations.filter(node__isnull=False)
    cited = list(known.values_list("node", flat=True))
    edges: frozenset[int] = frozenset()
    if cited:
        found = text_hits(project, turn.question, user=user, limit=SEEDS)
        seeds = list(dict.fromkeys([*found, *_walked_from(turn)]))
        edges = edges_that_led(project, user, seeds=seeds, cited=cited)
    with transaction.atomic():
        waiting = Turn.objects.filter(pk=turn.pk, uses_counted_at=None)
        if not waiting.update(uses_counted_at=timezone.now()):
            return 0
        return count_uses(project, edges, at=turn.created_at)


def edges_that_led(
    project: Project, user: User | None, *, seeds: Sequence[int], cited: Sequence[int]
) -> frozenset[int]:
    """Return the edges of the shortest ways from `seeds` to what of `cited` is none.

    Along a conversation, as the walk arm goes, and through nothing that `user` may not
    see. What a seed is itself was found by its words: no edge led there.
    """
    nodes = Node.objects.visible_to(user) if user else Node.objects.all()
    nodes = nodes.of(project).current().as_of(timezone.now())
    terms = Terms.of(project, RELATIONS, None, FAN_OUT, MOST_HOPS)
    goals = set(cited) - set(seeds)
    depths, back = dict.fromkeys(seeds, 0), dict[int, list[Hop]]()
    frontier = list(depths)
    for depth in range(1, DEPTH + 1):
        if not frontier or goals <= depths.keys():
            break
        hops, _ = step(nodes, frontier, terms)
        for hop in hops:
            if depths.setdefault(hop.far, depth) == depth:
                back.setdefault(hop.far, []).append(hop)
        frontier = [node for node, found in depths.items() if found == depth]
    return frozenset(_edges_back(goals & depths.keys(), back))


def _edges_back(goals: Iterable[int], back: dict[int, list[Hop]]) -> Iterable[int]:
    """Yield the edges of all shortest ways back from `goals`."""
    seen, waiting = set[int](), list(goals)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for hop in back.get(node, ()):
            yield hop.edge
            waiting.append(hop.near)


def _walked_from(turn: Turn) -> Iterable[int]:
    """Yield the nodes that the agent's own walks began at."""
    for call in turn.calls:
        if call.get("name") in WALKS:
            arguments = call.get("arguments") or {}
            for value in arguments.values():
                if isinstance(value, int) and not isinstance(value, bool):
                    yield value


def _half_life() -> float:
    return float(settings.FABRIC["EDGE_HALF_LIFE"]) * DAY
