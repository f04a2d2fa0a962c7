"""SQL of what memory tells the review: text only, one caller each."""

from __future__ import annotations

CITATIONS = """
    SELECT n.id, count(DISTINCT c.turn_id)
      FROM graph_nodes n JOIN citations c ON c.node_id = n.id
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.id = ANY(%s)
     GROUP BY n.id
"""
# What memory holds now, whoever's it is, and the decisions that texts say.
_HELD = """
    SELECT n.id, n.key, coalesce(o.observation_type, n.node_type), n.content,
           coalesce(n.valid_from, n.occurred_at), n.audience_id
      FROM graph_nodes n
      LEFT JOIN observations o ON o.node_id = n.id
      LEFT JOIN memory_scopes s ON s.id = o.scope_id
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL AND n.gone_at IS NULL
       AND (n.valid_to IS NULL OR n.valid_to > %(now)s) AND n.content <> ''
       AND n.node_type IN ('commitment', 'decision', 'fact', 'insight', 'pattern',
                           'risk')
       AND (o.node_id IS NULL AND n.node_type = 'decision'
            OR o.left_at IS NULL AND o.superseded_by_id IS NULL
               AND (o.leaves_at IS NULL OR o.leaves_at > s.ticks)
               AND o.status NOT IN ('done', 'dropped'))
"""
CLAIMS = f"{_HELD} AND n.id > %(after)s ORDER BY n.id LIMIT %(most)s"
THESE_CLAIMS = f"{_HELD} AND n.id = ANY(%(nodes)s)"
