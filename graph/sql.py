"""SQL of vectors and of checks of the graph: text only, one caller each."""

EMBEDDING_BACKLOG = """
    SELECT count(*) FROM graph_nodes n
     WHERE n.embedding_model_id IS NULL AND (%s::bigint IS NULL OR n.project_id = %s)
"""
# By these a vector belongs to its words: a row whose words changed meanwhile is not it.
WORDS = "md5(n.title || chr(1) || n.content || chr(1) || n.context)"
NOT_EMBEDDED = f"""
    SELECT n.id, {WORDS}, n.node_type, n.title, n.content, n.context
      FROM graph_nodes n
     WHERE n.embedding_model_id IS NULL
       AND (%(project)s::bigint IS NULL OR n.project_id = %(project)s)
     ORDER BY n.id LIMIT %(limit)s
"""  # noqa: S608
# Nothing is written once another model is active: its vectors have another size.
SET_VECTORS = f"""
    UPDATE graph_nodes n
       SET embedding = d.vector::vector, embedding_model_id = %(model)s
      FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(vectors)s::text[])
           AS d (id, words, vector)
     WHERE n.id = d.id AND n.embedding_model_id IS NULL AND {WORDS} = d.words
       AND (SELECT m.is_active FROM graph_embedding_models m WHERE m.id = %(model)s)
"""  # noqa: S608
ACCEPTED = """
    DELETE FROM graph_refused_texts r
     WHERE r.model_id = %(model)s AND (r.tenant_id, r.project_id, r.node_id) IN (
           SELECT n.tenant_id, n.project_id, n.id FROM graph_nodes n
            WHERE n.id = ANY(%(ids)s))
"""
REFUSED = f"""
    INSERT INTO graph_refused_texts AS r
           (tenant_id, project_id, node_id, model_id, reason, refused_at)
    SELECT n.tenant_id, n.project_id, n.id, %(model)s, d.reason, now()
      FROM unnest(%(ids)s::bigint[], %(words)s::text[], %(reasons)s::text[])
           AS d (id, words, reason)
      JOIN graph_nodes n ON n.id = d.id AND {WORDS} = d.words
     WHERE d.reason <> ''
    ON CONFLICT (tenant_id, project_id, node_id, model_id)
    DO UPDATE SET reason = excluded.reason, refused_at = excluded.refused_at
"""  # noqa: S608
RETRY_REFUSED = """
    WITH again (node_id) AS (
        DELETE FROM graph_refused_texts r
         USING graph_embedding_models m
         WHERE m.id = r.model_id AND m.is_active RETURNING r.node_id
    )
    UPDATE graph_nodes n SET embedding_model_id = NULL
      FROM again WHERE n.id = again.node_id AND n.embedding IS NULL
"""
# What memory wrote is proven by its own rows, also without a record: `memory` closes
# what it took from records once they no longer say it.
NODES_UNPROVEN = """
    SELECT n.key FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.valid_to IS NULL
       AND n.trashed_at IS NULL AND n.origin <> 'memory'
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = n.tenant_id
                          AND v.project_id = n.project_id AND v.node_id = n.id)
"""
EDGES_UNPROVEN = """
    SELECT s.key || ' -' || e.relation || '- ' || t.key FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id JOIN graph_nodes t ON t.id = e.target_id
     WHERE e.tenant_id = %s AND e.project_id = %s AND e.valid_to IS NULL
       AND e.origin <> 'memory'
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = e.tenant_id
                          AND v.project_id = e.project_id AND v.edge_id = e.id)
"""

IS_ACTIVE = """
    SELECT EXISTS (SELECT FROM graph_embedding_models m WHERE m.id = %s AND m.is_active)
"""

# What the audiences of a project are made of.
UNIONS = """
    SELECT p.to_audience_id, p.from_audience_id
      FROM audience_parts p JOIN audiences a ON a.id = p.from_audience_id
     WHERE a.tenant_id = %(tenant)s AND a.project_id = %(project)s
       AND a.combines = 'any'
"""
PUBLIC_AUDIENCES = """
    SELECT a.id FROM audiences a
     WHERE a.tenant_id = %(tenant)s AND a.project_id = %(project)s
       AND a.kind = 'public' AND a.combines = ''
"""
