"""SQL of ranking: text only, one caller each; `{allowed}` is a compiled queryset."""

# The published fusion in one statement: each arm ranked after its own LIMIT, fused by
# reciprocal rank; websearch words by cover density, vectors by cosine above 0.2.
FUSED = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    lexical (id, rank, score) AS (
        SELECT hit.id,
               row_number() OVER (ORDER BY hit.score DESC, hit.key COLLATE "C"),
               hit.score
          FROM (SELECT n.id, n.key, ts_rank_cd(n.search_vector, q.words) AS score
                  FROM graph_nodes n,
                       websearch_to_tsquery(%(language)s::regconfig, %(question)s)
                           AS q (words)
                 WHERE n.search_vector @@ q.words
                   AND n.id IN (SELECT allowed.id FROM allowed)
                 ORDER BY score DESC, n.key COLLATE "C" LIMIT %(pool)s) hit
    ),
    vector (id, rank, score) AS (
        SELECT near.id,
               row_number() OVER (ORDER BY near.distance, near.key COLLATE "C"),
               1 - near.distance
          FROM (SELECT held.id, held.key, held.distance
                  FROM (SELECT n.id, n.key,
                               n.embedding <=> %(vector)s::{cast} AS distance
                          FROM graph_nodes n
                         WHERE n.id IN (SELECT allowed.id FROM allowed)
                           AND n.embedding_model_id = %(model)s
                         ORDER BY {nearness} LIMIT %(measured)s) held
                 ORDER BY held.distance, held.key COLLATE "C" LIMIT %(pool)s) near
         WHERE 1 - near.distance > %(similarity)s
    )
    SELECT n.id, n.key,
           n.node_type = 'section' OR jsonb_exists(n.metadata, 'piece'),
           coalesce(1.0 / (%(k)s + lexical.rank), 0)
           + coalesce(1.0 / (%(k)s + vector.rank), 0) AS fused,
           lexical.rank, lexical.score, vector.rank, vector.score
      FROM lexical FULL JOIN vector ON vector.id = lexical.id
      JOIN graph_nodes n ON n.id = coalesce(lexical.id, vector.id)
     ORDER BY fused DESC, n.key COLLATE "C" LIMIT %(limit)s
"""

# A section of a file, or a piece of a text that was too long for one node.
_IS_PART = (
    "(graph_nodes.node_type = 'section' OR jsonb_exists(graph_nodes.metadata, 'piece'))"
)
# Any of the question's words, by how rare they are: {score} sums over the words,
# {matches} is what finds candidates.
ANY_WORD = f"""
    SELECT graph_nodes.id, graph_nodes.key, {{score}} AS score, {_IS_PART}
      FROM graph_nodes
     WHERE ({{matches}}) AND {{where}}
     ORDER BY score DESC, graph_nodes.key LIMIT %(pool)s
"""  # noqa: S608 - our own text
# Written out, the sum is twice as fast as a sub-select over an array of words; side by
# side, each match is a look into the index of its own.
WORD_SCORE = (
    "%(idf_{place})s * ts_rank(graph_nodes.search_vector, %(word_{place})s::tsquery)"
)
WORD_FOUND = "graph_nodes.search_vector @@ %(match_{place})s::tsquery"
WEBSEARCH_FOUND = (
    "graph_nodes.search_vector @@"
    " websearch_to_tsquery(%(language)s::regconfig, %(asked)s)"
)
# The nearest to a vector, by an order that is theirs or nearly. The model is none once
# another is the active one: its vectors have another size.
NEAREST = f"""
    SELECT graph_nodes.id, graph_nodes.key,
           graph_nodes.embedding <=> %(vector)s::{{cast}}, {_IS_PART}
      FROM graph_nodes
     WHERE {{where}} AND graph_nodes.embedding_model_id = %(model)s
       AND (SELECT m.is_active FROM graph_embedding_models m WHERE m.id = %(model)s)
       {{besides}}
     ORDER BY {{order}} LIMIT {{measured}}
