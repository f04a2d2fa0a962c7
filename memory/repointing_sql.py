"""SQL of citations and proofs of merged nodes: text only, one caller each."""

# A citation keeps the title and the quote it was shown with; its key finds the node.
CITE = """
    UPDATE citations c SET node_id = d.into_id, key = k.key
      FROM (SELECT o.id, o.node_id AS was, o.key AS was_key, m.into_id
              FROM unnest(%(nodes)s::bigint[], %(into)s::bigint[])
                   AS m (node_id, into_id)
              JOIN citations o ON o.node_id = m.node_id) d
      JOIN graph_nodes k ON k.id = d.into_id AND k.tenant_id = %(tenant)s
       AND k.project_id = %(project)s
     WHERE c.id = d.id
    RETURNING c.id, d.was, d.was_key
"""
CITE_AS_BEFORE = """
    UPDATE citations c SET node_id = d.node_id, key = d.key
      FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) AS d (id, node_id, key)
      JOIN graph_nodes n ON n.id = d.node_id
     WHERE c.id = d.id
"""
# What an observation rests on is named by its key in the part of the proof.
NAME_PROOFS = """
    UPDATE graph_evidence v SET part = 'memory:' || k.key
      FROM unnest(%(nodes)s::bigint[], %(into)s::bigint[]) AS m (node_id, into_id)
      JOIN graph_nodes n ON n.id = m.node_id
      JOIN graph_nodes k ON k.id = m.into_id
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.kind = 'derived' AND v.part = 'memory:' || n.key
       AND NOT EXISTS (
           SELECT 1 FROM graph_evidence o
            WHERE o.tenant_id = v.tenant_id AND o.project_id = v.project_id
              AND o.node_id IS NOT DISTINCT FROM v.node_id
              AND o.edge_id IS NOT DISTINCT FROM v.edge_id
              AND o.record_id = v.record_id AND o.part = 'memory:' || k.key)
    RETURNING v.id, 'memory:' || n.key
"""
NAME_PROOFS_AS_BEFORE = """
    UPDATE graph_evidence v SET part = d.part
      FROM unnest(%s::bigint[], %s::text[]) AS d (id, part)
     WHERE v.id = d.id
"""
