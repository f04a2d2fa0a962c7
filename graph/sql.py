"""SQL of vectors and of checks of the graph: text only, one caller each."""

EMBEDDING_BACKLOG = """
    SELECT count(*) FROM graph_nodes n
     WHERE n.embedding_model_id IS NULL AND (%s::bigint IS NULL OR n.project_id = %s)
"""
# The text of a vector: context first, for without its author a message is not found.
NOT_EMBEDDED = """
    SELECT n.id, md5(n.title || chr(1) || n.content || chr(1) || n.context),
           CASE WHEN n.node_type = ANY(%(structure)s)
                     OR btrim(coalesce(nullif(n.content, ''), n.title)) = '' THEN ''
                ELSE concat_ws(E'\n', nullif(n.context, ''), nullif(n.title, ''),
                               nullif(n.content, '')) END
      FROM graph_nodes n
     WHERE n.embedding_model_id IS NULL
       AND (%(project)s::bigint IS NULL OR n.project_id = %(project)s)
     ORDER BY n.id LIMIT %(limit)s
"""
SET_VECTORS = """
    UPDATE graph_nodes n
       SET embedding = d.embedding::vector, embedding_model_id = %s
      FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS d (id, words, embedding)
     WHERE n.id = d.id AND n.embedding_model_id IS NULL
       AND md5(n.title || chr(1) || n.content || chr(1) || n.context) = d.words
"""
NODES_UNPROVEN = """
    SELECT n.key FROM graph_nodes n
     WHERE n.tenant_id = %s AND n.project_id = %s AND n.valid_to IS NULL
       AND n.trashed_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = n.tenant_id
                          AND v.project_id = n.project_id AND v.node_id = n.id)
"""
EDGES_UNPROVEN = """
    SELECT s.key || ' -' || e.relation || '- ' || t.key FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id JOIN graph_nodes t ON t.id = e.target_id
     WHERE e.tenant_id = %s AND e.project_id = %s AND e.valid_to IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = e.tenant_id
                          AND v.project_id = e.project_id AND v.edge_id = e.id)
"""
