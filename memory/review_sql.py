"""SQL of what memory and answers have to do with a review: text only."""

# What was remembered because of nodes, and of nothing that stays. What a person wrote
# by hand stands on their word.
RESTING = """
    SELECT e.target_id, o.node_id
      FROM graph_edges e
      JOIN observations o ON o.node_id = e.source_id AND o.origin <> 'hand'
      JOIN graph_nodes m ON m.id = o.node_id AND m.trashed_at IS NULL
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.target_id = ANY(%(nodes)s) AND e.relation = 'supported_by'
       AND e.valid_to IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_edges s
                         JOIN graph_nodes t ON t.id = s.target_id
                        WHERE s.tenant_id = e.tenant_id
                          AND s.project_id = e.project_id
                          AND s.source_id = o.node_id AND s.relation = 'supported_by'
                          AND s.valid_to IS NULL AND t.trashed_at IS NULL
                          AND t.id <> ALL(%(nodes)s))
     ORDER BY e.target_id, o.node_id
"""
# What rests on nodes and stays: on something else besides, or on its author's word.
RESTING_TOO = """
    SELECT DISTINCT m.id, m.audience_id
      FROM graph_edges e
      JOIN observations o ON o.node_id = e.source_id AND o.left_at IS NULL
       AND o.superseded_by_id IS NULL
      JOIN graph_nodes m ON m.id = o.node_id AND m.trashed_at IS NULL
       AND m.valid_to IS NULL AND m.id <> ALL(%(nodes)s)
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.target_id = ANY(%(nodes)s) AND e.relation = 'supported_by'
       AND e.valid_to IS NULL
     ORDER BY m.id
"""
ANSWERS_CITING = """
    SELECT DISTINCT t.id, c.audience_id
      FROM citations s
      JOIN turns t ON t.id = s.turn_id
      JOIN conversations c ON c.id = t.conversation_id
     WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
       AND s.node_id = ANY(%(nodes)s)
     ORDER BY t.id DESC
"""
