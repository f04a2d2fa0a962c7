"""SQL of mentions: text only, one caller each; `{allowed}` is a compiled queryset."""

# By the index graph_nodes_named: things whose name begins with a word of the texts, and
# ends with one. A bare first name is no person's, a stop word or a word all over the
# project nobody's: it would be found in everything.
NAMED = r"""
    WITH allowed (id) AS NOT MATERIALIZED ({allowed})
    SELECT n.id, n.title
      FROM graph_nodes n
     WHERE n.tenant_id = %(tenant)s AND n.project_id = %(project)s
       AND n.node_type NOT IN {unnamed}
       AND substring(lower(left(n.title, 100)), '\w+') = ANY(%(words)s::text[])
       AND length(n.title) <= 100
       AND substring(lower(left(n.title, 100)), '(\w+)\W*$') = ANY(%(words)s::text[])
       AND (n.node_type <> 'person' OR n.title ~ '\s')
       AND (n.title ~ '\W' OR NOT EXISTS (
               SELECT 1 FROM to_tsvector(n.language::regconfig, n.title) AS said (words)
                WHERE said.words = ''
                   OR EXISTS (
                      SELECT 1 FROM retrieval_lexemes l
                        JOIN retrieval_lexeme_counts c ON c.project_id = l.project_id
                       WHERE l.project_id = %(project)s
                         AND l.lexeme = ANY(tsvector_to_array(said.words))
                         AND l.nodes > greatest(%(common_least)s::float8,
                                                %(common_share)s * c.nodes))))
       AND n.id IN (SELECT allowed.id FROM allowed)
     ORDER BY n.key COLLATE "C" LIMIT %(limit)s
"""
# What has a name around each node: both directions by their index, the best edges
# first; of a hub so many are looked at, those the caller may see, no more. Relations
# of texts (who sent it, where it was posted) go by their name before their ends are read.
LINKS = """
    WITH allowed (id) AS NOT MATERIALIZED ({allowed})
    SELECT near.id, near.title, hop.is_outgoing, hop.relation, hop.title
      FROM graph_nodes near CROSS JOIN LATERAL (
        (SELECT TRUE AS is_outgoing, e.relation, far.title, e.weight, e.id
           FROM (SELECT o.id, o.target_id, o.relation, o.weight, o.occurred_at
                   FROM graph_edges o
                  WHERE o.source_id = near.id
                    AND o.tenant_id = %(tenant)s AND o.project_id = %(project)s
                    AND (%(audiences)s::bigint[] IS NULL
                         OR o.audience_id = ANY(%(audiences)s::bigint[]))
                    AND (o.valid_from IS NULL OR o.valid_from <= %(now)s)
                    AND (o.valid_to IS NULL OR o.valid_to > %(now)s)
                  ORDER BY o.weight DESC, o.occurred_at DESC NULLS LAST
                  LIMIT %(looked_at)s) e
           JOIN graph_nodes far ON far.id = e.target_id
          WHERE e.relation <> ALL(%(to_texts)s::text[])
            AND far.node_type NOT IN {unnamed} AND far.title <> ''
            AND far.id IN (SELECT allowed.id FROM allowed)
          ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id
          LIMIT %(fan_out)s)
        UNION ALL
        (SELECT FALSE, e.relation, far.title, e.weight, e.id
           FROM (SELECT i.id, i.source_id, i.relation, i.weight, i.occurred_at
                   FROM graph_edges i
                  WHERE i.target_id = near.id
                    AND i.tenant_id = %(tenant)s AND i.project_id = %(project)s
                    AND (%(audiences)s::bigint[] IS NULL
                         OR i.audience_id = ANY(%(audiences)s::bigint[]))
                    AND (i.valid_from IS NULL OR i.valid_from <= %(now)s)
                    AND (i.valid_to IS NULL OR i.valid_to > %(now)s)
                  ORDER BY i.weight DESC, i.occurred_at DESC NULLS LAST
                  LIMIT %(looked_at)s) e
           JOIN graph_nodes far ON far.id = e.source_id
          WHERE e.relation <> ALL(%(from_texts)s::text[])
            AND far.node_type NOT IN {unnamed} AND far.title <> ''
            AND far.id IN (SELECT allowed.id FROM allowed)
          ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id
          LIMIT %(fan_out)s)
      ) hop
     WHERE near.id = ANY(%(ids)s::bigint[])
       AND near.id IN (SELECT allowed.id FROM allowed)
     ORDER BY near.id, hop.weight DESC, hop.id
"""
