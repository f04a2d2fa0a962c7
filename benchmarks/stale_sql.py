"""SQL of the benchmark of the scan: a project of any size at once."""

# Raised when the project that is filled is another.
VERSION = 1
EMPTY_QUEUE = (
    "DELETE FROM graph_review_decisions",
    "DELETE FROM graph_review_items",
    "VACUUM (ANALYZE) graph_review_items",
)

RECORDS = """
    INSERT INTO graph_records (id, tenant_id, project_id, audience_id, source_id, key,
           kind, body, content_hash, raw_sha256, permalink, version, counted, moved_to,
           first_fetched_at)
    OVERRIDING SYSTEM VALUE
    SELECT g.id, %(tenant)s, %(project)s, %(audience)s, %(source)s, 'record:' || g.id,
           'message', '', repeat('0', 64), '', '', 0, true, '', now()
      FROM generate_series(%(first)s, %(last)s) AS g (id)
"""
# Of ten nodes two are claims, one of them beyond every threshold; one in a thousand is
# gone at its source. They are as wide as text and a vector make them.
NODES = """
    INSERT INTO graph_nodes (id, tenant_id, project_id, audience_id, key, node_type,
           content, context, source_kind, origin, record_id, occurred_at,
           last_evidence_at, gone_at, embedding_model_id)
    OVERRIDING SYSTEM VALUE
    SELECT g.id, %(tenant)s, %(project)s, %(audience)s, 'node:' || g.id,
           CASE g.id %% 10 WHEN 0 THEN (ARRAY['decision', 'preference', 'blocker',
                                               'technology'])[1 + g.id / 10 %% 4]
                           WHEN 1 THEN 'decision' ELSE 'message' END,
           'On matter ' || md5(g.id::text) || ' we settled in the end, as was asked.',
           repeat(md5(g.id::text), 40), 'slack',
           CASE WHEN g.id %% 10 < 2 THEN 'extraction' ELSE 'source' END,
           %(from)s + (g.id - %(from)s) / 10,
           CASE g.id %% 10 WHEN 0 THEN %(now)s::timestamptz - interval '9600 hours'
                           ELSE %(now)s::timestamptz - interval '240 hours' END,
           NULL, CASE WHEN g.id %% 1000 = 5 THEN %(now)s::timestamptz END, %(model)s
      FROM generate_series(%(first)s, %(last)s) AS g (id)
"""
EVIDENCE = """
    INSERT INTO graph_evidence (tenant_id, project_id, record_id, node_id, kind, quote)
    SELECT n.tenant_id, n.project_id, n.record_id, n.id,
           CASE n.origin WHEN 'source' THEN 'said' ELSE 'derived' END, n.content
      FROM graph_nodes n
     WHERE n.project_id = %(project)s AND n.id BETWEEN %(first)s AND %(last)s
"""
# Two edges a claim.
EDGES = """
    INSERT INTO graph_edges (tenant_id, project_id, audience_id, source_id, relation,
           target_id)
    SELECT n.tenant_id, n.project_id, n.audience_id, n.id + 2 + k.step, 'mentions', n.id
      FROM graph_nodes n CROSS JOIN (VALUES (0), (1)) AS k (step)
     WHERE n.project_id = %(project)s AND n.id BETWEEN %(first)s AND %(last)s - 10
       AND n.id %% 10 < 2
"""
WITHOUT_TRIGGERS = "ALTER TABLE graph_nodes DISABLE TRIGGER USER"
WITH_TRIGGERS = "ALTER TABLE graph_nodes ENABLE TRIGGER USER"
NEXT = """
    SELECT greatest((SELECT coalesce(max(n.id), 0) FROM graph_nodes n),
                    (SELECT coalesce(max(r.id), 0) FROM graph_records r)) / 1000 * 1000
           + 1000
"""
CONTINUE_IDS = """
    SELECT setval(pg_get_serial_sequence('graph_nodes', 'id'), %(next)s),
           setval(pg_get_serial_sequence('graph_records', 'id'), %(next)s)
"""
