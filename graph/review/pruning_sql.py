"""SQL of putting nodes and edges away: text only, one caller each."""

from graph.pruned_sql import HASH_OF_NODE

# The parts of what goes, also those it had before, unless they are of something else.
PARTS = """
    SELECT e.target_id, e.source_id
      FROM graph_edges e JOIN graph_nodes n ON n.id = e.source_id
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.target_id = ANY(%(nodes)s) AND e.relation = 'part_of'
       AND n.trashed_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_edges o
                         JOIN graph_nodes whole ON whole.id = o.target_id
                        WHERE o.tenant_id = e.tenant_id
                          AND o.project_id = e.project_id
                          AND o.source_id = n.id AND o.relation = 'part_of'
                          AND o.valid_to IS NULL AND whole.trashed_at IS NULL
                          AND whole.id <> ALL(%(nodes)s))
     ORDER BY e.target_id, e.source_id
"""
# What was read out of texts that all go, or are in the trash already.
CLAIMS = """
    SELECT g.id, c.id
      FROM graph_nodes g
      JOIN graph_evidence v ON v.tenant_id = g.tenant_id
       AND v.project_id = g.project_id AND v.record_id = g.record_id
       AND v.part = 'text:' || g.key
      JOIN graph_nodes c ON c.id = v.node_id AND c.origin = 'extraction'
       AND c.trashed_at IS NULL
     WHERE g.tenant_id = %(tenant)s AND g.project_id = %(project)s
       AND g.id = ANY(%(nodes)s)
       AND NOT EXISTS (
           SELECT 1 FROM graph_evidence o
            WHERE o.tenant_id = c.tenant_id AND o.project_id = c.project_id
              AND o.node_id = c.id
              AND NOT EXISTS (
                  SELECT 1 FROM graph_nodes t
                   WHERE t.tenant_id = o.tenant_id AND t.project_id = o.project_id
                     AND t.key = substr(o.part, 6) AND starts_with(o.part, 'text:')
                     AND (t.trashed_at IS NOT NULL OR t.id = ANY(%(nodes)s))))
     ORDER BY g.id, c.id
"""
# What was merged into nodes stands for nothing else.
MERGED = """
    SELECT k.id, n.id FROM graph_nodes k
      JOIN graph_merges m ON m.tenant_id = k.tenant_id AND m.project_id = k.project_id
       AND m.target = k.key AND m.undone_at IS NULL
      JOIN graph_nodes n ON n.tenant_id = m.tenant_id AND n.project_id = m.project_id
       AND n.key = m.key AND n.trashed_at IS NULL
     WHERE k.tenant_id = %(tenant)s AND k.project_id = %(project)s
       AND k.id = ANY(%(nodes)s)
     ORDER BY k.id, n.id
"""
# Live edges that nobody sees once the nodes are gone.
EDGES_OF_NODES = """
    SELECT e.id FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id AND s.trashed_at IS NULL
      JOIN graph_nodes t ON t.id = e.target_id AND t.trashed_at IS NULL
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND (e.valid_to IS NULL OR e.valid_to > %(now)s)
       AND (e.source_id = ANY(%(nodes)s) OR e.target_id = ANY(%(nodes)s))
"""
# What was tied to the nodes, or is again: it may be left alone without them.
NEIGHBOURS = """
    SELECT DISTINCT o.id FROM graph_edges e
      JOIN graph_nodes o ON o.id IN (e.source_id, e.target_id)
       AND o.id <> ALL(%(nodes)s)
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND (e.source_id = ANY(%(nodes)s) OR e.target_id = ANY(%(nodes)s))
       AND (e.valid_to IS NULL OR e.valid_to > %(now)s)
"""
TRASH_NODES = """
    UPDATE graph_nodes n SET trashed_at = %(now)s
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s) AND n.trashed_at IS NULL
"""
BURY = f"""
    INSERT INTO graph_tombstones AS t
           (tenant_id, project_id, key, content_hash, reason, pruned_at)
    SELECT n.tenant_id, n.project_id, n.key, {HASH_OF_NODE}, %(reason)s, %(now)s
      FROM graph_nodes n LEFT JOIN graph_records r ON r.id = n.record_id
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s)
    ON CONFLICT (tenant_id, project_id, key)
    DO UPDATE SET content_hash = excluded.content_hash, reason = excluded.reason,
                  pruned_at = excluded.pruned_at
"""  # noqa: S608 - ours
BURY_EDGES = """
    INSERT INTO graph_tombstones
           (tenant_id, project_id, key, content_hash, reason, pruned_at)
    SELECT %(tenant)s, %(project)s, d.key, '', %(reason)s, %(now)s
      FROM unnest(%(keys)s::text[]) AS d (key)
    ON CONFLICT (tenant_id, project_id, key) DO NOTHING
    RETURNING key
"""
END_EDGES = """
    UPDATE graph_edges e SET valid_to = %(now)s
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.id = ANY(%(edges)s) AND e.valid_to IS NULL
    RETURNING e.id
"""
# Only where something still says so: what lost its words meanwhile is over.
REOPEN_EDGES = """
    UPDATE graph_edges e SET valid_to = NULL
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.id = ANY(%(edges)s)
       AND EXISTS (SELECT 1 FROM graph_evidence v
                    WHERE v.tenant_id = e.tenant_id AND v.project_id = e.project_id
                      AND v.edge_id = e.id)
    RETURNING e.id
"""
# The texts that said so are read once more: they may say it still.
READ_AGAIN = """
    UPDATE graph_extracted_texts x SET words = ''
      FROM graph_nodes n
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND n.id = x.node_id AND 'text:' || n.key = ANY(%(parts)s)
"""
PROOFS_OF_EDGES = """
    SELECT v.edge_id, s.key, e.relation, t.key, v.quote, v.part
      FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
      JOIN graph_evidence v ON v.tenant_id = e.tenant_id
       AND v.project_id = e.project_id AND v.edge_id = e.id
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.id = ANY(%(edges)s)
"""
# Other items about what is gone leave the queue with it, and come back with it.
WITHDRAW_ITEMS = """
    UPDATE graph_review_items i
       SET state = 'withdrawn', snoozed_until = NULL, version = i.version + 1,
           changed_at = %(now)s, detail = i.detail || '{"pruned": true}'
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND (i.node_id = ANY(%(nodes)s) OR i.other_id = ANY(%(nodes)s))
       AND i.state IN ('open', 'snoozed') AND i.id <> %(item)s
"""
REOPEN_ITEMS = """
    UPDATE graph_review_items i
       SET state = 'open', version = i.version + 1, changed_at = %(now)s,
           detail = i.detail - 'pruned'
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND (i.node_id = ANY(%(nodes)s) OR i.other_id = ANY(%(nodes)s))
       AND i.state = 'withdrawn' AND i.detail @> '{"pruned": true}'
       AND NOT EXISTS (SELECT 1 FROM graph_nodes n
                        WHERE n.id IN (i.node_id, i.other_id)
                          AND n.trashed_at IS NOT NULL)
"""
DROP_EDGE_TOMBSTONES = """
    DELETE FROM graph_tombstones t
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND t.key = ANY(%(keys)s)
"""
