"""SQL of the benchmark of memory: many observations at once, and the naive rule."""

NODES = """
    INSERT INTO graph_nodes (id, tenant_id, project_id, audience_id, key, node_type,
           content, source_kind, origin, occurred_at, valid_from, embedding_model_id)
    SELECT g.id, %(tenant)s, %(project)s, %(audience)s, 'memory:' || g.id, 'fact',
           'Fact ' || g.id, 'memory', 'memory', now(), now(), %(model)s
      FROM generate_series(%(first)s, %(last)s) AS g (id)
"""
OBSERVATIONS = """
    INSERT INTO observations (node_id, tenant_id, project_id, scope_id, owner_id,
           observation_type, words_hash, subject, rationale, who, status, strength,
           counted_at, leaves_at, is_pinned, is_protected, is_shared, origin,
           conversations, left_because, created_at, updated_at)
    SELECT g.id, %(tenant)s, %(project)s, %(scope)s, %(owner)s, 'fact',
           md5(g.id::text), '', '', '', '', 0.06 + 0.9 * (g.id %% 997) / 997.0, 0,
           %(ticks)s + g.id %% 5000, false, false, false, 'rules', 0, '', now(), now()
      FROM generate_series(%(first)s, %(last)s) AS g (id)
"""
# Their words are asked for by nothing that is measured here.
WITHOUT_WORDS = "ALTER TABLE graph_nodes DISABLE TRIGGER USER"
WITH_WORDS = "ALTER TABLE graph_nodes ENABLE TRIGGER USER"
NEXT_NODE = "SELECT coalesce(max(n.id), 0) + 1 FROM graph_nodes n"
CONTINUE_IDS = """
    SELECT setval(pg_get_serial_sequence('graph_nodes', 'id'), %s)
"""
# What every published implementation does at the end of a conversation.
NAIVE = """
    UPDATE observations o
       SET strength = least(1.0, o.strength * CASE WHEN o.node_id = ANY(%s)
                                                   THEN 1.1 ELSE 0.9 END)
     WHERE o.scope_id = %s
"""
