"""SQL of the arms over communities, tags and names: text only, one caller each;
`{allowed}` is a compiled queryset, `{cast}` the type of vectors."""

# The question's communities first: by the words of their titles and summaries, by the
# middle of their texts' vectors. Then of each its members that may be found, the most
# central of them, near the question. `audiences` NULL is an operator's read.
COMMUNITY = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    total (nodes) AS (
        SELECT greatest(coalesce(max(k.nodes), 0), 1)::float8
          FROM retrieval_lexeme_counts k WHERE k.project_id = %(project)s
    ),
    word (lexeme, idf) AS MATERIALIZED (
        SELECT said.lexeme, ln((total.nodes + 1) / (coalesce(l.nodes, 0) + 0.5))
          FROM (SELECT DISTINCT v.lexeme
                  FROM unnest(%(languages)s::text[]) AS language (name)
                 CROSS JOIN LATERAL
                       unnest(to_tsvector(language.name::regconfig, %(question)s)) v
               ) said
         CROSS JOIN total
          LEFT JOIN retrieval_lexemes l
            ON l.project_id = %(project)s AND l.lexeme = said.lexeme
    ),
    asked (lexemes, idf) AS MATERIALIZED (
        SELECT coalesce(array_agg(w.lexeme), '{{}}'), greatest(sum(w.idf), 1e-9)
          FROM word w
    ),
    near (id, similarity) AS MATERIALIZED (
        SELECT c.id,
               CASE WHEN c.embedding_model_id = %(model)s
                    THEN 1 - (c.embedding <=> %(vector)s::vector) END
          FROM retrieval_communities c
         WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
           AND (%(audiences)s::bigint[] IS NULL
                OR c.audience_id = ANY(%(audiences)s::bigint[]))
    ),
    said (id, weight) AS MATERIALIZED (
        SELECT c.id, sum(w.idf * CASE WHEN w.lexeme = ANY(c.title_lexemes)
                                      THEN 1 ELSE %(in_summary)s END) / asked.idf
          FROM retrieval_communities c
         CROSS JOIN asked
          JOIN word w ON w.lexeme = ANY(c.lexemes)
         WHERE c.tenant_id = %(tenant)s AND c.project_id = %(project)s
           AND c.lexemes && asked.lexemes
         GROUP BY c.id, asked.idf
    ),
    best (id, score) AS MATERIALIZED (
        SELECT near.id,
               coalesce(said.weight, 0) + greatest(coalesce(near.similarity, 0), 0)
                   AS score
          FROM near LEFT JOIN said ON said.id = near.id
         WHERE said.weight > 0 OR near.similarity > %(least_similarity)s
         ORDER BY score DESC, near.id LIMIT %(communities)s
    )
    SELECT hit.id, hit.key, best.score * (%(by_centrality)s * hit.centrality
               + (1 - %(by_centrality)s) * greatest(coalesce(hit.similarity, 0), 0))
               AS score,
           hit.is_part
      FROM best CROSS JOIN LATERAL (
           SELECT n.id, n.key, m.centrality,
                  n.node_type = 'section' OR jsonb_exists(n.metadata, 'piece'),
                  CASE WHEN n.embedding_model_id = %(model)s
                       THEN 1 - (n.embedding <=> %(vector)s::{cast}) END
             FROM retrieval_community_members m
             JOIN graph_nodes n ON n.id = m.node_id
            WHERE m.tenant_id = %(tenant)s AND m.project_id = %(project)s
              AND m.community_id = best.id
              AND n.id IN (SELECT allowed.id FROM allowed)
            ORDER BY m.centrality DESC LIMIT %(members)s
           ) hit (id, key, centrality, is_part, similarity)
     ORDER BY score DESC, hit.key COLLATE "C" LIMIT %(pool)s