"""  # noqa: S608 - our own text
WITH_VECTOR = "AND graph_nodes.embedding IS NOT NULL"
# An index can order by a distance, but not by it plus nothing.
EXACTLY = "(graph_nodes.embedding <=> %(vector)s::{cast}) + 0"

# What arms ask of a node, written into a queryset of nodes.
IS_ONE_OF = "graph_nodes.id = ANY(%s::bigint[])"
MATCHES_WEBSEARCH = (
    "graph_nodes.search_vector @@ websearch_to_tsquery(%s::regconfig, %s)"
)
MATCHES_WITH_METADATA = (
    "(graph_nodes.search_vector @@ websearch_to_tsquery(%s::regconfig, %s)"
    " OR graph_nodes.metadata_vector @@ websearch_to_tsquery(%s::regconfig, %s))"
)
WORD_MATCH = "ts_rank(graph_nodes.search_vector, %(word_{place})s::tsquery)"
COVER_RANK = (
    "ts_rank_cd(graph_nodes.search_vector, websearch_to_tsquery(%s::regconfig, %s))"
)
COVER_RANK_WITH_METADATA = (
    "ts_rank_cd(graph_nodes.search_vector"
    " || coalesce(graph_nodes.metadata_vector, ''),"
    " websearch_to_tsquery(%s::regconfig, %s))"
)

# What each node around the hits says by itself, word by word and in meaning, and whether
# it is of the time and kind that a question prefers: people and places that it prefers
# are things it names.
AROUND = f"""
    SELECT graph_nodes.id, graph_nodes.key, {_IS_PART},
           ARRAY[{{each}}]::float8[],
           coalesce(CASE WHEN graph_nodes.embedding_model_id = %(model)s
                         THEN 1 - (graph_nodes.embedding <=> %(vector)s::{{cast}}) END, 0),
           %(prefers)s::boolean
           AND (%(since)s::timestamptz IS NULL
                OR coalesce(graph_nodes.occurred_at >= %(since)s::timestamptz, false))
           AND (%(until)s::timestamptz IS NULL
                OR coalesce(graph_nodes.occurred_at < %(until)s::timestamptz, false))
           AND (%(types)s::text[] IS NULL
                OR graph_nodes.node_type = ANY(%(types)s::text[]))
      FROM graph_nodes
     WHERE graph_nodes.id = ANY(%(ids)s::bigint[]) AND {{where}}
"""  # noqa: S608 - our own text

# What an index needs to be told, for the transaction.
SET_SETTINGS = """
    SELECT set_config(s.name, s.value, true)
      FROM unnest(%s::text[], %s::text[]) AS s (name, value)
"""

# The lexemes of a text in each language of the project, rarest first.
WORDS = """
    WITH language (name) AS (
        SELECT unnest(c.languages) FROM retrieval_lexeme_counts c
         WHERE c.project_id = %(project)s
        UNION
        SELECT %(language)s
    ),
    total (nodes) AS (
        SELECT greatest(max(c.nodes), 1) FROM retrieval_lexeme_counts c
         WHERE c.project_id = %(project)s
    )
    SELECT said.lexeme, coalesce(l.nodes, 1), total.nodes
      FROM (SELECT DISTINCT v.lexeme
              FROM language CROSS JOIN LATERAL
                   unnest(to_tsvector(language.name::regconfig, %(text)s)) v) said
      LEFT JOIN retrieval_lexemes l
        ON l.project_id = %(project)s AND l.lexeme = said.lexeme
     CROSS JOIN total
     ORDER BY coalesce(l.nodes, 1), said.lexeme
"""

COUNT_LEXEMES = """
    INSERT INTO retrieval_lexemes AS l (project_id, lexeme, nodes)
    SELECT %(project)s, s.word, s.ndoc FROM ts_stat(%(vectors)s) s
     WHERE length(s.word) <= 500
    ON CONFLICT (project_id, lexeme) DO UPDATE SET nodes = excluded.nodes
     WHERE l.nodes <> excluded.nodes
"""

LETTERS = """
    SELECT letter.letter, count(*)
      FROM retrieval_lexemes l
     CROSS JOIN LATERAL string_to_table(l.lexeme, NULL) AS letter (letter)
     WHERE l.project_id = %(project)s
     GROUP BY letter.letter
"""

# Not WORDS: there a word nobody wrote counts as written once, and languages differ.
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
