"""SQL of emptying the trash: text only, one caller each."""

READ_TEXTS = """
    SELECT n.key, x.record_id
      FROM graph_extracted_texts x JOIN graph_nodes n ON n.id = x.node_id
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND x.node_id = ANY(%(nodes)s)
"""
FORGET_TEXTS = """
    DELETE FROM graph_extracted_texts x
     WHERE x.tenant_id = %(tenant)s AND x.project_id = %(project)s
       AND (x.node_id = ANY(%(nodes)s) OR x.record_id = ANY(%(records)s))
"""
# A record goes with its own node; one whose parts alone were pruned stays. What people
# wrote of nodes and edges goes with these.
OWN_RECORDS = """
    SELECT r.id FROM graph_nodes n
      JOIN graph_records r ON r.id = n.record_id AND r.key = n.key
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s)
    UNION
    SELECT r.id FROM graph_evidence v JOIN graph_records r ON r.id = v.record_id
      LEFT JOIN graph_edges e ON e.id = v.edge_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND r.kind = 'hand'
       AND (v.node_id = ANY(%(nodes)s) OR e.source_id = ANY(%(nodes)s)
            OR e.target_id = ANY(%(nodes)s))
       AND NOT EXISTS (
           SELECT 1 FROM graph_evidence o LEFT JOIN graph_edges f ON f.id = o.edge_id
            WHERE o.tenant_id = v.tenant_id AND o.project_id = v.project_id
              AND o.record_id = r.id
              AND coalesce(o.node_id <> ALL(%(nodes)s),
                           f.source_id <> ALL(%(nodes)s)
                           AND f.target_id <> ALL(%(nodes)s)))
"""
SAID_BY = """
    SELECT v.node_id, v.edge_id FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND (v.record_id = ANY(%(records)s)
            OR v.record_id = ANY(%(read)s) AND v.part = ANY(%(parts)s))
       AND (v.node_id IS NULL OR v.node_id <> ALL(%(nodes)s))
"""
FORGET_RECORDS = """
    DELETE FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.id = ANY(%(records)s)
"""
POSITIONS = """
    SELECT e.source_id, e.target_id, e.position FROM graph_edges e
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.source_id = ANY(%(nodes)s) AND e.target_id <> ALL(%(nodes)s)
       AND e.position IS NOT NULL
"""
BARE_NODES = """
    SELECT n.id FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s) AND n.origin IN ('source', 'extraction')
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = n.tenant_id
                          AND v.project_id = n.project_id AND v.node_id = n.id
                          AND (v.kind <> 'derived' OR n.origin = 'extraction'))
"""
# What was decided of what goes stays known, without what it was about.
DECIDED_ITEMS = """
    SELECT i.id, i.subject FROM graph_review_items i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND (i.node_id = ANY(%(nodes)s) OR i.other_id = ANY(%(nodes)s))
       AND EXISTS (SELECT 1 FROM graph_review_decisions d
                    WHERE d.tenant_id = i.tenant_id AND d.project_id = i.project_id
                      AND d.item_id = i.id)
"""
CLOSE_ITEMS = """
    UPDATE graph_review_items i
       SET node_id = NULL, other_id = NULL, subject = d.subject, fingerprint = '',
           why = '', detail = '{}', state = 'decided', snoozed_until = NULL,
           assigned_to_id = NULL, held_by_id = NULL, held_until = NULL,
           version = i.version + 1, changed_at = %(now)s
      FROM unnest(%(items)s::bigint[], %(subjects)s::text[]) AS d (id, subject)
     WHERE i.id = d.id
"""
FORGET_REASONS = """
    UPDATE graph_review_decisions d SET reason = '', fingerprint = '', before = '{}'
     WHERE d.tenant_id = %(tenant)s AND d.project_id = %(project)s
       AND d.item_id = ANY(%(items)s)
"""
