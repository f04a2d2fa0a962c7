"""Statements over the nodes that a read may find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections

from connections.models import Project
from graph.querysets import NodeQuerySet


def rows_among(
    nodes: NodeQuerySet,
    project: Project,
    statement: str,
    values: Mapping[str, Any],
    **written: str,
) -> list[tuple]:
    """Return the rows of a statement over `nodes`; none, and unasked, of no nodes.

    They go into it as `WITH allowed (id) AS ({allowed})`, the column named, for it
    compiles to `"id" AS "pk"`. Its parameters are by name: `values`, and `tenant`,
    `project` and `audiences` (None: an operator's). What is `written` into it is SQL.
    """
    try:
        text, params = _ids_of(nodes)
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
    with connections[nodes.db].cursor() as cursor:
        cursor.execute(
            statement.format(allowed=allowed, **written), {**named, **scope, **values}
        )
        return cursor.fetchall()


def _ids_of(nodes: NodeQuerySet) -> tuple[str, tuple[Any, ...]]:
    """Return the statement that reads the ids of `nodes`, compiled once: a search asks
    of the same nodes again and again. A clone compiles its own."""
    known = nodes.__dict__.get("_ids_sql")
    if known is None:
        known = nodes.order_by().values("pk").query.sql_with_params()
        nodes.__dict__["_ids_sql"] = known
    return known
