"""SQL of what an erasure would take along: text only, one caller each."""

COUNTS = """
    WITH going (id) AS MATERIALIZED (
        SELECT r.id FROM graph_records r
         WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
           AND (r.source_id = %(source)s OR r.id = ANY(%(records)s))
    ), proof (id, node_id, edge_id, kind) AS MATERIALIZED (
        SELECT v.id, v.node_id, v.edge_id, v.kind FROM graph_evidence v
          JOIN going g ON g.id = v.record_id
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
    ), of_node (node_id, is_alone) AS MATERIALIZED (
        SELECT DISTINCT n.id, NOT EXISTS (
               SELECT 1 FROM graph_evidence o
                WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
                  AND o.node_id = n.id AND (o.kind <> 'derived' OR n.origin <> 'source')
                  AND NOT EXISTS (SELECT 1 FROM going g WHERE g.id = o.record_id))
          FROM proof p JOIN graph_nodes n ON n.id = p.node_id
    ), of_edge (edge_id, is_alone) AS (
        SELECT DISTINCT p.edge_id, NOT EXISTS (
               SELECT 1 FROM graph_evidence o
                WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
                  AND o.edge_id = p.edge_id
                  AND NOT EXISTS (SELECT 1 FROM going g WHERE g.id = o.record_id))
          FROM proof p WHERE p.edge_id IS NOT NULL
    )
    SELECT 'graph_records', count(*) FROM going
    UNION ALL SELECT 'graph_evidence', count(*) FROM proof
    UNION ALL SELECT 'graph_nodes', count(*) FROM of_node o WHERE o.is_alone
    UNION ALL SELECT 'graph_nodes kept', count(*) FROM of_node o WHERE NOT o.is_alone
    UNION ALL SELECT 'graph_edges', count(*) FROM of_edge o WHERE o.is_alone
    UNION ALL SELECT 'graph_edges kept', count(*) FROM of_edge o WHERE NOT o.is_alone
"""
SAMPLE = """
    WITH numbered (key, body, raw, words, place, total) AS (
        SELECT r.key, r.body, r.raw_sha256, r.content_hash,
               row_number() OVER (ORDER BY r.key), count(*) OVER ()
          FROM graph_records r
         WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
           AND r.source_id = %(source)s
    )
    SELECT d.key, d.body, d.raw, d.words FROM numbered d
     WHERE d.place %% greatest(1, d.total / %(most)s) = 0
     ORDER BY d.place LIMIT %(most)s
"""
SAID_ELSEWHERE = """
    SELECT p.text FROM unnest(%(texts)s::text[]) AS p (text)
     WHERE EXISTS (SELECT 1 FROM graph_records r
                    WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
                      AND r.source_id <> %(source)s
                      AND (strpos(lower(r.body), lower(p.text)) > 0
                           OR r.raw_sha256 = p.text OR r.content_hash = p.text
                           OR strpos(r.key, p.text) > 0))
        OR EXISTS (SELECT 1 FROM graph_pending_edges w
                     JOIN graph_records r ON r.id = w.record_id
                    WHERE w.tenant_id = %(tenant)s AND w.project_id = %(project)s
                      AND r.source_id <> %(source)s
                      AND p.text IN (w.source_key, w.target_key))
        OR EXISTS (SELECT 1 FROM graph_evidence v JOIN graph_edges e ON e.id = v.edge_id
                     JOIN graph_records r ON r.id = v.record_id
                     JOIN graph_nodes n ON n.id IN (e.source_id, e.target_id)
                    WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
                      AND n.key = p.text AND r.source_id <> %(source)s
                      AND v.kind = 'said')
"""
VECTORS_OF_SAMPLE = """
    WITH sampled (vector) AS MATERIALIZED (
        SELECT DISTINCT n.embedding FROM graph_nodes n
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.key = ANY(%(keys)s) AND n.embedding IS NOT NULL
    )
    SELECT s.vector::text FROM sampled s
     WHERE NOT EXISTS (
           SELECT 1 FROM graph_nodes n
             LEFT JOIN graph_records r ON r.id = n.record_id
            WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
              AND n.embedding = s.vector
              AND r.source_id IS DISTINCT FROM %(source)s)
"""
# Identities of others one of whose names has the word.
BEARERS = """
    SELECT count(*) FROM graph_identities i
     WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
       AND i.key <> ALL(%(keys)s)
       AND EXISTS (SELECT 1 FROM unnest(i.names) AS b (name)
                    WHERE b.name ~* %(pattern)s)
"""
# Records that say it otherwise than in a whole name.
RECORDS_NAMING = """
    SELECT count(*) FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.id <> ALL(%(going)s) AND r.body ~ %(pattern)s
       AND regexp_replace(r.body, %(wholes)s, '', 'gi') ~ %(pattern)s
"""
