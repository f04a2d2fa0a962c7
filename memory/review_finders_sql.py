"""SQL of what memory tells the review: text only, one caller each."""

from __future__ import annotations

from graph.models.node import CLAIMS as CLAIM_TYPES

# As the index has it: the planner has to see the names.
_CLAIMS = ", ".join(f"'{name}'" for name in CLAIM_TYPES)

CITATIONS = """
    SELECT n.id, count(DISTINCT c.turn_id)
      FROM graph_nodes n JOIN citations c ON c.node_id = n.id
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.id = ANY(%s)
     GROUP BY n.id
"""
# What memory holds now, whoever's it is, and the decisions that texts say.
_SAID = """
           n.key, coalesce(o.observation_type, n.node_type), n.content,
           coalesce(n.valid_from, n.occurred_at), n.audience_id
"""
_MEMORY = """
      LEFT JOIN observations o ON o.node_id = n.id
      LEFT JOIN memory_scopes s ON s.id = o.scope_id
"""
_IS_HELD = """
           n.trashed_at IS NULL AND n.gone_at IS NULL
       AND (n.valid_to IS NULL OR n.valid_to > %(now)s) AND n.content <> ''
       AND n.node_type IN ('commitment', 'decision', 'fact', 'insight', 'pattern',
                           'risk')
       AND (o.node_id IS NULL AND n.node_type = 'decision'
            OR o.left_at IS NULL AND o.superseded_by_id IS NULL
               AND (o.leaves_at IS NULL OR o.leaves_at > s.ticks)
               AND o.status NOT IN ('done', 'dropped'))
"""
# A page of claims by their own index, those that are not held among them as an id
# alone: the planner, which expects few that are, would sort all of them for each page.
CLAIMS = f"""
    WITH page AS MATERIALIZED (
        SELECT n.id FROM graph_nodes n
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.node_type IN ({_CLAIMS}) AND n.id > %(after)s
         ORDER BY n.id LIMIT %(most)s
    )
    SELECT page.id, held.*
      FROM page LEFT JOIN LATERAL (
           SELECT {_SAID} FROM graph_nodes n {_MEMORY}
            WHERE n.id = page.id AND {_IS_HELD}) held ON true
     ORDER BY page.id
"""  # noqa: S608
THESE_CLAIMS = f"""
    SELECT n.id, {_SAID} FROM graph_nodes n {_MEMORY}
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND {_IS_HELD} AND n.id = ANY(%(nodes)s)
"""  # noqa: S608
