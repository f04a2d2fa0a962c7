"""SQL of marking: text only, one caller; it reads no node, only how words are cut."""

# Which words of the results share a stem with a word of the question, in any language
# the project's search asks in. The question is read as it is and by its bare words,
# for PostgreSQL keeps "cold-store" or "node.js" as one.
MATCHING = """
    WITH language (name) AS (
        SELECT unnest(c.languages) FROM retrieval_lexeme_counts c
         WHERE c.project_id = %(project)s
        UNION
        SELECT %(language)s
    ),
    asked (language, lexemes) AS MATERIALIZED (
        SELECT language.name,
               tsvector_to_array(to_tsvector(language.name::regconfig, %(question)s))
            || tsvector_to_array(to_tsvector(language.name::regconfig, %(words)s))
          FROM language
    )
    SELECT said.word
      FROM unnest(%(said)s::text[]) AS said (word)
     WHERE EXISTS (
        SELECT 1 FROM asked
         WHERE tsvector_to_array(to_tsvector(asked.language::regconfig, said.word))
               && asked.lexemes)
"""
