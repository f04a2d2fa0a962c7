"""SQL of names that are nearly alike: text only, one caller each."""

# Names as they are shown, each with how many edges lead to it, up to a bound.
WITH_USES = """
    SELECT n.id, n.key, n.title, n.audience_id, n.node_type,
           (SELECT count(*) FROM (
                SELECT FROM graph_edges e
                 WHERE e.tenant_id = n.tenant_id AND e.project_id = n.project_id
                   AND e.target_id = n.id
                 LIMIT 1000) uses)
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(ids)s)
"""
NAMED = """
    SELECT n.id, n.node_type, left(n.title, 300) FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.node_type <> ALL(%(unmerged)s) AND n.title <> ''
       AND n.origin <> 'memory' AND n.valid_to IS NULL AND n.trashed_at IS NULL
       AND n.gone_at IS NULL AND n.id > %(after)s
     ORDER BY n.id LIMIT %(limit)s
"""
TAKEN_APART = """
    SELECT m.key, m.target FROM graph_merges m
     WHERE m.tenant_id = %s AND m.project_id = %s AND m.undone_at IS NOT NULL
"""
