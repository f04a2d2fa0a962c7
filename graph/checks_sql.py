"""SQL of the checks of a graph, each the faults of one sort: id and name; text only."""

COUNTED = """
    WITH fault (id, name) AS MATERIALIZED ({faults})
    SELECT (SELECT count(*) FROM fault),
           ARRAY(SELECT fault.name FROM fault ORDER BY fault.id LIMIT %(examples)s)
"""
SOME = """
    WITH fault (id, name) AS ({faults})
    SELECT fault.id FROM fault ORDER BY fault.id LIMIT %(most)s
"""
TOTALS = {
    "nodes": """
        SELECT count(*) FROM graph_nodes n
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
    """,
    "edges": """
        SELECT count(*) FROM graph_edges e
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
    """,
    "evidence": """
        SELECT count(*) FROM graph_evidence v
         WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
    """,
    "records": """
        SELECT count(*) FROM graph_records r
         WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
    """,
    "identities": """
        SELECT count(*) FROM graph_identities i
         WHERE i.tenant_id = %(tenant)s AND i.project_id = %(project)s
    """,
    "aliases": """
        SELECT count(*) FROM graph_aliases a
         WHERE a.tenant_id = %(tenant)s AND a.project_id = %(project)s
    """,
    "merges": """
        SELECT count(*) FROM graph_merges m
         WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
    """,
    "tombstones": """
        SELECT count(*) FROM graph_tombstones t
         WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
    """,
}

