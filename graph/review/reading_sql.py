"""SQL of what a reviewer reads beside an item: text only, one caller each."""

# Nodes that stay, with a word in what goes.
SAID_THERE_TOO = """
    SELECT DISTINCT c.id, c.audience_id
      FROM graph_nodes g
      JOIN graph_evidence v ON v.tenant_id = g.tenant_id
       AND v.project_id = g.project_id AND v.record_id = g.record_id
       AND v.part = 'text:' || g.key
      JOIN graph_nodes c ON c.id = v.node_id AND c.trashed_at IS NULL
       AND (c.valid_to IS NULL OR c.valid_to > now())
     WHERE g.tenant_id = %(tenant)s AND g.project_id = %(project)s
       AND g.id = ANY(%(nodes)s) AND c.id <> ALL(%(nodes)s)
     ORDER BY c.id
"""
# The newest that a record or a memory says of each node, of what the reader may see
# and what is not in the trash.
LAST_SAID = """
    SELECT x.id, last.said, last.at
      FROM unnest(%(nodes)s::bigint[]) AS x (id)
     CROSS JOIN LATERAL (
        SELECT found.said, found.at FROM (
            (SELECT coalesce(nullif(v.quote, ''), left(r.body, %(characters)s)) AS said,
                    coalesce(r.occurred_at, r.first_fetched_at) AS at
               FROM graph_evidence v JOIN graph_records r ON r.id = v.record_id
              WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
                AND v.node_id = x.id AND r.audience_id = ANY(%(audiences)s)
                AND NOT EXISTS (
                    SELECT 1 FROM graph_nodes t
                     WHERE t.tenant_id = v.tenant_id AND t.project_id = v.project_id
                       AND t.record_id = r.id AND t.trashed_at IS NOT NULL
                       AND t.key IN (r.key, substr(v.part, strpos(v.part, ':') + 1)))
              ORDER BY at DESC, v.id DESC LIMIT 1)
            UNION ALL
            (SELECT left(m.content, %(characters)s),
                    coalesce(m.occurred_at, m.created_at)
               FROM graph_edges e JOIN graph_nodes m ON m.id = e.source_id
              WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
                AND e.target_id = x.id AND e.valid_to IS NULL AND e.origin = 'memory'
                AND e.audience_id = ANY(%(audiences)s)
                AND m.origin = 'memory' AND m.audience_id = ANY(%(audiences)s)
                AND m.trashed_at IS NULL AND m.valid_to IS NULL
              ORDER BY 2 DESC, m.id DESC LIMIT 1)) found
         ORDER BY found.at DESC LIMIT 1) last
"""
# How many of each kind and state there are, each counted up to a bound.
SIZES = """
    SELECT k.kind, s.state, (
           SELECT count(*) FROM (
               SELECT FROM graph_review_items i
                WHERE i.tenant_id = ANY(%(tenants)s) AND i.project_id = ANY(%(projects)s)
                  AND i.kind = k.kind AND i.state = s.state
                  AND i.audience_id = ANY(%(audiences)s)
                LIMIT %(most)s) AS few)
      FROM unnest(%(kinds)s::text[]) AS k (kind)
     CROSS JOIN unnest(%(states)s::text[]) AS s (state)
"""
