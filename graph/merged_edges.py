"""The edges of nodes that become one: moved, folded into those there, ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from graph import merging_sql as sql
from graph.copying import execute, fetch
from graph.edges import EdgeIdentity, GraphScope, Places, settle_edges
from graph.merged import scope_values
from graph.models.node import MEMORY

# Evidence that was dropped, by the names of its columns, as JSON.
Dropped: TypeAlias = list[dict[str, Any]]
DROPPED = (
    "id",
    "record_id",
    "node_id",
    "edge_id",
    "kind",
    "part",
    "start",
    "end",
    "quote",
    "weight",
    "via_source",
    "via_target",
    "assertion",
)


@dataclass(frozen=True, slots=True)
class Touched:
    """An edge as it stands, in the order of `EDGES_TOUCHING`."""

    id: int
    source: int
    relation: str
    target: int
    scope: int | None
    valid_from: datetime | None
    valid_to: datetime | None
    origin: str

    def between(self, source: int, target: int) -> EdgeIdentity:
        return (source, self.relation, target, self.scope, self.valid_from)


@dataclass(slots=True)
class EdgePlan:
    """What becomes of each edge: other ends, a place in another edge, or an end."""

    moved: list[tuple[Touched, int, int]] = field(default_factory=list)
    folded: list[tuple[Touched, int]] = field(default_factory=list)
    looped: list[Touched] = field(default_factory=list)
    revived: set[int] = field(default_factory=set)


def dropped_rows(rows: Iterable[tuple[Any, ...]]) -> Dropped:
    return [dict(zip(DROPPED, row, strict=True)) for row in rows]


def plan_edges(scope: GraphScope, into: Mapping[int, int]) -> EdgePlan:
    """Return what becomes of the edges of nodes that become others."""
    values = {**scope_values(scope.project), "nodes": list(into)}
    touched = [Touched(*row) for row in fetch(sql.EDGES_TOUCHING, values)]
    ends = [
        (into.get(e.source, e.source), into.get(e.target, e.target)) for e in touched
    ]
    aims = list({(s, e.relation, t) for e, (s, t) in zip(touched, ends, strict=True)})
    columns = [[aim[n] for aim in aims] for n in range(3)]
    there: dict[EdgeIdentity, Touched] = {}
    for row in fetch(sql.EDGES_BETWEEN, [*columns, *scope.key]):
        edge = Touched(*row)
        there[edge.between(edge.source, edge.target)] = edge
    plan = EdgePlan()
    for edge, (source, target) in zip(touched, ends, strict=True):
        same = there.get(identity := edge.between(source, target))
        if source == target:
            plan.looped.append(edge)
        elif same is None:
            there[identity] = edge
            plan.moved.append((edge, source, target))
        else:
            plan.folded.append((edge, same.id))
            if edge.valid_to is None and same.valid_to is not None:
                plan.revived.add(same.id)
    return plan


def carry_out(scope: GraphScope, plan: EdgePlan, nodes: list[int]) -> dict[str, Any]:
    """Move, fold and end edges as planned; return what taking it back needs."""
    values = {**scope_values(scope.project), "nodes": nodes}
    stay = [e.id for e, *_ in plan.moved] + [e.id for e, _ in plan.folded]
    loops = [edge.id for edge in plan.looped]
    execute(sql.KEEP_NAMES_OF_ENDS, {**values, "edges": stay})
    gone = [edge.id for edge, _ in plan.folded]
    into = [other for _, other in plan.folded]
    fold = {**values, "edges": gone, "into": into}
    dropped = fetch(sql.DROP_DOUBLE_EDGE_EVIDENCE, fold) if plan.folded else []
    moved = fetch(sql.MOVE_EDGE_EVIDENCE, fold) if plan.folded else []
    if loops:
        execute(sql.LET_LOOPS_WAIT, {**values, "edges": loops})
        lost = fetch(sql.DROP_LOOP_EVIDENCE, {**values, "edges": loops})
        dropped += [row for row in lost if row[DROPPED.index("kind")] != "said"]
    execute(sql.END_EDGES, [scope.now, loops + gone])
    execute(
        sql.MOVE_EDGES,
        [
            [edge.id for edge, _, _ in plan.moved],
            [source for _, source, _ in plan.moved],
            [target for _, _, target in plan.moved],
        ],
    )
    execute(sql.SET_EDGE_ENDS_OF_TIME, [list(plan.revived), [None] * len(plan.revived)])
    settle(scope, plan)
    return {
        "moved": [(e.id, e.source, e.target) for e, _, _ in plan.moved],
        "ended": [
            (e.id, e.valid_to.isoformat() if e.valid_to else None)
            for e in (*plan.looped, *(edge for edge, _ in plan.folded))
        ],
        "revived": sorted(plan.revived),
        "into": sorted(set(into)),
        "edge_evidence": [list(row) for row in moved],
        "dropped": dropped_rows(dropped),
    }


def settle(scope: GraphScope, plan: EdgePlan) -> None:
    """Weigh and show what was folded; memory itself says who sees its own."""
    by_memory = {e.id for e, *_ in plan.moved if e.origin == MEMORY}
    by_memory |= {into for e, into in plan.folded if e.origin == MEMORY}
    weighed = {into for _, into in plan.folded} - by_memory
    settle_edges(scope, weighed, Places(), forget=False)
