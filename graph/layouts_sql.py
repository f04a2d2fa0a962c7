"""SQL of layouts: text only."""

# The nodes of a project that are laid out: those with most edges, then the oldest.
NODES = """
    SELECT n.id, n.audience_id
      FROM graph_nodes n
      LEFT JOIN (
        SELECT tied.id, count(*) AS edges
          FROM (SELECT e.source_id AS id FROM graph_edges e
                 WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
                   AND (e.valid_to IS NULL OR e.valid_to > %(now)s)
                UNION ALL
                SELECT e.target_id FROM graph_edges e
                 WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
                   AND (e.valid_to IS NULL OR e.valid_to > %(now)s)) tied
         GROUP BY tied.id) counted ON counted.id = n.id
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL
       AND (n.valid_to IS NULL OR n.valid_to > %(now)s)
     ORDER BY coalesce(counted.edges, 0) DESC, n.id
     LIMIT %(most)s
"""
EDGES = """
    SELECT e.source_id, e.target_id, e.audience_id, sum(e.weight)
      FROM graph_edges e
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.source_id = ANY(%(nodes)s) AND e.target_id = ANY(%(nodes)s)
       AND e.source_id <> e.target_id
       AND (e.valid_from IS NULL OR e.valid_from <= %(now)s)
       AND (e.valid_to IS NULL OR e.valid_to > %(now)s)
     GROUP BY e.source_id, e.target_id, e.audience_id
     ORDER BY e.source_id, e.target_id, e.audience_id
"""
# What was found for another audience followed from what these may not see.
KEPT = """
    SELECT p.node_id, p.x, p.y, p.version
      FROM unnest(%(nodes)s::bigint[], %(audiences)s::bigint[]) AS wanted (node, audience)
      JOIN graph_node_positions p ON p.node_id = wanted.node
       AND p.seen_by = wanted.audience
     WHERE p.tenant_id = %(tenant)s AND p.project_id = %(project)s
"""
# A node that is gone meanwhile has no place; one that is there stays until we are done.
_PLACED = """
    WITH placed (node, audience, x, y, ties) AS (
        SELECT * FROM unnest(%(nodes)s::bigint[], %(audiences)s::bigint[],
                             %(xs)s::float8[], %(ys)s::float8[], %(ties)s::int[])
    ), there (id) AS (
        SELECT n.id FROM graph_nodes n
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.id IN (SELECT placed.node FROM placed)
         ORDER BY n.id FOR KEY SHARE
    )
    INSERT INTO graph_node_positions AS kept
           (tenant_id, project_id, node_id, x, y, ties, version, seen_by)
    SELECT %(tenant)s, %(project)s, placed.node, placed.x, placed.y, placed.ties,
           %(version)s, placed.audience
      FROM placed JOIN there ON there.id = placed.node
     ORDER BY placed.node
    ON CONFLICT (tenant_id, project_id, node_id) DO
"""
_AS_PLACED = """
    UPDATE SET x = excluded.x, y = excluded.y, ties = excluded.ties,
               version = excluded.version, seen_by = excluded.seen_by
"""
# Another picture may have placed it meanwhile; for these readers it is as good.
ADD = f"{_PLACED}{_AS_PLACED} WHERE kept.seen_by <> excluded.seen_by"
REPLACE = _PLACED + _AS_PLACED
# What ended, was pruned or is no longer among the best tied has no place in the layout.
FORGET_OTHERS = """
    DELETE FROM graph_node_positions p
     WHERE p.tenant_id = %(tenant)s AND p.project_id = %(project)s
       AND p.version > 0 AND p.node_id <> ALL(%(nodes)s)
"""
# Nodes that are there; places that the layout found; those of them that still hold.
COUNTS = """
    SELECT (SELECT count(*) FROM graph_nodes n
             WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
               AND n.trashed_at IS NULL
               AND (n.valid_to IS NULL OR n.valid_to > %(now)s)),
           count(*),
           count(*) FILTER (WHERE n.trashed_at IS NULL AND n.audience_id = p.seen_by
                              AND (n.valid_to IS NULL OR n.valid_to > %(now)s))
      FROM graph_node_positions p JOIN graph_nodes n ON n.id = p.node_id
     WHERE p.tenant_id = %(tenant)s AND p.project_id = %(project)s
       AND p.version > 0
"""
