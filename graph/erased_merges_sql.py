"""SQL of merges of which names were erased: text only, one caller each."""

# Every name that was merged or merged into, with its node where that is there, and
# whether something says the name of the node that it stands for: a record by its key,
# a text by its title.
NAMES = """
    WITH RECURSIVE reach (key, target) AS (
        SELECT m.key, m.target FROM graph_merges m
         WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
           AND m.undone_at IS NULL
        UNION
        SELECT reach.key, m.target
          FROM reach JOIN graph_merges m ON m.tenant_id = %(tenant)s
           AND m.project_id = %(project)s AND m.key = reach.target
           AND m.undone_at IS NULL
    ), stands (key, kept) AS (
        SELECT reach.key, reach.target FROM reach
         WHERE NOT EXISTS (SELECT 1 FROM graph_merges m
                            WHERE m.tenant_id = %(tenant)s
                              AND m.project_id = %(project)s AND m.key = reach.target
                              AND m.undone_at IS NULL)
    ), named (key, kept) AS (
        SELECT s.key, s.kept FROM stands s
        UNION
        SELECT s.kept, s.kept FROM stands s
    )
    SELECT named.kept, named.key, own.id, kept.id,
           coalesce(own.origin NOT IN ('source', 'extraction'), false)
           OR named.key = named.kept AND kept.id IS NOT NULL AND (
               EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
                          AND v.node_id = kept.id AND v.kind = 'said'
                          AND v.via_target = '')
               OR EXISTS (SELECT 1 FROM graph_edges e
                            JOIN graph_evidence v ON v.tenant_id = e.tenant_id
                             AND v.project_id = e.project_id AND v.edge_id = e.id
                             AND v.kind = 'said'
                           WHERE e.tenant_id = %(tenant)s
                             AND e.project_id = %(project)s
                             AND (e.source_id = kept.id AND v.via_source = ''
                                  OR e.target_id = kept.id AND v.via_target = '')))
           OR EXISTS (SELECT 1 FROM graph_evidence v
                       WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
                         AND v.via_target = named.key AND v.via_target <> '')
           OR EXISTS (SELECT 1 FROM graph_evidence v
                       WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
                         AND v.via_source = named.key AND v.via_source <> '')
           OR EXISTS (SELECT 1 FROM graph_evidence v
                       WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
                         AND v.node_id = kept.id AND v.kind = 'derived'
                         AND own.title <> ''
                         AND strpos(graph_same_name(v.quote),
                                    graph_same_name(own.title)) > 0)
      FROM named
      LEFT JOIN graph_nodes own ON own.tenant_id = %(tenant)s
       AND own.project_id = %(project)s AND own.key = named.key
      LEFT JOIN graph_nodes kept ON kept.tenant_id = %(tenant)s
       AND kept.project_id = %(project)s AND kept.key = named.kept
     ORDER BY named.kept, named.key COLLATE "C"
"""
# Of what some records say, or are about, what was merged.
MERGED_AMONG = """
    WITH told (id) AS (
        SELECT v.node_id FROM graph_evidence v
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND v.record_id = ANY(%(records)s) AND v.node_id IS NOT NULL
        UNION
        SELECT end_.id FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
         CROSS JOIN LATERAL (VALUES (e.source_id), (e.target_id)) AS end_ (id)
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND v.record_id = ANY(%(records)s)
        UNION
        SELECT n.id FROM graph_nodes n
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.record_id = ANY(%(records)s)
    )
    SELECT n.id FROM told JOIN graph_nodes n ON n.id = told.id
     WHERE EXISTS (SELECT 1 FROM graph_merges m
                    WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
                      AND m.key = n.key AND m.undone_at IS NULL)
        OR EXISTS (SELECT 1 FROM graph_merges m
                    WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
                      AND m.target = n.key AND m.undone_at IS NULL)
"""
FORGET_NAMES = """
    DELETE FROM graph_merges m
     WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
       AND m.undone_at IS NULL AND m.key = ANY(%(names)s)
"""
# What stood for a name that is gone stands for what that stood for.
STAND_FOR = """
    UPDATE graph_merges m SET target = %(kept)s
     WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
       AND m.undone_at IS NULL AND m.target = ANY(%(names)s) AND m.key <> %(kept)s
"""
FORGET_APART = """
    DELETE FROM graph_merges m
     WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
       AND m.undone_at IS NOT NULL
       AND (SELECT count(*) FROM graph_nodes n
             WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
               AND n.key IN (m.key, m.target)) < 2
"""
RENAME = """
    UPDATE graph_nodes n
       SET key = %(name)s, title = coalesce(nullif(%(title)s, ''), n.title),
           updated_at = now()
     WHERE n.id = %(node)s
"""
TITLE_OF = """
    SELECT n.title FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s AND n.key = %(name)s
"""
# By its own name a node is said without one.
SAY_PLAINLY = (
    """
    UPDATE graph_evidence v SET via_target = ''
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.node_id = %(node)s AND v.via_target = %(name)s AND v.via_target <> ''
""",
    """
    UPDATE graph_evidence v SET via_source = '' FROM graph_edges e
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND e.id = v.edge_id AND e.source_id = %(node)s
       AND v.via_source = %(name)s AND v.via_source <> ''
""",
    """
    UPDATE graph_evidence v SET via_target = '' FROM graph_edges e
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND e.id = v.edge_id AND e.target_id = %(node)s
       AND v.via_target = %(name)s AND v.via_target <> ''
""",
)
