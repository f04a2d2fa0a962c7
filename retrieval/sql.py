"""SQL of ranking: text only, one caller each; `{allowed}` is a compiled queryset."""

# One round trip: the question's words with their frequencies, the candidates of both
# arms by their indexes, each ranked after its own LIMIT, fused by reciprocal rank.
#
# Keyword candidates: any word while the words are rare enough together, else the
# rarest words and the rarest pairs within a budget of expected matches; candidates are
# scored by all words, each weighted by how rare it is (PostgreSQL knows no idf).
# Vector candidates: by the index, or exactly where the caller may see few nodes; none
# once the question's model is not the active one, whose vectors have another size.
FUSED = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    few (yes) AS (
        SELECT count(*) < %(exact_below)s
          FROM (SELECT 1 FROM allowed LIMIT %(exact_below)s) AS counted
    ),
    total (nodes) AS (
        SELECT greatest(max(c.nodes), 1)::float8 FROM retrieval_lexeme_counts c
         WHERE c.project_id = %(project)s
    ),
    language (name) AS (
        SELECT unnest(c.languages) FROM retrieval_lexeme_counts c
         WHERE c.project_id = %(project)s
        UNION
        SELECT %(language)s
    ),
    word (lexeme, query, df, idf) AS MATERIALIZED (
        SELECT said.lexeme,
               ('''' || replace(replace(said.lexeme, '\\', '\\\\'), '''', '''''')
                || '''')::tsquery,
               coalesce(l.nodes, 1)::float8,
               ln(1 + (total.nodes - coalesce(l.nodes, 1) + 0.5)
                      / (coalesce(l.nodes, 1) + 0.5))
          FROM (SELECT DISTINCT v.lexeme
                  FROM language CROSS JOIN LATERAL
                       unnest(to_tsvector(language.name::regconfig, %(question)s)) v
               ) said
          LEFT JOIN retrieval_lexemes l
            ON l.project_id = %(project)s AND l.lexeme = said.lexeme
         CROSS JOIN total
    ),
    rare (query) AS (
        SELECT r.query FROM (
               SELECT w.query, w.df, sum(w.df) OVER (ORDER BY w.df, w.lexeme) AS upto,
                      sum(w.df) OVER () AS every
                 FROM word w) r
         WHERE r.every <= %(any_word_below)s OR r.upto <= %(rare_budget)s
    ),
    pair (query) AS (
        SELECT p.query FROM (
               SELECT a.query && b.query AS query,
                      sum(a.df * b.df / total.nodes)
                          OVER (ORDER BY a.df * b.df, a.lexeme, b.lexeme) AS upto,
                      row_number()
                          OVER (ORDER BY a.df * b.df, a.lexeme, b.lexeme) AS place
                 FROM word a JOIN word b ON a.lexeme < b.lexeme CROSS JOIN total
               ) p
         WHERE (p.upto <= %(pair_budget)s OR p.place <= 3) AND p.place <= 40
           AND (SELECT sum(w.df) FROM word w) > %(any_word_below)s
    ),
    candidates (query) AS MATERIALIZED (
        SELECT CASE WHEN %(operators)s
               THEN websearch_to_tsquery(%(language)s::regconfig, %(question)s)
               ELSE string_agg('(' || c.query::text || ')', ' | ')::tsquery END
          FROM (SELECT rare.query FROM rare UNION ALL SELECT pair.query FROM pair) c
    ),
    keyword (id, rank, score) AS (
        SELECT hit.id, row_number() OVER (ORDER BY hit.score DESC, hit.key), hit.score
          FROM (SELECT n.id, n.key,
                       (SELECT sum(w.idf * ts_rank(n.search_vector, w.query,
                                                   %(normalisation)s))
                          FROM word w) AS score
                  FROM graph_nodes n
                 WHERE n.search_vector @@ (SELECT candidates.query FROM candidates)
                   AND n.id IN (SELECT allowed.id FROM allowed)
                 ORDER BY score DESC NULLS LAST, n.key LIMIT %(pool)s) hit
         WHERE hit.score > 0
    ),
    active (yes) AS (
        SELECT m.is_active FROM graph_embedding_models m WHERE m.id = %(model)s
    ),
    near (id, distance) AS (
        (SELECT n.id, n.embedding <=> %(vector)s::{vector_type} AS distance
           FROM graph_nodes n
          WHERE n.id IN (SELECT allowed.id FROM allowed)
            AND n.embedding_model_id = %(model)s AND NOT (SELECT few.yes FROM few)
            AND (SELECT active.yes FROM active)
          ORDER BY distance LIMIT %(pool)s)
        UNION ALL
        (SELECT n.id, n.embedding <=> %(vector)s::{vector_type} AS distance
           FROM graph_nodes n
          WHERE n.id IN (SELECT allowed.id FROM allowed OFFSET 0)
            AND n.embedding_model_id = %(model)s AND n.embedding IS NOT NULL
            AND (SELECT few.yes FROM few) AND (SELECT active.yes FROM active)
          ORDER BY distance LIMIT %(pool)s)
    ),
    vector (id, rank, score) AS (
        SELECT near.id, row_number() OVER (ORDER BY near.distance, near.id),
               1 - near.distance
          FROM near WHERE 1 - near.distance > %(similarity)s
    )
    SELECT n.id, n.key,
           coalesce(%(keyword_weight)s / (%(k)s + keyword.rank), 0)
           + coalesce(%(vector_weight)s / (%(k)s + vector.rank), 0) AS fused,
           keyword.rank, keyword.score, vector.rank, vector.score,
           (SELECT count(*) FROM keyword), (SELECT count(*) FROM vector),
           n.node_type = 'section' OR jsonb_exists(n.metadata, 'piece')
      FROM keyword FULL JOIN vector ON vector.id = keyword.id
      JOIN graph_nodes n ON n.id = coalesce(keyword.id, vector.id)
     ORDER BY fused DESC, n.key COLLATE "C" LIMIT %(limit)s
"""

# For this connection: they are the same for every question to one model.
SET_SETTINGS = """
    SELECT set_config(s.name, s.value, false)
      FROM unnest(%s::text[], %s::text[]) AS s (name, value)
"""

COUNT_LEXEMES = """
    INSERT INTO retrieval_lexemes AS l (project_id, lexeme, nodes)
    SELECT %(project)s, s.word, s.ndoc FROM ts_stat(%(vectors)s) s
     WHERE length(s.word) <= 500
    ON CONFLICT (project_id, lexeme) DO UPDATE SET nodes = excluded.nodes
     WHERE l.nodes <> excluded.nodes
"""

WEIGH_WORDS = """
    WITH total (nodes) AS (
        SELECT greatest(max(c.nodes), 1)::float8 FROM retrieval_lexeme_counts c
         WHERE c.project_id = %(project)s
    )
    SELECT said.lexeme,
           ln(1 + (total.nodes - coalesce(l.nodes, 0) + 0.5) / (coalesce(l.nodes, 0) + 0.5))
      FROM (SELECT DISTINCT v.lexeme
              FROM unnest(%(languages)s::text[]) AS language (name),
                   unnest(to_tsvector(language.name::regconfig, %(question)s)) v) said
      LEFT JOIN retrieval_lexemes l
        ON l.project_id = %(project)s AND l.lexeme = said.lexeme
     CROSS JOIN total
"""
WORDS_OF = """
    SELECT (SELECT array_agg(DISTINCT v.lexeme)
              FROM unnest(%(languages)s::text[]) AS language (name),
                   unnest(to_tsvector(language.name::regconfig, said.text)) v)
      FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS said (text, place)
     ORDER BY said.place
"""
