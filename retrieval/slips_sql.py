"""SQL of slips: text only, one caller each; `{where}` is a compiled queryset."""

# The likeliest words that texts have in the place of each one they have not, those of
# one stem together: neighbours that changed places before a letter too many, too few or
# another, then the commoner. The commonest are those so common that no text is searched
# for them; their stem is empty here. Texts written since words were counted last are
# looked at, too, and a word that stands only in what the asker may not see is none.
MEANT = """
    WITH counted (languages, letters, nodes) AS (
        SELECT c.languages, string_to_array(c.letters, NULL), c.nodes
          FROM retrieval_lexeme_counts c WHERE c.project_id = %(project)s
    ),
    said (word, is_name) AS MATERIALIZED (
        SELECT s.word, s.is_name
          FROM unnest(%(words)s::text[], %(are_names)s::boolean[]) AS s (word, is_name)
         WHERE NOT EXISTS (
               SELECT FROM counted
                CROSS JOIN LATERAL unnest(counted.languages) AS language (name)
                 JOIN graph_nodes ON graph_nodes.search_vector
                      @@ plainto_tsquery(language.name::regconfig, s.word)
                WHERE {where})
    ),
    near (word, meant, likelihood) AS (
        SELECT said.word, slip.meant, min(slip.likelihood)
          FROM counted CROSS JOIN said
         CROSS JOIN LATERAL generate_series(2, length(said.word) + 1) AS at (place)
         CROSS JOIN LATERAL (
               SELECT left(said.word, at.place - 1), substr(said.word, at.place, 1),
                      substr(said.word, at.place + 1)
               ) AS part (before, letter, after)
         CROSS JOIN LATERAL (
               SELECT part.before || left(part.after, 1) || part.letter
                      || substr(part.after, 2), 1
                WHERE part.after <> ''
                UNION ALL
               SELECT part.before || part.after, 2
                WHERE part.letter <> ''
                  AND (part.letter = right(part.before, 1) OR NOT said.is_name)
                UNION ALL
               SELECT part.before || other.letter || part.letter || part.after, 2
                 FROM unnest(counted.letters) AS other (letter)
                WHERE other.letter = right(part.before, 1) OR NOT said.is_name
                UNION ALL
               SELECT part.before || other.letter || part.after, 2
                 FROM unnest(counted.letters) AS other (letter)
                WHERE part.letter <> '' AND NOT said.is_name
               ) AS slip (meant, likelihood)
         GROUP BY said.word, slip.meant
    ),
    known (word, meant, lexeme, likelihood, nodes) AS (
        SELECT near.word, near.meant, coalesce(l.lexeme, ''), near.likelihood,
               coalesce(l.nodes, counted.nodes)
          FROM counted
         CROSS JOIN LATERAL unnest(counted.languages) AS language (name)
         CROSS JOIN near
          LEFT JOIN LATERAL
               unnest(to_tsvector(language.name::regconfig, near.meant)) AS v ON true
          LEFT JOIN retrieval_lexemes l
            ON l.project_id = %(project)s AND l.lexeme = v.lexeme
         WHERE l.lexeme IS NOT NULL OR v.lexeme IS NULL
    ),
    likely (word, lexeme, spellings, place) AS (
        SELECT known.word, known.lexeme,
               array_agg(DISTINCT known.meant ORDER BY known.meant),
               row_number() OVER (
                   PARTITION BY known.word
                   ORDER BY min(known.likelihood), max(known.nodes) DESC, known.lexeme)
          FROM known
         GROUP BY known.word, known.lexeme
    )
    SELECT likely.word, likely.spellings
      FROM likely
     WHERE likely.place <= %(likeliest)s
       AND (likely.lexeme = '' OR EXISTS (
           SELECT FROM graph_nodes
            WHERE graph_nodes.search_vector @@ plainto_tsquery('simple', likely.lexeme)
              AND {where}))
     ORDER BY likely.word, likely.place
"""
