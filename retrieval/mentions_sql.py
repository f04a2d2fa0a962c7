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
# The things with a name at the other end of a node's best edges, by their index; of a
# hub so many edges are looked at, no more. Relations of texts (who sent it, where it was
# posted) go by their name before their ends are read.
_WAY = """
    (SELECT {outgoing} AS is_outgoing, e.relation, far.title, e.weight, e.id
       FROM (SELECT o.id, o.{far} AS far_id, o.relation, o.weight, o.occurred_at
               FROM graph_edges o
              WHERE o.{near} = near.id
                AND o.tenant_id = %(tenant)s AND o.project_id = %(project)s
                AND (%(audiences)s::bigint[] IS NULL
                     OR o.audience_id = ANY(%(audiences)s::bigint[]))
                AND (o.valid_from IS NULL OR o.valid_from <= %(now)s)
                AND (o.valid_to IS NULL OR o.valid_to > %(now)s)
              ORDER BY o.weight DESC, o.occurred_at DESC NULLS LAST
              LIMIT %(looked_at)s) e
       JOIN graph_nodes far ON far.id = e.far_id
      WHERE e.relation <> ALL(%({of_texts})s::text[])
        AND far.node_type NOT IN {{unnamed}} AND far.title <> ''
        AND far.id IN (SELECT allowed.id FROM allowed)
      ORDER BY e.weight DESC, e.occurred_at DESC NULLS LAST, e.id
      LIMIT %(fan_out)s)
"""
_WAYS = " UNION ALL ".join(
    (
        _WAY.format(
            near="source_id", far="target_id", outgoing="TRUE", of_texts="to_texts"
        ),
        _WAY.format(
            near="target_id", far="source_id", outgoing="FALSE", of_texts="from_texts"
        ),
    )
)
# Both ways, of each node that the caller may see.
_LINKS = """
    WITH allowed (id) AS NOT MATERIALIZED ({{allowed}})
    SELECT near.id, near.title, hop.is_outgoing, hop.relation, hop.title
      FROM graph_nodes near CROSS JOIN LATERAL ({ways}) hop
     WHERE near.id = ANY(%(ids)s::bigint[])
       AND near.id IN (SELECT allowed.id FROM allowed)
     ORDER BY near.id, hop.weight DESC, hop.id
"""
LINKS = _LINKS.format(ways=_WAYS)
