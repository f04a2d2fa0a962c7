"""SQL of the pages of an export."""

NODES = """
    SELECT n.id FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL
       AND (%(memory)s OR n.origin <> 'memory')
       AND (%(moment)s::timestamptz IS NULL
            OR ((n.valid_from IS NULL OR n.valid_from <= %(moment)s)
                AND (n.valid_to IS NULL OR n.valid_to > %(moment)s)))
     ORDER BY n.key COLLATE "C"
"""
DESCRIBED = """
    SELECT n.id, n.key, n.node_type, n.title, n.content, n.context, n.language, n.tags,
           n.source_kind, n.origin, n.occurred_at, n.valid_from, n.valid_to,
           n.confirmed_at, n.last_evidence_at, n.gone_at, a.kind AS audience_kind,
           a.title AS audience_title, r.permalink
      FROM graph_nodes n
      JOIN audiences a ON a.id = n.audience_id
      LEFT JOIN graph_records r ON r.id = n.record_id
     WHERE n.id = ANY(%(nodes)s)
     ORDER BY n.key COLLATE "C"
"""
EVIDENCE = """
    WITH numbered (node_id, source, record, permalink, quote, kind, place) AS (
        SELECT e.node_id, coalesce(s.name, ''), coalesce(r.key, ''),
               coalesce(r.permalink, ''), e.quote, e.kind,
               row_number() OVER (
                   PARTITION BY e.node_id
                   ORDER BY r.occurred_at DESC NULLS LAST, s.name COLLATE "C",
                            r.key COLLATE "C", e.part COLLATE "C",
                            e.via_source COLLATE "C", e.via_target COLLATE "C")
          FROM graph_evidence e
          LEFT JOIN graph_records r ON r.id = e.record_id
          LEFT JOIN connections_source s ON s.id = r.source_id
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.node_id = ANY(%(nodes)s)
    )
    SELECT numbered.node_id, numbered.source, numbered.record, numbered.permalink,
           numbered.quote, numbered.kind
      FROM numbered WHERE numbered.place <= %(most)s
     ORDER BY numbered.node_id, numbered.place
"""
NEIGHBOURS = """
    WITH sides (own, other, is_out, relation, valid_from, valid_to, occurred_at,
                origin) AS (
        SELECT e.source_id, e.target_id, true, e.relation, e.valid_from, e.valid_to,
               e.occurred_at, e.origin
          FROM graph_edges e
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.source_id = ANY(%(nodes)s)
        UNION ALL
        SELECT e.target_id, e.source_id, false, e.relation, e.valid_from, e.valid_to,
               e.occurred_at, e.origin
          FROM graph_edges e
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.target_id = ANY(%(nodes)s)
    ), numbered (own, is_out, relation, key, node_type, title, valid_to, place, many) AS (
        SELECT s.own, s.is_out, s.relation, n.key, n.node_type,
               left(coalesce(nullif(n.title, ''), n.content), 90), s.valid_to,
               row_number() OVER (
                   PARTITION BY s.own, s.is_out, s.relation
                   ORDER BY s.occurred_at DESC NULLS LAST, n.key COLLATE "C",
                            s.valid_to DESC NULLS FIRST),
               count(*) OVER (PARTITION BY s.own, s.is_out, s.relation)
          FROM sides s JOIN graph_nodes n ON n.id = s.other
         WHERE n.trashed_at IS NULL
           AND (%(memory)s OR (n.origin <> 'memory' AND s.origin <> 'memory'))
           AND (%(moment)s::timestamptz IS NULL
                OR ((s.valid_from IS NULL OR s.valid_from <= %(moment)s)
                    AND (s.valid_to IS NULL OR s.valid_to > %(moment)s)
                    AND (n.valid_from IS NULL OR n.valid_from <= %(moment)s)
                    AND (n.valid_to IS NULL OR n.valid_to > %(moment)s)))
    )
    SELECT numbered.own, numbered.is_out, numbered.relation, numbered.key,
           numbered.node_type, numbered.title, numbered.valid_to, numbered.many
      FROM numbered WHERE numbered.place <= %(most)s
     ORDER BY numbered.own, numbered.is_out DESC, numbered.relation COLLATE "C",
              numbered.place
"""