DANGLING_ENDS = """
    SELECT e.id, e.source_id || ' -' || e.relation || '- ' || e.target_id
      FROM graph_edges e
      LEFT JOIN graph_nodes s ON s.tenant_id = e.tenant_id
       AND s.project_id = e.project_id AND s.id = e.source_id
      LEFT JOIN graph_nodes t ON t.tenant_id = e.tenant_id
       AND t.project_id = e.project_id AND t.id = e.target_id
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND (s.id IS NULL OR t.id IS NULL)
"""
# Everybody in the first audience is in the second: it is the project's, the same, or
# said to be so by what the two are put together of.
_COVERED = """
    (wide.kind = 'public' OR wide.id = narrow.id
     OR wide.combines = 'any' AND narrow.id IN (
            SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = wide.id)
     OR narrow.combines = 'all' AND wide.id IN (
            SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = narrow.id)
     OR wide.combines = 'any' AND narrow.combines = 'any' AND NOT EXISTS (
            SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = narrow.id
            EXCEPT SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = wide.id)
     OR wide.combines = 'all' AND narrow.combines = 'all' AND NOT EXISTS (
            SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = wide.id
            EXCEPT SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = narrow.id)
     OR wide.combines = 'any' AND narrow.combines = 'all' AND EXISTS (
            SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = narrow.id
            INTERSECT SELECT p.to_audience_id FROM audience_parts p
             WHERE p.from_audience_id = wide.id))
"""
WIDE_EDGES = f"""
    SELECT e.id, s.key || ' -' || e.relation || '- ' || t.key
      FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
      JOIN LATERAL (VALUES (s.audience_id), (t.audience_id)) AS far (audience_id)
        ON far.audience_id <> e.audience_id
      JOIN audiences wide ON wide.id = far.audience_id
      JOIN audiences narrow ON narrow.id = e.audience_id
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.valid_to IS NULL AND NOT {_COVERED}
     GROUP BY e.id, s.key, e.relation, t.key
"""  # noqa: S608
AUDIENCES_AROUND = """
    SELECT e.id, e.audience_id, s.audience_id, t.audience_id
      FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE e.id = ANY(%s)
"""
NODES_UNPROVEN = """
    SELECT n.id, n.key FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.valid_to IS NULL AND n.trashed_at IS NULL AND n.origin <> 'memory'
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = n.tenant_id
                          AND v.project_id = n.project_id AND v.node_id = n.id)
"""
EDGES_UNPROVEN = """
    SELECT e.id, s.key || ' -' || e.relation || '- ' || t.key FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.valid_to IS NULL AND e.origin <> 'memory'
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = e.tenant_id
                          AND v.project_id = e.project_id AND v.edge_id = e.id)
"""
EVIDENCE_WITHOUT_RECORD = """
    SELECT v.id, 'record ' || v.record_id FROM graph_evidence v
     WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
       AND v.record_id IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM graph_records r
                        WHERE r.tenant_id = v.tenant_id
                          AND r.project_id = v.project_id AND r.id = v.record_id)
"""
FORBIDDEN_ENDS = """
    WITH allowed (relation, source, target) AS MATERIALIZED (
        SELECT d.relation, d.source, d.target
          FROM unnest(%(relations)s::text[], %(sources)s::text[], %(targets)s::text[])
               AS d (relation, source, target)
    )
    SELECT e.id, s.node_type || ' ' || s.key || ' -' || e.relation || '- '
                 || t.node_type || ' ' || t.key
      FROM graph_edges e
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
       AND e.valid_to IS NULL
       AND NOT EXISTS (SELECT 1 FROM allowed
                        WHERE allowed.relation = e.relation
                          AND allowed.source = s.node_type
                          AND allowed.target = t.node_type)
"""
DUPLICATE_NAMES = """
    SELECT max(n.id), n.node_type || ' ' || min(n.title) || ': ' || count(*)
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.node_type = ANY(%(types)s) AND n.node_type <> ALL(%(unmerged)s)
       AND n.title <> '' AND n.valid_to IS NULL AND n.trashed_at IS NULL
       AND n.origin <> 'memory' AND graph_same_name(left(n.title, 200)) <> ''
       AND NOT EXISTS (SELECT 1 FROM graph_merges m
                        WHERE m.tenant_id = n.tenant_id
                          AND m.project_id = n.project_id
                          AND m.undone_at IS NOT NULL AND m.key = n.key)
       AND NOT EXISTS (SELECT 1 FROM graph_merges m
                        WHERE m.tenant_id = n.tenant_id
                          AND m.project_id = n.project_id
                          AND m.undone_at IS NOT NULL AND m.target = n.key)
     GROUP BY n.node_type, graph_same_name(left(n.title, 200))
    HAVING count(*) > 1
"""
IMPLIED_ENDS = """
    SELECT n.id, n.key FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.origin = 'implied' AND n.valid_to IS NULL AND n.trashed_at IS NULL
"""
WEIGHTS = """
    SELECT e.id, s.key || ' -' || e.relation || '- ' || t.key || ': ' || e.weight
                 || ', not ' || said.weight
      FROM (SELECT v.edge_id, sum(v.weight) AS weight FROM graph_evidence v
             WHERE v.tenant_id = %(tenant)s AND v.project_id = %(project)s
               AND v.edge_id IS NOT NULL
             GROUP BY v.edge_id) said
      JOIN graph_edges e ON e.id = said.edge_id
      JOIN graph_nodes s ON s.id = e.source_id
      JOIN graph_nodes t ON t.id = e.target_id
     WHERE e.origin <> 'memory' AND e.valid_to IS NULL
       AND abs(e.weight - said.weight) > 0.000001 * greatest(1, said.weight)
"""
# Each item of a sequence follows the one before it, and nothing else does there.
BROKEN_SEQUENCES = """
    WITH item (edge_id, scope_id, id, previous, has_record, position) AS (
        SELECT e.id, e.target_id, e.source_id,
               lag(e.source_id) OVER (PARTITION BY e.target_id
                                      ORDER BY e.position, n.key COLLATE "C"),
               n.record_id IS NOT NULL, e.position
          FROM graph_edges e JOIN graph_nodes n ON n.id = e.source_id
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND e.position IS NOT NULL AND e.valid_to IS NULL
    ), follows (id, scope_id, source_id, target_id) AS (
        SELECT f.id, f.scope_id, f.source_id, f.target_id FROM graph_edges f
         WHERE f.tenant_id = %(tenant)s AND f.project_id = %(project)s
           AND f.relation = 'follows' AND f.scope_id IS NOT NULL
           AND f.valid_to IS NULL
    )
    SELECT coalesce(item.edge_id, follows.id), at.key || ' in ' || within.key
      FROM (SELECT * FROM item WHERE item.previous IS NOT NULL AND item.has_record) item
      FULL JOIN follows ON follows.scope_id = item.scope_id
       AND follows.source_id = item.id AND follows.target_id = item.previous
      JOIN graph_nodes at ON at.id = coalesce(item.id, follows.source_id)
      JOIN graph_nodes within ON within.id = coalesce(item.scope_id, follows.scope_id)
     WHERE item.id IS NULL OR follows.id IS NULL
"""
PLACES = """
    SELECT coalesce(own.source_id, e.source_id), coalesce(e.scope_id, e.target_id),
           coalesce(own.position, e.position), e.relation = 'follows', e.id
      FROM graph_edges e
      LEFT JOIN graph_edges own ON e.relation = 'follows'
       AND own.tenant_id = e.tenant_id AND own.project_id = e.project_id
       AND own.source_id = e.source_id AND own.target_id = e.scope_id
       AND own.position IS NOT NULL AND own.valid_to IS NULL
     WHERE e.id = ANY(%s)
"""
# Waiting a minute or so for one is no fault; a day is.
EMBEDDINGS = """
    SELECT n.id, n.key FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.trashed_at IS NULL
       AND (n.embedding_model_id IS NULL
                AND (n.embedding IS NOT NULL
                     OR n.updated_at < %(now)s - interval '1 day')
            OR n.embedding_model_id <> (SELECT m.id FROM graph_embedding_models m
                                         WHERE m.is_active))
"""
SEARCH_VECTORS = """
    SELECT n.id, n.key FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.search_vector IS NULL
"""
_IS_KNOWN = """
    EXISTS (SELECT 1 FROM graph_nodes n
             WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
               AND n.key = {key})
    OR EXISTS (SELECT 1 FROM graph_merges o
                WHERE o.tenant_id = %(tenant)s AND o.project_id = %(project)s
                  AND o.key = {key} AND o.undone_at IS NULL)
    OR EXISTS (SELECT 1 FROM graph_aliases b
                WHERE b.tenant_id = %(tenant)s AND b.project_id = %(project)s
                  AND b.key = {key})
"""
LOST_NAMES = f"""
    SELECT a.id, a.key || ' is ' || a.target FROM graph_aliases a
     WHERE a.tenant_id = %(tenant)s AND a.project_id = %(project)s
       AND NOT ({_IS_KNOWN.format(key="a.target")})
    UNION ALL
    SELECT -m.id, m.key || ' is ' || m.target FROM graph_merges m
     WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
       AND m.undone_at IS NULL AND NOT ({_IS_KNOWN.format(key="m.target")})
"""  # noqa: S608
# What has left nothing, and waits for nothing either.
RECORDS_WITHOUT_NODES = """
    SELECT r.id, r.key FROM graph_records r
     WHERE r.tenant_id = %(tenant)s AND r.project_id = %(project)s
       AND r.gone_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM graph_evidence v
                        WHERE v.tenant_id = r.tenant_id
                          AND v.project_id = r.project_id AND v.record_id = r.id)
       AND NOT EXISTS (SELECT 1 FROM graph_pending_edges p
                        WHERE p.tenant_id = r.tenant_id
                          AND p.project_id = r.project_id AND p.record_id = r.id)
"""
# Other words than those that were pruned may be said again.
PRUNED_ALIVE = """
    SELECT n.id, n.key FROM graph_tombstones t
      JOIN graph_nodes n ON n.tenant_id = t.tenant_id AND n.project_id = t.project_id
       AND n.key = t.key
      LEFT JOIN graph_records r ON r.id = n.record_id
     WHERE t.tenant_id = %(tenant)s AND t.project_id = %(project)s
       AND n.valid_to IS NULL AND n.trashed_at IS NULL
       AND (r.id IS NULL OR r.content_hash = t.content_hash)
"""
MERGED_ALIVE = """
    SELECT n.id, m.key || ' is ' || m.target FROM graph_merges m
      JOIN graph_nodes n ON n.tenant_id = m.tenant_id AND n.project_id = m.project_id
       AND n.key = m.key
     WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
       AND m.undone_at IS NULL AND n.valid_to IS NULL AND n.trashed_at IS NULL
"""
DELETE_EDGES = "DELETE FROM graph_edges e WHERE e.id = ANY(%s)"
DELETE_EVIDENCE = """
    DELETE FROM graph_evidence v WHERE v.id = ANY(%s) RETURNING v.edge_id
"""
# What a person wrote is not ended for them; the queue shows it.
END_NODES = """
    UPDATE graph_nodes n SET valid_to = now(), updated_at = now()
     WHERE n.id = ANY(%s) AND n.valid_to IS NULL
       AND n.origin IN ('source', 'extraction', 'identity')
"""
END_EDGES = """
    UPDATE graph_edges e SET valid_to = now()
     WHERE e.id = ANY(%s) AND e.valid_to IS NULL
"""
# The trigger makes both anew.
MAKE_SEARCH_VECTORS = """
    UPDATE graph_nodes n SET search_vector = '', updated_at = now()
     WHERE n.id = ANY(%s)
"""
EMBED_AGAIN = """
    UPDATE graph_nodes n
       SET embedding = NULL, embedding_model_id = NULL, updated_at = now()
     WHERE n.id = ANY(%s)
       AND (n.embedding IS NOT NULL OR n.embedding_model_id IS NOT NULL)
"""
READ_AGAIN = "UPDATE graph_records r SET content_hash = '' WHERE r.id = ANY(%s)"
