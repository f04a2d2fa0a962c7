"""SQL of what memory runs on and of the use of edges: text only, one caller each."""

VERSIONS = """
    SELECT current_setting('server_version'),
           (SELECT e.extversion FROM pg_extension e WHERE e.extname = 'vector')
"""
# What was counted before fades on the way to the new moment; a use that is older than
# the last fades itself. Sorted, so that two who count the same edges wait, not lock.
COUNT_USES = """
    INSERT INTO edge_uses AS u (edge_id, tenant_id, project_id, uses, last_used_at)
    SELECT e.id, e.tenant_id, e.project_id, %(times)s::float8, %(at)s::timestamptz
      FROM graph_edges e
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.id = ANY(%(edges)s::bigint[])
     ORDER BY e.id
    ON CONFLICT (edge_id) DO UPDATE SET
        uses = u.uses * power(0.5, greatest(0, extract(epoch FROM
                   excluded.last_used_at - u.last_used_at)) / %(half_life)s)
             + excluded.uses * power(0.5, greatest(0, extract(epoch FROM
                   u.last_used_at - excluded.last_used_at)) / %(half_life)s),
        last_used_at = greatest(u.last_used_at, excluded.last_used_at)
"""
# Bounded by the nodes of one walk: the edges among them that were ever used.
LEARNED = """
    SELECT e.id, e.source_id, e.target_id,
           u.uses * power(0.5, greatest(0, extract(epoch FROM
               %(at)s::timestamptz - u.last_used_at)) / %(half_life)s)
      FROM edge_uses u
      JOIN graph_edges e
        ON e.tenant_id = u.tenant_id AND e.project_id = u.project_id
       AND e.id = u.edge_id
     WHERE u.tenant_id = %(tenant)s AND u.project_id = %(project)s
       AND e.source_id = ANY(%(nodes)s::bigint[])
       AND e.target_id = ANY(%(nodes)s::bigint[])
"""
FORGET_UNUSED = """
    DELETE FROM edge_uses u
     WHERE u.uses * power(0.5, greatest(0, extract(epoch FROM
               %(at)s::timestamptz - u.last_used_at)) / %(half_life)s) < %(least)s
"""
