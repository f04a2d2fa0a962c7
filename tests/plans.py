"""Whether a statement's conditions can be answered from one index."""

from __future__ import annotations

from django.db import connection


def plan_with_only(index: str, conditions: str) -> str:
    """Return the plan of reading `graph_nodes n` by `conditions` had it no index but
    this: which of many a planner takes hangs on what the tests before left in them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_indexdef(%s::regclass)", [index])
        (definition,) = cursor.fetchone()
        cursor.execute("CREATE TEMP TABLE only_one (LIKE graph_nodes) ON COMMIT DROP")
        cursor.execute(definition.replace("public.graph_nodes", "only_one"))
        cursor.execute("SET LOCAL enable_seqscan = off")
        # The conditions are our own statement's.
        cursor.execute(f"EXPLAIN SELECT n.id FROM only_one n {conditions}")  # noqa: S608
        return "\n".join(row[0] for row in cursor.fetchall())
