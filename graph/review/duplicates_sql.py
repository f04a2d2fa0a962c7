"""SQL of names that are nearly alike: text only, one caller each."""

# Names that are nearly alike, each with its neighbours by trigrams through the index;
# a name has at most so many, so that what this costs grows with the names.
NEARLY_THE_SAME = """
    SELECT one.id, one.key, one.title, one.audience_id, one.node_type,
           other.id, other.key, other.title, other.audience_id, other.alike,
           one.degree, other.degree
      FROM (SELECT n.id, n.key, n.title, n.audience_id, n.node_type,
                   (SELECT count(*) FROM (
                        SELECT FROM graph_edges e
                         WHERE e.tenant_id = n.tenant_id
                           AND e.project_id = n.project_id AND e.target_id = n.id
                         LIMIT 1000) uses) AS degree
              FROM graph_nodes n
             WHERE n.id = ANY(%(ids)s)) one
     CROSS JOIN LATERAL (
           SELECT o.id, o.key, o.title, o.audience_id,
                  similarity(o.title, one.title) AS alike,
                  (SELECT count(*) FROM (
                       SELECT FROM graph_edges e
                        WHERE e.tenant_id = o.tenant_id
                          AND e.project_id = o.project_id AND e.target_id = o.id
                        LIMIT 1000) uses) AS degree
             FROM graph_nodes o
            WHERE o.title %% one.title AND o.tenant_id = %(tenant)s
              AND o.project_id = %(project)s AND o.node_type = one.node_type
              AND o.id <> one.id AND o.title <> '' AND o.origin <> 'memory'
              AND o.valid_to IS NULL AND o.trashed_at IS NULL AND o.gone_at IS NULL
            ORDER BY alike DESC, o.id LIMIT %(most)s) other
     WHERE one.key COLLATE "C" < other.key COLLATE "C"
     ORDER BY one.id, other.alike DESC, other.id
"""
NAMED = """
    SELECT n.id FROM graph_nodes n
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
