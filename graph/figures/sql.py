"""SQL of the daily figures: text only, one caller each."""

# What came in, by source; days are those of its first fetch.
RECORDS_IN = """
    SELECT (r.first_fetched_at AT TIME ZONE %(zone)s)::date AS day,
           r.source_id::text, count(*)
      FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.first_fetched_at >= %(since)s AND r.first_fetched_at < %(until)s
     GROUP BY day, r.source_id
     ORDER BY day, r.source_id
"""

# What was added on each day; all before the first day counts as of that day.
NODES_ADDED = """
    SELECT greatest((n.created_at AT TIME ZONE %(zone)s)::date, %(first)s) AS day,
           n.node_type, count(*)
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL AND n.created_at < %(until)s
     GROUP BY day, n.node_type
     ORDER BY day, n.node_type
"""

EDGES_ADDED = """
    SELECT greatest((e.created_at AT TIME ZONE %(zone)s)::date, %(first)s) AS day,
           e.relation, count(*)
      FROM graph_edges e
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.created_at < %(until)s
       AND (e.valid_to IS NULL OR e.valid_to > %(until)s)
     GROUP BY day, e.relation
     ORDER BY day, e.relation
"""

# Of each node in how many live edges it is: 0, 1, 2-3, 4-7, ... as powers of two.
DEGREES = """
    WITH met (node_id) AS (
        SELECT e.source_id FROM graph_edges e
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND (e.valid_to IS NULL OR e.valid_to > %(until)s)
        UNION ALL
        SELECT e.target_id FROM graph_edges e
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND (e.valid_to IS NULL OR e.valid_to > %(until)s)
    ), degrees (node_id, degree) AS (
        SELECT met.node_id, count(*) FROM met GROUP BY met.node_id
    ), found (id, degree) AS (
        SELECT n.id, coalesce(degrees.degree, 0)
          FROM graph_nodes n LEFT JOIN degrees ON degrees.node_id = n.id
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.trashed_at IS NULL
    ), hubs (id, degree) AS (
        SELECT found.id, found.degree FROM found WHERE found.degree > 0
         ORDER BY found.degree DESC, found.id LIMIT %(hubs)s
    )
    SELECT 'degree' AS name,
           CASE WHEN found.degree = 0 THEN 0
                ELSE (2 ^ floor(log(2.0, found.degree)))::bigint END AS label,
           count(*)
      FROM found GROUP BY label
     UNION ALL
    SELECT 'hub', hubs.id, hubs.degree FROM hubs
     ORDER BY 1, 2
"""

# Nodes whose latest word is older than their type's threshold, as `staleness.age_of`.
STALE = """
    SELECT n.node_type, count(*)
      FROM graph_nodes n
      JOIN unnest(%(types)s::text[], %(days)s::int[]) kept (node_type, days)
        ON kept.node_type = n.node_type
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL
       AND greatest(coalesce(n.occurred_at, n.updated_at), n.confirmed_at,
                    n.last_evidence_at)
           <= %(now)s - (kept.days + 1) * interval '1 day'
     GROUP BY n.node_type
     ORDER BY n.node_type
"""

OPEN_ITEMS = """
    SELECT i.kind, count(*)
      FROM graph_review_items i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.state = 'open'
     GROUP BY i.kind
     ORDER BY i.kind
"""

DECIDED = """
    SELECT (d.decided_at AT TIME ZONE %(zone)s)::date AS day, d.verb, count(*)
      FROM graph_review_decisions d
     WHERE d.tenant_id = %(tenant)s AND d.project_id = %(project)s
       AND d.decided_at >= %(since)s AND d.decided_at < %(until)s
       AND d.undone_at IS NULL
     GROUP BY day, d.verb
     ORDER BY day, d.verb
"""

KEEP = """
    INSERT INTO graph_daily_figures AS kept (
        tenant_id, project_id, name, day, label, value, counted_at)
    SELECT %(tenant)s, %(project)s, %(name)s, new.day, new.label, new.value,
           %(counted_at)s
      FROM unnest(%(days)s::date[], %(labels)s::text[], %(values)s::float8[])
           new (day, label, value)
    ON CONFLICT (tenant_id, project_id, name, day, label) DO UPDATE
       SET value = EXCLUDED.value, counted_at = EXCLUDED.counted_at
"""

# What was counted before and is not there any more, of the days just counted.
FORGET = """
    DELETE FROM graph_daily_figures f
     WHERE f.tenant_id = %(tenant)s AND f.project_id = %(project)s
       AND f.name = %(name)s AND f.day BETWEEN %(first)s AND %(last)s
       AND f.counted_at < %(counted_at)s
"""