"""

# Of what `matched`, files whole and all else that may be found. A file's name and tags
# are its own, its words are its sections': the section nearest the question stands for
# it. The end of the two statements below.
_SHOWN = """
    whole (id, key, node_type, score, at) AS MATERIALIZED (
        SELECT found.id, found.key, found.node_type, matched.score, found.at
          FROM matched CROSS JOIN LATERAL (
               SELECT n.id, n.key, n.node_type, n.occurred_at
                 FROM graph_nodes n
                WHERE n.id = matched.id AND n.node_type = 'file'
               UNION ALL
               SELECT n.id, n.key, n.node_type, n.occurred_at
                 FROM graph_nodes n
                WHERE n.id = matched.id AND n.node_type <> 'file'
                  AND n.id IN (SELECT allowed.id FROM allowed
                                WHERE allowed.id = matched.id)
               OFFSET 0) found (id, key, node_type, at)
         ORDER BY matched.score DESC, found.at DESC NULLS LAST, found.key COLLATE "C"
         LIMIT %(pool)s
    ),
    asked (id, key, score, at, itself) AS MATERIALIZED (
        SELECT whole.id, whole.key, whole.score, whole.at,
               whole.node_type <> 'file' OR own.id IS NOT NULL
          FROM whole LEFT JOIN LATERAL (
               SELECT allowed.id FROM allowed WHERE allowed.id = whole.id LIMIT 1
               ) own ON true
    ),
    shown (id, key, is_part, score, at) AS (
        SELECT n.id, n.key, jsonb_exists(n.metadata, 'piece'), asked.score, asked.at
          FROM asked JOIN graph_nodes n ON n.id = asked.id
         WHERE asked.itself
        UNION ALL
        SELECT part.id, part.key, true, asked.score, asked.at
          FROM asked CROSS JOIN LATERAL (
               SELECT n.id, n.key
                 FROM graph_edges e JOIN graph_nodes n ON n.id = e.source_id
                WHERE e.tenant_id = %(tenant)s AND e.project_id = %(project)s
                  AND e.target_id = asked.id AND e.relation = 'part_of'
                  AND (e.valid_to IS NULL OR e.valid_to > %(now)s)
                  AND n.id IN (SELECT allowed.id FROM allowed
                                WHERE allowed.id = e.source_id)
                ORDER BY CASE WHEN n.embedding_model_id = %(model)s
                              THEN n.embedding <=> %(vector)s::{cast} END,
                         (n.metadata ->> 'position')::numeric, n.key COLLATE "C"
                LIMIT 1) part
         WHERE NOT asked.itself
    )
    SELECT s.id, s.key, s.score, s.is_part FROM shown s
     ORDER BY s.score DESC, s.at DESC NULLS LAST, s.key COLLATE "C"
     LIMIT %(pool)s
"""

# How many nodes have a tag is counted up to a bound; beyond it, it tells little.
_TAGS = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    total (nodes) AS (
        SELECT greatest(coalesce(max(k.nodes), 0), 1)::float8
          FROM retrieval_lexeme_counts k WHERE k.project_id = %(project)s
    ),
    tag (name, weight) AS MATERIALIZED (
        SELECT said.name,
               greatest(ln((total.nodes + 1) / (counted.nodes + 0.5)), 0.01)
          FROM unnest(%(tags)s::text[]) AS said (name)
         CROSS JOIN total
         CROSS JOIN LATERAL (
               SELECT count(*) FROM (
                      SELECT 1 FROM graph_nodes n
                       WHERE n.tags @> ARRAY[said.name]
                         AND n.tenant_id = %(tenant)s AND n.project_id = %(project)s
                       LIMIT %(counted)s) few
               ) AS counted (nodes)
         WHERE counted.nodes > 0
    ),
    matched (id, score) AS (
        SELECT n.id, sum(tag.weight)
          FROM tag JOIN graph_nodes n ON n.tags @> ARRAY[tag.name]
         WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.trashed_at IS NULL
           AND (%(audiences)s::bigint[] IS NULL
                OR n.audience_id = ANY(%(audiences)s::bigint[]))
         GROUP BY n.id
    ),
"""

# Words that are in no index (stop words) name nothing. A word counts by how well it
# fits into title or path, and by how few names it fits; a name counts by how much of
# it the question says.
_FILENAME = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    word (text) AS MATERIALIZED (
        SELECT said.text FROM unnest(%(words)s::text[]) AS said (text)
         WHERE NOT EXISTS (
               SELECT 1 FROM unnest(%(languages)s::text[]) AS language (name)
                WHERE to_tsvector(language.name::regconfig, said.text) = '')
    ),
    fit (id, word, title, much) AS MATERIALIZED (
        SELECT near.id, word.text, near.title, word_similarity(word.text, near.name)
          FROM word CROSS JOIN LATERAL (
               SELECT n.id, n.title,
                      n.title || ' ' || coalesce(n.metadata ->> 'path', '')
                 FROM graph_nodes n
                WHERE (n.title || ' ' || coalesce(n.metadata ->> 'path', ''))
                      %%> word.text
                  AND (n.node_type IN ('file', 'meeting')
                       OR (n.node_type = 'email' AND n.key LIKE '%%#attachment-%%'))
                  AND n.tenant_id = %(tenant)s AND n.project_id = %(project)s
                  AND n.trashed_at IS NULL
                  AND (%(audiences)s::bigint[] IS NULL
                       OR n.audience_id = ANY(%(audiences)s::bigint[]))
               OFFSET 0) near (id, title, name)
    ),
    rarity (word, weight) AS (
        SELECT f.word, ln(1 + (SELECT count(*) FROM fit)::float8 / count(*))
          FROM fit f GROUP BY f.word
    ),
    matched (id, score) AS (
        SELECT f.id, sum(f.much * r.weight)
                     * (0.5 + max(word_similarity(f.title, %(question)s)))
          FROM fit f JOIN rarity r ON r.word = f.word
         GROUP BY f.id
    ),
"""

TAGS = _TAGS + _SHOWN
FILENAME = _FILENAME + _SHOWN
