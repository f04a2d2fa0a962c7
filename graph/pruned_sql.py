"""SQL of what was pruned, for those who write the graph: text only, one caller each."""

# A record's own node is known by what the source said; another by its own words.
HASH_OF_NODE = """
    CASE WHEN r.key = n.key THEN r.content_hash
         ELSE encode(sha256(convert_to(n.title || chr(1) || n.content, 'UTF8')), 'hex')
    END
"""
TOMBSTONES_OF = """
    SELECT t.key, t.content_hash FROM graph_tombstones t
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND t.content_hash = ANY(%(hashes)s)
"""
KEYS_THERE = """
    SELECT n.key FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.key = ANY(%(keys)s)
"""
# Trashed nodes whose words a changed record says otherwise now, each with what it was
# pruned with.
CHANGED_IN_TRASH = """
    SELECT DISTINCT x.chosen
      FROM unnest(%(keys)s::text[], %(hashes)s::text[]) AS said (key, hash)
      JOIN graph_nodes n ON n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.key = said.key AND n.trashed_at IS NOT NULL
      JOIN graph_tombstones t ON t.tenant_id = n.tenant_id
       AND t.project_id = n.project_id AND t.key = n.key
       AND t.content_hash <> said.hash
      JOIN graph_trash x ON x.tenant_id = n.tenant_id AND x.project_id = n.project_id
       AND x.node_id = n.id
     WHERE n.record_id = ANY(%(records)s)
"""
FORGET_TOMBSTONES = """
    DELETE FROM graph_tombstones t
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND t.key = ANY(%(keys)s)
       AND NOT EXISTS (SELECT 1 FROM graph_nodes n
                        WHERE n.tenant_id = t.tenant_id
                          AND n.project_id = t.project_id AND n.key = t.key
                          AND n.trashed_at IS NOT NULL)
"""
RESTORE_NODES = """
    UPDATE graph_nodes n SET trashed_at = NULL
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s) AND n.trashed_at IS NOT NULL
    RETURNING n.id, n.key
"""
DROP_TOMBSTONES = """
    DELETE FROM graph_tombstones t
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND t.key = ANY(%(keys)s)
"""
IN_TRASH_WITH = """
    SELECT x.node_id FROM graph_trash x
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND x.chosen = ANY(%(chosen)s)
"""
# What went along with something else, and is said by what comes back, comes too.
RESCUED = """
    SELECT x.node_id
      FROM graph_trash x
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND x.chosen <> x.node_id AND x.node_id <> ALL(%(nodes)s)
       AND (EXISTS (SELECT 1 FROM graph_evidence v
                      JOIN graph_nodes n ON n.tenant_id = v.tenant_id
                       AND n.project_id = v.project_id
                       AND n.key = substr(v.part, strpos(v.part, ':') + 1)
                     WHERE v.tenant_id = x.tenant_id AND v.project_id = x.project_id
                       AND v.node_id = x.node_id AND n.id = ANY(%(nodes)s))
            OR EXISTS (SELECT 1 FROM graph_edges e
                        WHERE e.tenant_id = x.tenant_id
                          AND e.project_id = x.project_id
                          AND e.source_id = x.node_id
                          AND e.relation = ANY(%(ties)s)
                          AND e.valid_to IS NULL AND e.target_id = ANY(%(nodes)s)))
"""
LEAVE_TRASH = """
    DELETE FROM graph_trash x
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND x.node_id = ANY(%(nodes)s)
"""
KEYS_OF_NODES = """
    SELECT n.id, n.key FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s)
"""
TOMBSTONES_AMONG = """
    SELECT t.key FROM graph_tombstones t
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND t.key = ANY(%(keys)s)
"""
