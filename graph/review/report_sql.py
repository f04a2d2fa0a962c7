"""SQL of the report for those who decide outside."""

EVIDENCE = """
    WITH numbered (node_id, source, record, permalink, quote, said_at, place) AS (
        SELECT e.node_id, s.name, r.key, r.permalink, e.quote, r.occurred_at,
               row_number() OVER (
                   PARTITION BY e.node_id
                   ORDER BY r.occurred_at DESC NULLS LAST, s.name COLLATE "C",
                            r.key COLLATE "C", e.id)
          FROM graph_evidence e
          JOIN graph_records r ON r.id = e.record_id
          JOIN connections_source s ON s.id = r.source_id
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.node_id = ANY(%(nodes)s)
           AND (%(everything)s OR r.audience_id = ANY(%(audiences)s))
    )
    SELECT numbered.node_id, numbered.source, numbered.record, numbered.permalink,
           numbered.quote, numbered.said_at
      FROM numbered WHERE numbered.place <= %(most)s
     ORDER BY numbered.node_id, numbered.place
"""
