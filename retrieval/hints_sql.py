"""SQL of entity hints: text only, one caller each; `{allowed}` is a compiled queryset.

The node types are those of the index `retrieval_hint_names` (migration 0002), written
out alike so that the planner can use it.
"""

# What bears a name that was said, by the index of names: the whole title, or the part
# of it that people go by. Besides, without an id, the words that occur in no text of
# the project: only those are taken for misspelt, because a word in use is hardly a slip,
# and neither is one so common that texts are not searched for it.
NAMED = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    gram (said, name) AS MATERIALIZED (
        SELECT g.said, retrieval_plain_name(g.said)
          FROM unnest(%(grams)s::text[]) AS g (said)
    ),
    bearer (id, key, node_type, title, name, names) AS MATERIALIZED (
        SELECT n.id, n.key, n.node_type, n.title, retrieval_plain_name(n.title),
               retrieval_hint_names(n.project_id, n.node_type::text, n.title)
          FROM graph_nodes n
         WHERE retrieval_hint_names(n.project_id, n.node_type::text, n.title)
               && (SELECT array_agg(%(project)s || ':' || gram.name) FROM gram)
           AND n.node_type IN ('agent', 'channel', 'domain', 'file', 'meeting',
                               'pattern', 'person', 'technology', 'topic')
           AND n.id IN (SELECT allowed.id FROM allowed)
    ),
    named (said, id, key, node_type, title, similarity, place) AS (
        SELECT gram.said, bearer.id, bearer.key, bearer.node_type, bearer.title,
               CASE WHEN gram.name = bearer.name THEN 1.0 ELSE %(partial)s END,
               row_number() OVER (
                   PARTITION BY gram.said, bearer.node_type
                   ORDER BY gram.name = bearer.name DESC, bearer.key)
          FROM bearer
          JOIN gram ON %(project)s || ':' || gram.name = ANY (bearer.names)
    ),
    unknown (word) AS (
        SELECT w.word FROM unnest(%(words)s::text[]) AS w (word)
         WHERE NOT EXISTS (
               SELECT FROM retrieval_lexeme_counts c
                CROSS JOIN LATERAL unnest(c.languages) AS language (name)
                CROSS JOIN LATERAL
                      unnest(to_tsvector(language.name::regconfig, w.word)) AS v
                 JOIN retrieval_lexemes l
                   ON l.project_id = c.project_id AND l.lexeme = v.lexeme
                WHERE c.project_id = %(project)s)
           AND NOT EXISTS (
               SELECT FROM retrieval_lexeme_counts c
                CROSS JOIN LATERAL unnest(c.languages) AS language (name)
                WHERE c.project_id = %(project)s
                  AND to_tsvector(language.name::regconfig, w.word) = '')
         LIMIT %(unknown_most)s
    )
    SELECT named.said, named.id, named.key, named.node_type, named.title,
           named.similarity::float8
      FROM named WHERE named.place <= %(each_most)s
     UNION ALL
    SELECT unknown.word, NULL, '', '', '', 0 FROM unknown
     ORDER BY 6 DESC, 3, 1
"""

# What is called nearly what was said, by the trigrams of titles. `near` pairs a word
# with each n-gram it stands in; a person's name is as near as its nearest part.
MISSPELT = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    near (word, said) AS (
        SELECT pair.word, pair.said
          FROM unnest(%(near_words)s::text[], %(near_grams)s::text[])
            AS pair (word, said)
    ),
    alike (word, id, key, node_type, title) AS MATERIALIZED (
        SELECT unknown.word, n.id, n.key, n.node_type, n.title
          FROM (SELECT DISTINCT near.word FROM near) AS unknown (word)
         CROSS JOIN LATERAL (
               SELECT n.id, n.key, n.node_type, n.title FROM graph_nodes n
                WHERE n.title %%>> unknown.word
                  AND n.tenant_id = %(tenant)s AND n.project_id = %(project)s
                  AND n.node_type IN ('agent', 'channel', 'domain', 'file', 'meeting',
                                      'pattern', 'person', 'technology', 'topic')
                  AND n.id IN (SELECT allowed.id FROM allowed)
                ORDER BY strict_word_similarity(unknown.word, n.title) DESC, n.key
                LIMIT %(alike_most)s) AS n
    ),
    misspelt (said, id, key, node_type, title, similarity) AS (
        SELECT near.said, alike.id, alike.key, alike.node_type, alike.title,
               CASE alike.node_type
               WHEN 'person'
               THEN greatest(similarity(alike.title, near.said),
                             strict_word_similarity(near.said, alike.title))
               ELSE similarity(alike.title, near.said) END
          FROM alike JOIN near ON near.word = alike.word
    )
    SELECT misspelt.said, misspelt.id, misspelt.key, misspelt.node_type,
           misspelt.title, misspelt.similarity::float8
      FROM misspelt WHERE misspelt.similarity >= %(least)s
     ORDER BY misspelt.similarity DESC, misspelt.key COLLATE "C", misspelt.said
"""

# The meeting that a question dates something by, compared without words such as
# "meeting" and "sync" (`kinds`). Of several the one called most as said is meant, then
# the nearest in time.
EVENT = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    event (place, key, occurred_at, similarity, exactness) AS (
        SELECT said.place, n.key, n.occurred_at,
               similarity(regexp_replace(n.title, %(kinds)s, ' ', 'gi'), said.name),
               similarity(n.title, said.words)
          FROM unnest(%(names)s::text[], %(words)s::text[])
               WITH ORDINALITY AS said (name, words, place)
          JOIN graph_nodes n ON n.title %%>> said.name
         WHERE n.node_type = 'meeting' AND n.occurred_at IS NOT NULL
           AND n.tenant_id = %(tenant)s AND n.project_id = %(project)s
           AND n.id IN (SELECT allowed.id FROM allowed)
    )
    SELECT event.place, event.occurred_at
      FROM event WHERE event.similarity >= %(least)s
     ORDER BY event.similarity DESC, event.exactness DESC,
              abs(extract(epoch FROM event.occurred_at - %(now)s)),
              event.key COLLATE "C"
     LIMIT 1
"""
