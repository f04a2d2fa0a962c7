"""Merges of which a name was erased: what nothing says any more stands for nothing.

A node that was kept under an erased name goes on under one of those that are still
said of it, as if the erased one had never been merged with them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from connections.models import Project
from graph import erased_merges_sql as sql
from graph import erasing_sql
from graph.copying import execute, fetch
from graph.erasers import Going, tell_going
from graph.merged import describe, scope_values


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a merge: the node of that key, the one it stands for, who says it."""

    key: str
    node: int | None
    kept: int | None
    is_said: bool


def merged_among(project: Project, records: Sequence[int]) -> list[int]:
    """Return the nodes of merges that `records` say something of."""
    values = {**scope_values(project), "records": list(records)}
    return [row[0] for row in fetch(sql.MERGED_AMONG, values)]


def forget_merges(project: Project, touched: Collection[int]) -> Counter[str]:
    """Forget what of the merges of `project` nothing says any more, of those that have
    a node of `touched` or whose kept node is gone; return rows gone.

    Call it in a transaction that holds the project's graph; calling it again changes
    nothing.
    """
    values: dict[str, Any] = scope_values(project)
    groups: dict[str, list[Name]] = defaultdict(list)
    for kept_key, *row in fetch(sql.NAMES, values):
        groups[kept_key].append(Name(*row))
    counts: Counter[str] = Counter()
    for kept_key, names in groups.items():
        is_touched = any({name.node, name.kept} & {None, *touched} for name in names)
        if is_touched and not all(name.is_said and name.kept for name in names):
            counts += _settle(project, kept_key, names)
    counts["graph_merges"] += execute(sql.FORGET_APART, values)
    return counts


def _settle(project: Project, kept_key: str, names: Sequence[Name]) -> Counter[str]:
    """Leave of a group the names that are said, under one of them."""
    node = names[0].kept
    said = [name.key for name in names if name.is_said]
    gone = [name for name in names if not name.is_said]
    if node is None or not said:
        # Without a node that is kept each name stands for itself again.
        return _forget(project, [name for name in names if name.key != kept_key])
    named = kept_key if kept_key in said else min(said)
    stand_in = [name for name in names if name.key == named and name.node != node]
    values = {
        **scope_values(project),
        "kept": named,
        "names": [kept_key, *(name.key for name in gone)],
    }
    title = fetch(sql.TITLE_OF, {**values, "name": named})
    counts = _forget(project, [n for n in gone if n.node != node] + stand_in)
    execute(sql.STAND_FOR, values)
    if named != kept_key:
        own = {**values, "node": node, "name": named}
        going = {"gone": [node], "records": []}
        counts["audit_details"] += execute(
            erasing_sql.DETAILS_NAMING_GOING, values | going
        )
        execute(sql.RENAME, {**own, "title": title[0][0] if title else ""})
        for statement in sql.SAY_PLAINLY:
            execute(statement, own)
        describe(project, [node])
    return counts


def _forget(project: Project, names: Sequence[Name]) -> Counter[str]:
    """Delete merges of `names`, and their nodes: all these had is another's."""
    nodes = [name.node for name in names if name.node and name.node != name.kept]
    values = {**scope_values(project), "nodes": nodes, "gone": nodes, "records": []}
    going = Going(project=project, records=(), nodes=nodes, changed=())
    counts = tell_going(going) if nodes else Counter[str]()
    for table, statement in (
        ("audit_details", erasing_sql.DETAILS_NAMING_GOING),
        ("audit_details", erasing_sql.DETAILS_OF_REVIEW),
        ("graph_review_items", erasing_sql.REVIEW_OF),
        ("graph_edges", erasing_sql.FORGET_ENDED_EDGES),
        ("graph_tombstones", erasing_sql.TOMBSTONES_OF),
        ("graph_nodes", erasing_sql.DELETE_NODES),
    ):
        counts[table] += execute(statement, values)
    keys = {"names": [name.key for name in names]}
    counts["graph_merges"] += execute(sql.FORGET_NAMES, {**values, **keys})
    return counts
