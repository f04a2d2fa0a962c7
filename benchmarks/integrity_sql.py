"""A made-up graph for the checks, filled in the database; text only."""

RECORDS = """
    INSERT INTO graph_records (tenant_id, project_id, audience_id, source_id, key, kind,
           body, content_hash, raw_sha256, permalink, version, counted, moved_to,
           first_fetched_at)
    SELECT %(tenant)s, %(project)s, %(audience)s, %(source)s, 'made-up:' || g, 'message',
           '', md5(g::text), '', '', 0, true, '', now()
      FROM generate_series(1, %(messages)s) AS g
"""
MESSAGES = """
    INSERT INTO graph_nodes (tenant_id, project_id, audience_id, key, node_type, content,
           source_kind, record_id, created_at, updated_at, embedding_model_id)
    SELECT r.tenant_id, r.project_id, r.audience_id, r.key, 'message',
           'Message ' || r.id || ' says ' || r.content_hash, 'slack', r.id, now(), now(),
           %(model)s
      FROM graph_records r WHERE r.project_id = %(project)s
"""
# Two words of letters drawn by a hash: a million of them are mostly different.
NAMES = """
    INSERT INTO graph_nodes (tenant_id, project_id, audience_id, key, node_type, title,
           origin, created_at, updated_at, embedding_model_id)
    SELECT %(tenant)s, %(project)s, %(audience)s, d.name, d.type, d.name, 'extraction',
           now(), now(), %(model)s
      FROM (SELECT translate(left(md5(g::text), 7), '0123456789', 'ghijklmnop') || ' '
                   || translate(left(md5('b' || g), 6), '0123456789', 'qrstuvwxyz')
                   AS name,
                   CASE g %% 2 WHEN 0 THEN 'technology' ELSE 'pattern' END AS type
              FROM generate_series(1, %(names)s) AS g) d
    ON CONFLICT DO NOTHING
"""
MENTIONS = """
    INSERT INTO graph_edges (tenant_id, project_id, audience_id, source_id, relation,
           target_id, origin, created_at)
    SELECT m.tenant_id, m.project_id, m.audience_id, m.id, 'mentions', n.id,
           'extraction', now()
      FROM (SELECT o.id, o.tenant_id, o.project_id, o.audience_id,
                   row_number() OVER (ORDER BY o.id) AS place
              FROM graph_nodes o
             WHERE o.project_id = %(project)s AND o.node_type = 'message') m
     CROSS JOIN generate_series(1, 3) AS g
      JOIN (SELECT o.id, row_number() OVER (ORDER BY o.id) AS place
              FROM graph_nodes o
             WHERE o.project_id = %(project)s AND o.origin = 'extraction') n
        ON n.place = 1 + (m.place * 7 + g * 104729) %% (
               SELECT count(*) FROM graph_nodes o
                WHERE o.project_id = %(project)s AND o.origin = 'extraction')
    ON CONFLICT DO NOTHING
"""
CHANNELS = """
    INSERT INTO graph_nodes (tenant_id, project_id, audience_id, key, node_type, title,
           record_id, created_at, updated_at, embedding_model_id)
    SELECT %(tenant)s, %(project)s, %(audience)s, 'channel:' || g, 'channel',
           'channel ' || g, (SELECT min(r.id) FROM graph_records r
                              WHERE r.project_id = %(project)s),
           now(), now(), %(model)s
      FROM generate_series(0, 99) AS g
"""
POSTED = """
    INSERT INTO graph_edges (tenant_id, project_id, audience_id, source_id, relation,
           target_id, position, origin, created_at)
    SELECT n.tenant_id, n.project_id, n.audience_id, n.id, 'posted_in', c.id, n.id,
           'source', now()
      FROM graph_nodes n
      JOIN graph_nodes c ON c.project_id = n.project_id
       AND c.key = 'channel:' || n.id %% 100
     WHERE n.project_id = %(project)s AND n.node_type = 'message'
"""
FOLLOWS = """
    INSERT INTO graph_edges (tenant_id, project_id, audience_id, source_id, relation,
           target_id, scope_id, origin, created_at)
    SELECT d.tenant_id, d.project_id, d.audience_id, d.source_id, 'follows', d.previous,
           d.target_id, 'source', now()
      FROM (SELECT e.tenant_id, e.project_id, e.audience_id, e.source_id, e.target_id,
                   lag(e.source_id) OVER (PARTITION BY e.target_id ORDER BY e.position)
                   AS previous
              FROM graph_edges e
             WHERE e.project_id = %(project)s AND e.relation = 'posted_in') d
     WHERE d.previous IS NOT NULL
"""
EVIDENCE_OF_NODES = """
    INSERT INTO graph_evidence (tenant_id, project_id, record_id, node_id)
    SELECT n.tenant_id, n.project_id,
           coalesce(n.record_id, (SELECT min(r.id) FROM graph_records r
                                   WHERE r.project_id = %(project)s)), n.id
      FROM graph_nodes n WHERE n.project_id = %(project)s
"""
EVIDENCE_OF_EDGES = """
    INSERT INTO graph_evidence (tenant_id, project_id, record_id, edge_id)
    SELECT e.tenant_id, e.project_id, n.record_id, e.id
      FROM graph_edges e JOIN graph_nodes n ON n.id = e.source_id
     WHERE e.project_id = %(project)s
"""
FILL = (
    RECORDS,
    MESSAGES,
    NAMES,
    CHANNELS,
    MENTIONS,
    POSTED,
    FOLLOWS,
    EVIDENCE_OF_NODES,
    EVIDENCE_OF_EDGES,
)
COUNTS = """
    SELECT (SELECT count(*) FROM graph_nodes), (SELECT count(*) FROM graph_edges),
           (SELECT count(*) FROM graph_evidence)
"""
# As every check has to: each row of the three tables once.
READ_ALL = """
    SELECT (SELECT count(n.updated_at) FROM graph_nodes n),
           (SELECT sum(e.weight) FROM graph_edges e),
           (SELECT sum(v.weight) FROM graph_evidence v)
"""
