"""SQL of mentions: text only, one caller each; `{allowed}` is a compiled queryset."""

# All names at once: each as a phrase in every language of the project, looked up in the
# index of words, the latest texts of each. What the phrase found by its stems is
# compared with the words themselves by the caller.
SAYING = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed}),
    language (name) AS (
        SELECT unnest(c.languages) FROM retrieval_lexeme_counts c
         WHERE c.project_id = %(project)s
        UNION
        SELECT %(language)s
    ),
    asked (place, words) AS MATERIALIZED (
        SELECT DISTINCT said.place,
               phraseto_tsquery(language.name::regconfig, said.name)
          FROM unnest(%(places)s::int[], %(names)s::text[]) AS said (place, name)
         CROSS JOIN language
    )
    SELECT DISTINCT asked.place, hit.id
      FROM asked CROSS JOIN LATERAL (
           SELECT n.id
             FROM graph_nodes n
            WHERE n.search_vector @@ asked.words
              AND n.tenant_id = %(tenant)s AND n.project_id = %(project)s
              AND n.id IN (SELECT allowed.id FROM allowed)
            ORDER BY n.occurred_at DESC NULLS LAST, n.key COLLATE "C"
            LIMIT %(each)s) hit
     WHERE numnode(asked.words) > 0
     ORDER BY asked.place, hit.id
"""
