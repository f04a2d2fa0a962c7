"""The age of nodes in SQL: expressions over `graph_nodes n`, as `graph.staleness` has it.

They take `now`, and `thresholds` as JSON of `thresholds_of`.
"""

from __future__ import annotations

# `greatest` leaves out what is null; it is null where all is.
LATEST = (
    "greatest(coalesce(n.occurred_at, n.updated_at), n.confirmed_at,"
    " n.last_evidence_at)"
)
# Whole days; what lies ahead counts as today, what has no moment has no age.
AGE_DAYS = (
    f"CASE WHEN {LATEST} IS NOT NULL THEN greatest(0, floor(extract("
    f"epoch FROM %(now)s::timestamptz - {LATEST}) / 86400))::int END"
)
THRESHOLD = (
    "(CASE WHEN %(thresholds)s::jsonb ? n.node_type"
    " THEN %(thresholds)s::jsonb ->> n.node_type"
    " ELSE %(thresholds)s::jsonb ->> 'default' END)::int"
)
IS_STALE = f"coalesce({AGE_DAYS} > {THRESHOLD}, false)"

# What a project set.
THRESHOLDS = """
    SELECT t.node_type, t.days FROM graph_stale_thresholds t
     WHERE t.tenant_id = %s AND t.project_id = %s
"""
