"""SQL of a node's timeline: text only; `{allowed}` is a compiled queryset of nodes."""

# Each kind of moment has ids of its own, so (at, kind, id) is the place of a row and
# a page goes on from there.
_SEEN = """
    e.tenant_id = %(tenant)s AND e.project_id = %(project)s
    AND (%(audiences)s::bigint[] IS NULL OR e.audience_id = ANY(%(audiences)s::bigint[]))
    AND (%(relations)s::text[] IS NULL OR e.relation = ANY(%(relations)s::text[]))
"""
_LIVE = """
    (e.valid_from IS NULL OR e.valid_from <= %(live)s)
    AND (e.valid_to IS NULL OR e.valid_to > %(live)s)
"""
_TIMELINE = """
    WITH allowed (id) AS NOT MATERIALIZED ({{allowed}}),
    self (id, record_id, occurred_at, valid_from, valid_to, confirmed_at, gone_at) AS (
        SELECT n.id, n.record_id, n.occurred_at, n.valid_from, n.valid_to,
               n.confirmed_at, n.gone_at
          FROM graph_nodes n
         WHERE n.id = %(node)s AND n.id IN (SELECT allowed.id FROM allowed)
    ), tie (edge_id, far_id, relation, forward, said, valid_from, valid_to, is_live) AS (
        SELECT e.id, e.target_id, e.relation, true, e.occurred_at, e.valid_from,
               e.valid_to, {live}
          FROM graph_edges e
         WHERE e.source_id IN (SELECT self.id FROM self) AND {seen}
        UNION ALL
        SELECT e.id, e.source_id, e.relation, false, e.occurred_at, e.valid_from,
               e.valid_to, {live}
          FROM graph_edges e
         WHERE e.target_id IN (SELECT self.id FROM self)
           AND e.target_id <> e.source_id AND {seen}
    ), near (edge_id, far_id, relation, forward, said, valid_from, valid_to, is_live) AS (
        SELECT tie.edge_id, tie.far_id, tie.relation, tie.forward,
               coalesce(n.occurred_at, tie.said), tie.valid_from, tie.valid_to,
               tie.is_live
          FROM tie JOIN graph_nodes n ON n.id = tie.far_id
         WHERE n.id IN (SELECT allowed.id FROM allowed)
    ), moment (at, kind, id, far_id, relation, forward) AS (
        SELECT own.at, own.kind, own.id, own.id, '', true
          FROM (SELECT self.id, 'said' AS kind, self.occurred_at AS at FROM self
                UNION ALL SELECT self.id, 'valid', self.valid_from FROM self
                UNION ALL SELECT self.id, 'ended', self.valid_to FROM self
                UNION ALL SELECT self.id, 'confirmed', self.confirmed_at FROM self
                UNION ALL SELECT self.id, 'gone', self.gone_at FROM self) own
         WHERE %(relations)s::text[] IS NULL
        UNION ALL
        SELECT near.said, 'item', near.edge_id, near.far_id, near.relation, near.forward
          FROM near WHERE near.is_live AND near.far_id NOT IN (SELECT self.id FROM self)
        UNION ALL
        SELECT near.valid_from, 'edge_began', near.edge_id, near.far_id, near.relation,
               near.forward
          FROM near
        UNION ALL
        SELECT near.valid_to, 'edge_ended', near.edge_id, near.far_id, near.relation,
               near.forward
          FROM near
        UNION ALL
        SELECT coalesce(r.occurred_at, r.first_fetched_at), 'evidence', v.id, self.id,
               '', true
          FROM self JOIN graph_evidence v ON v.node_id = self.id
          JOIN graph_records r ON r.id = v.record_id
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
           AND r.id IS DISTINCT FROM self.record_id
           AND (%(audiences)s::bigint[] IS NULL
                OR r.audience_id = ANY(%(audiences)s::bigint[]))
           AND %(relations)s::text[] IS NULL
           AND NOT EXISTS (
               SELECT 1 FROM graph_nodes t
                WHERE t.tenant_id = r.tenant_id AND t.project_id = r.project_id
                  AND t.record_id = r.id AND t.trashed_at IS NOT NULL
                  AND t.key IN (r.key, substr(v.part, strpos(v.part, ':') + 1)))
    )
    SELECT moment.at, moment.kind, moment.id, moment.far_id, moment.relation,
           moment.forward
      FROM moment
     WHERE moment.at IS NOT NULL
       AND (%(as_of)s::timestamptz IS NULL OR moment.at <= %(as_of)s)
       AND (%(at)s::timestamptz IS NULL
            OR (moment.at, moment.kind COLLATE "C", moment.id)
               {{after}} (%(at)s, %(kind)s, %(id)s))
     ORDER BY moment.at {{order}}, moment.kind COLLATE "C" {{order}}, moment.id {{order}}
     LIMIT %(limit)s
"""

TIMELINE = _TIMELINE.format(live=_LIVE, seen=_SEEN)
