"""SQL of path finding: text only, one caller; `{allowed}` is a compiled queryset."""

# One hop from a set of nodes, both directions, each by its own index: the best edges
# of a node first, what the caller may not see dropped before the cap.
HOPS = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed})
    SELECT near.id, hop.far_id, hop.edge_id
      FROM unnest(%s::bigint[]) AS near (id) CROSS JOIN LATERAL (
        (SELECT e.target_id AS far_id, e.id AS edge_id, e.weight FROM graph_edges e
          WHERE e.source_id = near.id
            AND e.tenant_id = %s AND e.project_id = %s
            AND (%s::bigint[] IS NULL OR e.audience_id = ANY(%s::bigint[]))
            AND (%s::text[] IS NULL OR e.relation = ANY(%s::text[]))
            AND (e.valid_from IS NULL OR e.valid_from <= %s)
            AND (e.valid_to IS NULL OR e.valid_to > %s)
            AND e.target_id IN (SELECT allowed.id FROM allowed)
          ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id LIMIT %s)
        UNION ALL
        (SELECT e.source_id, e.id, e.weight FROM graph_edges e
          WHERE e.target_id = near.id
            AND e.tenant_id = %s AND e.project_id = %s
            AND (%s::bigint[] IS NULL OR e.audience_id = ANY(%s::bigint[]))
            AND (%s::text[] IS NULL OR e.relation = ANY(%s::text[]))
            AND (e.valid_from IS NULL OR e.valid_from <= %s)
            AND (e.valid_to IS NULL OR e.valid_to > %s)
            AND e.source_id IN (SELECT allowed.id FROM allowed)
          ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id LIMIT %s)
      ) hop
     WHERE near.id IN (SELECT allowed.id FROM allowed)
     ORDER BY hop.weight DESC, hop.edge_id, near.id LIMIT %s
"""
