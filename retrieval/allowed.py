"""Statements over the nodes that a read may find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connections

from connections.models import Project
from connections.prepared import fetch_prepared
from graph.querysets import NodeQuerySet

N = TypeVar("N", bound=NodeQuerySet)

_COMPILED = "_ids_compiled"
# What a statement of ids begins with where nothing is joined.
_HEAD = 'SELECT "graph_nodes"."id" AS "pk" FROM "graph_nodes" WHERE '


def rows_among(
    nodes: NodeQuerySet,
    project: Project,
    statement: str,
    values: Mapping[str, Any],
    *,
    prepared: bool = False,
    **written: str,
) -> list[tuple]:
    """Return the rows of a statement over `nodes`; none, and unasked, of no nodes.

    They go into it as `WITH allowed (id) AS ({allowed})`, the column named, for it
    compiles to `"id" AS "pk"`; or, where it reads `graph_nodes` itself, as the condition
    `{where}`, which costs no look-up more. Its parameters are by name: `values`, and
    `tenant`, `project` and `audiences` (None: an operator's). What is `written` into it
    is SQL. `prepared`: see `connections.prepared`.
    """
    try:
        text, params = ids_of(nodes)
    except EmptyResultSet:
        return []
    named = {f"allowed_{i}": value for i, value in enumerate(params)}
    # A sign that the queryset itself quoted must stay quoted.
    pieces = [piece.replace("%%", "%").replace("%", "%%") for piece in text.split("%s")]
    places = [*(f"%({name})s" for name in named), ""]
    allowed = "".join(map("".join, zip(pieces, places, strict=True)))
    scope = {
        "tenant": project.tenant_id,
        "project": project.pk,
        "audiences": nodes.audiences,
    }
    text = statement.format(allowed=allowed, where=_where(allowed), **written)
    values = {**named, **scope, **values}
    if prepared:
        return fetch_prepared(text, values, using=nodes.db)
    with connections[nodes.db].cursor() as cursor:
        cursor.execute(text, values)
        return cursor.fetchall()


def _where(allowed: str) -> str:
    """Return the condition on `graph_nodes` that the statement of its ids puts."""
    if allowed.startswith(_HEAD):
        return f"({allowed.removeprefix(_HEAD)})"
    return f"graph_nodes.id IN ({allowed})"


def ids_of(nodes: NodeQuerySet) -> tuple[str, tuple[Any, ...]]:
    """Return the statement that reads the ids of `nodes`, compiled once: a search asks
    of the same nodes again and again. A clone compiles its own."""
    known: tuple[str, tuple[Any, ...]] | None = nodes.__dict__.get(_COMPILED)
    if known is None:
        known = nodes.order_by().values("pk").query.sql_with_params()
        nodes.__dict__[_COMPILED] = known
    return known


def elsewhere(nodes: N, alias: str) -> N:
    """Return `nodes` on another connection to the same database, with what was compiled
    of them."""
    there = nodes.using(alias)
    if _COMPILED in nodes.__dict__:
        there.__dict__[_COMPILED] = nodes.__dict__[_COMPILED]
    return there
