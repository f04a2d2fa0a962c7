"""SQL of communities: text only, one caller each."""

# Binary, whole numbers and floats only: read straight into arrays.
COPY_NODES = """
    COPY (
        SELECT n.id, n.audience_id,
               (n.content <> '' AND n.node_type <> ALL(%(structure)s))::int::bigint
          FROM graph_nodes n
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.trashed_at IS NULL
           AND (n.valid_to IS NULL OR n.valid_to > %(now)s)
         ORDER BY n.id
    ) TO STDOUT (FORMAT binary)
"""
COPY_EDGES = """
    COPY (
        SELECT e.source_id, e.target_id, e.audience_id,
               ln(1 + e.weight) / ln(2::float8)
               * coalesce(strength.of_one, %(otherwise)s)::float8
          FROM graph_edges e
          LEFT JOIN unnest(%(relations)s::text[], %(strengths)s::float8[])
                    AS strength (relation, of_one) ON strength.relation = e.relation
         WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
           AND (e.valid_from IS NULL OR e.valid_from <= %(now)s)
           AND (e.valid_to IS NULL OR e.valid_to > %(now)s)
           AND e.source_id <> e.target_id
    ) TO STDOUT (FORMAT binary)
"""
COPY_MEMBERS = """
    COPY (
        SELECT m.node_id, m.community_id
          FROM retrieval_community_members m
         WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
         ORDER BY m.node_id
    ) TO STDOUT (FORMAT binary)
"""
# The people of an audience are also among those of every union it is a part of.
TEXTS = """
    SELECT n.id, n.language, n.title, left(n.content, %(characters)s),
           md5(n.title || chr(10) || n.content)
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.id = ANY(%(nodes)s)
"""
# Each word as the index has it, with its idf; a stop word has no row.
WEIGH = """
    WITH total (nodes) AS (
        SELECT greatest(coalesce(max(c.nodes), 0), 1)::float8
          FROM retrieval_lexeme_counts c WHERE c.project_id = %(project)s
    )
    SELECT said.language, said.word, stem.lexeme,
           ln((total.nodes + 1) / (coalesce(l.nodes, 0) + 0.5))
      FROM unnest(%(languages)s::text[], %(words)s::text[]) AS said (language, word)
     CROSS JOIN total
     CROSS JOIN LATERAL (
           SELECT min(v.lexeme) FROM unnest(
                  to_tsvector(said.language::regconfig, said.word)) v
           ) AS stem (lexeme)
      LEFT JOIN retrieval_lexemes l
        ON l.project_id = %(project)s AND l.lexeme = stem.lexeme
     WHERE stem.lexeme IS NOT NULL
"""

# --- the swap: what was found lies in scratch tables, then takes the old one's place --

STAGE = """
    DROP TABLE IF EXISTS pg_temp.staged_communities, pg_temp.staged_members;
    CREATE TEMP TABLE staged_communities (
        id bigint PRIMARY KEY, audience_id bigint NOT NULL, share float8 NOT NULL,
        title text NOT NULL, summary jsonb NOT NULL,
        lexemes text[] NOT NULL, title_lexemes text[] NOT NULL
    ) ON COMMIT DROP;
    CREATE TEMP TABLE staged_members (
        node_id bigint PRIMARY KEY, community_id bigint NOT NULL,
        centrality float8 NOT NULL, digest text NOT NULL
    ) ON COMMIT DROP
"""
# Whoever changes a node that is quoted waits until the triggers know of the quote.
HOLD_EVIDENCE = """
    SELECT count(*) FROM (
        SELECT n.id FROM graph_nodes n JOIN staged_members s ON s.node_id = n.id
         WHERE s.digest <> '' ORDER BY n.id FOR SHARE OF n) held
"""
# The graph may have changed since it was read.
DROP_CHANGED_TEXTS = """
    UPDATE staged_communities AS c
       SET title = '', summary = '[]', lexemes = '{}', title_lexemes = '{}'
      FROM staged_members s
     WHERE s.community_id = c.id AND s.digest <> '' AND NOT EXISTS (
           SELECT 1 FROM graph_nodes n
            WHERE n.id = s.node_id AND n.audience_id = c.audience_id
              AND n.trashed_at IS NULL
              AND md5(n.title || chr(10) || n.content) = s.digest)
"""
DROP_CHANGED_MEMBERS = """
    DELETE FROM staged_members s USING staged_communities c
     WHERE c.id = s.community_id AND NOT EXISTS (
           SELECT 1 FROM graph_nodes n
            WHERE n.id = s.node_id AND n.tenant_id = %(tenant)s
              AND n.project_id = %(project)s AND n.audience_id = c.audience_id
              AND n.trashed_at IS NULL)
"""
DELETE_COMMUNITIES = """
    DELETE FROM retrieval_communities c
     WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
       AND NOT EXISTS (SELECT 1 FROM staged_communities s WHERE s.id = c.id)
"""
DELETE_MEMBERS = """
    DELETE FROM retrieval_community_members m
     WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
       AND NOT EXISTS (SELECT 1 FROM staged_members s WHERE s.node_id = m.node_id)
"""
WRITE_COMMUNITIES = """
    WITH counted (community_id, node_type, nodes) AS (
        SELECT s.community_id, n.node_type, count(*)
          FROM staged_members s JOIN graph_nodes n ON n.id = s.node_id
         GROUP BY s.community_id, n.node_type
    ), sized (community_id, size, types) AS (
        SELECT k.community_id, sum(k.nodes), jsonb_object_agg(k.node_type, k.nodes)
          FROM counted k GROUP BY k.community_id
    ), middle (community_id, embedding) AS (
        SELECT s.community_id, avg(n.embedding)
          FROM staged_members s JOIN graph_nodes n ON n.id = s.node_id
         WHERE s.digest <> '' AND n.embedding_model_id = %(model)s
         GROUP BY s.community_id
    )
    INSERT INTO retrieval_communities AS old
           (id, tenant_id, project_id, audience_id, title, summary, lexemes,
            title_lexemes, size, share, types, embedding, embedding_model_id,
            found_at, refreshed_at)
    SELECT c.id, %(tenant)s, %(project)s, c.audience_id, c.title, c.summary, c.lexemes,
           c.title_lexemes, sized.size, c.share, sized.types, middle.embedding,
           CASE WHEN middle.embedding IS NOT NULL THEN %(model)s END, now(), now()
      FROM staged_communities c
      JOIN sized ON sized.community_id = c.id
      LEFT JOIN middle ON middle.community_id = c.id AND c.title <> ''
    ON CONFLICT (id) DO UPDATE SET
           audience_id = excluded.audience_id, title = excluded.title,
           summary = excluded.summary, lexemes = excluded.lexemes,
           title_lexemes = excluded.title_lexemes, size = excluded.size,
           share = excluded.share, types = excluded.types,
           embedding = excluded.embedding,
           embedding_model_id = excluded.embedding_model_id,
           refreshed_at = excluded.refreshed_at
"""
WRITE_MEMBERS = """
    INSERT INTO retrieval_community_members AS old
           (tenant_id, project_id, community_id, node_id, centrality, is_evidence)
    SELECT %(tenant)s, %(project)s, s.community_id, s.node_id, s.centrality,
           s.digest <> ''
      FROM staged_members s
    ON CONFLICT (tenant_id, project_id, node_id) DO UPDATE SET
           community_id = excluded.community_id, centrality = excluded.centrality,
           is_evidence = excluded.is_evidence
     WHERE (old.community_id, old.centrality, old.is_evidence)
           IS DISTINCT FROM
           (excluded.community_id, excluded.centrality, excluded.is_evidence)
"""
